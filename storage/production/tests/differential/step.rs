//! A step: a call, or a few related calls, on any port.

use std::collections::{HashMap, VecDeque};

use mallbox_storage::{ClaimGatewayId, FencingToken, LoggedClaim, RetryLease, Storage};

use crate::claim_gateways::ClaimGatewayStep;
use crate::codes::CodeStep;
use crate::credits::CreditStep;
use crate::dead_letters::DeadLetterStep;
use crate::dice::Dice;
use crate::events::EventStep;
use crate::geo_index::GeoIndexStep;
use crate::keepsakes::Keepsake;
use crate::order_log::OrderLogStep;
use crate::orders::OrderStep;
use crate::payments::PaymentStep;
use crate::retries::RetryTaskStep;
use crate::reviews::ReviewStep;
use crate::sales::SaleStep;
use crate::scene::Scene;
use crate::sessions::SessionStep;
use crate::shared::SharedStep;
use crate::shops::ShopStep;
use crate::sign_ins::SignInStep;
use crate::users::UserStep;
use crate::vouchers::VoucherStep;

/// A back end under comparison, with the state that its callers would keep.
pub struct Side {
    /// Ports of the back end.
    pub storage: Storage,
    /// Claims in hand, by worker.
    pub hands: HashMap<&'static str, Vec<LoggedClaim>>,
    /// Greatest fencing token so far, by lock.
    pub tokens: HashMap<&'static str, u64>,
    /// Token of the newest write of a sale's terms.
    pub terms_token: u64,
    /// Leases of retry tasks, latest first.
    pub leases: VecDeque<RetryLease>,
    /// Position of each reader of events.
    pub readers: HashMap<&'static str, u64>,
    /// Claim gateways, latest first.
    pub gateways: VecDeque<ClaimGatewayId>,
}

impl Side {
    pub fn new(storage: Storage) -> Self {
        Self {
            storage,
            hands: HashMap::new(),
            tokens: HashMap::new(),
            terms_token: 1,
            leases: VecDeque::new(),
            readers: HashMap::new(),
            gateways: VecDeque::new(),
        }
    }
}

impl Side {
    /// Returns the token of a new holder of the lock on terms, or of a holder who comes late.
    pub fn terms_token(&mut self, is_late: bool) -> FencingToken {
        if is_late {
            return FencingToken::new(self.terms_token.saturating_sub(2).max(1));
        }
        self.terms_token += 1;
        FencingToken::new(self.terms_token)
    }
}

/// A call, by subject.
#[derive(Clone, Debug)]
pub enum Step {
    Sale(SaleStep),
    OrderLog(OrderLogStep),
    Order(OrderStep),
    DeadLetter(DeadLetterStep),
    Payment(PaymentStep),
    Voucher(VoucherStep),
    Code(CodeStep),
    Session(SessionStep),
    Shared(SharedStep),
    User(UserStep),
    Credit(CreditStep),
    Review(ReviewStep),
    RetryTask(RetryTaskStep),
    Event(EventStep),
    Shop(ShopStep),
    SignIn(SignInStep),
    GeoIndex(GeoIndexStep),
    Keepsake(Keepsake),
    ClaimGateway(ClaimGatewayStep),
}

impl Step {
    pub fn roll(dice: &mut Dice, scene: &mut Scene) -> Self {
        match dice.below(100) {
            0..15 => Self::Sale(SaleStep::roll(dice, scene)),
            15..21 => Self::Event(EventStep::roll(dice, scene)),
            21..24 => Self::RetryTask(RetryTaskStep::roll(dice, scene)),
            24..27 => Self::Review(ReviewStep::roll(dice, scene)),
            27..30 => Self::SignIn(SignInStep::roll(dice, scene)),
            30..41 => Self::OrderLog(OrderLogStep::roll(dice, scene)),
            41..53 => Self::Order(OrderStep::roll(dice, scene)),
            53..58 => Self::DeadLetter(DeadLetterStep::roll(dice, scene)),
            58..67 => Self::Payment(PaymentStep::roll(dice, scene)),
            67..73 => Self::Voucher(VoucherStep::roll(dice, scene)),
            73..77 => Self::Code(CodeStep::roll(dice, scene)),
            77..81 => Self::Session(SessionStep::roll(dice, scene)),
            81..90 => Self::Shared(SharedStep::roll(dice, scene)),
            90..92 => Self::User(UserStep::roll(dice, scene)),
            92 => Self::ClaimGateway(ClaimGatewayStep::roll(dice, scene)),
            93 => Self::Credit(CreditStep::roll(dice, scene)),
            94..96 => Self::Shop(ShopStep::roll(dice, scene)),
            96..98 => Self::GeoIndex(GeoIndexStep::roll(dice, scene)),
            _ => Self::Keepsake(Keepsake::roll(dice, scene)),
        }
    }

    /// Runs the step and returns the normalised result.
    pub async fn take(&self, side: &mut Side) -> String {
        match self {
            Self::Sale(step) => step.take(side).await,
            Self::OrderLog(step) => step.take(side).await,
            Self::Order(step) => step.take(side).await,
            Self::DeadLetter(step) => step.take(side).await,
            Self::Payment(step) => step.take(side).await,
            Self::Voucher(step) => step.take(side).await,
            Self::Code(step) => step.take(side).await,
            Self::Session(step) => step.take(side).await,
            Self::Shared(step) => step.take(side).await,
            Self::User(step) => step.take(side).await,
            Self::Credit(step) => step.take(side).await,
            Self::Review(step) => step.take(side).await,
            Self::RetryTask(step) => step.take(side).await,
            Self::Event(step) => step.take(side).await,
            Self::Shop(step) => step.take(side).await,
            Self::SignIn(step) => step.take(side).await,
            Self::GeoIndex(step) => step.take(side).await,
            Self::Keepsake(step) => step.take(side).await,
            Self::ClaimGateway(step) => step.take(side).await,
        }
    }
}
