//! A mall with one sale and a clock that is set by hand.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use mallbox::language::Language;
use mallbox::mall::selling::guard::{Answer, Challenge, ShownPass, Visitor};
use mallbox::mall::{Clock as _, Context, Failure, FlashSales, ManualClock, Settings};
use mallbox_storage::{
    ChallengeKind, ChallengeKinds, Guard, NewSale, OrderId, Storage, Timestamp, UserId, VoucherId,
};
use mallbox_storage_contract::samples;
use mallbox_test_servers::MallLocation;

/// The begin of sales.
pub const OPENING: Timestamp = Timestamp::from_millis(1_795_262_400_000);
/// Units of a sale.
pub const UNITS: u64 = 1_000;

/// A mall with the limits that a start without flags has.
pub struct Mall {
    pub sales: FlashSales,
    pub clock: Arc<ManualClock>,
    storage: Storage,
}

/// A visitor with what a browser keeps: the session's user, the address, and the device ticket.
#[derive(Clone)]
pub struct Browser {
    pub user: UserId,
    pub address: IpAddr,
    pub ticket: Option<String>,
}

impl Browser {
    pub fn new(user: u64, address: u32) -> Self {
        let address = IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + address));
        Self { user: UserId::new(user), address, ticket: None }
    }

    fn visitor(&self) -> Visitor<'_> {
        Visitor {
            user: self.user,
            device: self.ticket.as_deref(),
            address: Some(self.address),
            admission: None,
            pass: None,
        }
    }

    /// Takes a challenge.
    pub async fn challenge(
        &mut self,
        mall: &Mall,
        sale: VoucherId,
        kind: ChallengeKind,
    ) -> Result<Challenge, Failure> {
        let asked = (Language::En, mall.clock.now());
        let given = mall.sales.challenge(self.visitor(), sale, Some(kind), asked).await?;
        self.ticket = Some(given.device_ticket.clone());
        Ok(given)
    }

    /// Returns the right answer, which the mall tells tests.
    pub async fn right_answer(&self, mall: &Mall, sale: VoucherId, given: &Challenge) -> Answer {
        let told = mall.sales.challenge_answer(self.visitor(), sale, &given.token, mall.clock.now()).await;
        told.expect("the challenge was given to this visitor")
    }

    /// Answers a challenge. Returns the pass.
    pub async fn answer(
        &self,
        mall: &Mall,
        sale: VoucherId,
        given: &Challenge,
        answer: &Answer,
    ) -> Result<String, Failure> {
        let solved = (given.token.as_str(), answer);
        Ok(mall.sales.pass(self.visitor(), sale, solved, mall.clock.now()).await?.pass)
    }

    /// Claims a unit.
    pub async fn claim(&self, mall: &Mall, sale: VoucherId, pass: Option<&str>) -> Result<OrderId, Failure> {
        let shown = ShownPass {
            pass,
            device: self.ticket.as_deref(),
            address: Some(self.address),
            ..ShownPass::default()
        };
        mall.sales.claim_with_pass(self.user, sale, shown, mall.clock.now()).await
    }
}

impl Mall {
    pub async fn open(place: &MallLocation) -> Self {
        let storage = place.open().await;
        let clock = Arc::new(ManualClock::new(OPENING));
        let context =
            Context::new(storage.clone(), clock.clone(), TimeZone::UTC, Arc::new(Settings::default()));
        Self { sales: FlashSales::new(context), clock, storage }
    }

    /// Adds a sale of some units that begins at [`OPENING`].
    pub async fn sale(&self, units: u64, is_guarded: bool) -> VoucherId {
        let end = OPENING + Duration::from_secs(3_600);
        let sale = NewSale { end, ..samples::sale(Some(units), OPENING) };
        let vouchers = &self.storage.catalogue.vouchers;
        let voucher = vouchers.insert(&samples::voucher(), Some(&sale), OPENING).await.expect("it is stored");
        let kinds = ChallengeKinds::new(&ChallengeKind::OWN).expect("each kind once");
        // Work of 8 bits: bots solve it in no time, and the bench does not wait.
        let guard = Guard { kinds, work_bits: 8, pass_seconds: 60, jitter_seconds: 3 };
        let guard = is_guarded.then_some(guard);
        vouchers.put_guard(voucher, guard, OPENING).await.expect("it is stored").expect("it is a sale");
        self.sales.opened(voucher).await.expect("it is opened");
        voucher
    }
}
