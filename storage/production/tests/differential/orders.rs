//! Steps on [`Orders`](mallbox_storage::Orders) and the [`Outbox`](mallbox_storage::Outbox).

use mallbox_storage::{
    Cents, Claim, DeadReason, LogPosition, LoggedClaim, Order, OrderFilter, OrderId, OrderStatus,
    OutboxEntry, Page, PaymentMode, Timestamp, Transition as Move, UserId, VoucherId,
};

use crate::dice::Dice;
use crate::normal::said;
use crate::sales::SaleStep;
use crate::scene::{Scene, has_loose_unit, minutes};
use crate::step::Side;

#[derive(Clone, Debug)]
pub enum OrderStep {
    /// Claims that bypass the log, as after the loss of a log. The sales are reloaded, since they do not know
    /// the claims.
    Persist(Vec<Claim>, Timestamp),
    DeadLetter(Claim, DeadReason, String, Timestamp),
    /// An order of an ordinary voucher, or an order that pretends to be.
    Insert(Order),
    Move(OrderId, Move, Timestamp),
    /// Cancels an order, after whose release the user may buy again.
    CancelAndClaim(Claim),
    Get(OrderId),
    OfUser(UserId, Page),
    Find(OrderFilter, Page),
    Holding(VoucherId, UserId),
    Unpaid(OrderId, u32),
    Counts(VoucherId),
    /// Processes the outbox entries of closed orders.
    ProcessOutbox {
        max: u32,
        are_done: bool,
    },
    /// Removes an outbox entry as if processed.
    ForgetUnknownEntry(OrderId),
}

/// Small enough to refuse a part of the purchases.
const UNPAID_MAX: u32 = 3;

pub const REASONS: [DeadReason; 4] =
    [DeadReason::Double, DeadReason::Oversold, DeadReason::IdClash, DeadReason::Refused];
const STATUSES: [OrderStatus; 7] = [
    OrderStatus::Pending,
    OrderStatus::Unpaid,
    OrderStatus::Paid,
    OrderStatus::Used,
    OrderStatus::Cancelled,
    OrderStatus::Refunding,
    OrderStatus::Refunded,
];

impl OrderStep {
    pub fn roll(dice: &mut Dice, scene: &mut Scene) -> Self {
        match dice.below(100) {
            0..10 => {
                let count = 1 + dice.below(6);
                Self::Persist((0..count).map(|_| by_hand(dice, scene)).collect(), scene.now)
            }
            10..20 => {
                Self::DeadLetter(by_hand(dice, scene), dice.pick(&REASONS), scene.text(dice), scene.now)
            }
            20..24 => Self::Insert(order(dice, scene)),
            24..32 => Self::CancelAndClaim(scene.claim(dice)),
            32..50 => {
                let moves = [Move::Cancel, Move::Cancel, Move::Use, Move::StartRefund, Move::FinishRefund];
                Self::Move(scene.order(dice), dice.pick(&moves), scene.now)
            }
            50..55 => Self::Get(scene.order(dice)),
            55..59 => Self::OfUser(scene.user(dice), scene.page(dice)),
            59..65 => Self::Find(filter(dice, scene), scene.page(dice)),
            65..70 => match scene.old_claim(dice) {
                Some(old) => Self::Holding(old.voucher, old.user),
                None => Self::Holding(scene.voucher(dice), scene.user(dice)),
            },
            70..74 => Self::Unpaid(scene.order(dice), dice.pick(&[0, 1, 3, u32::MAX])),
            74..79 => Self::Counts(scene.voucher(dice)),
            79..98 => Self::ProcessOutbox {
                max: dice.pick(&[0, 1, 2, 100, 100, u32::MAX]),
                are_done: dice.chance(80),
            },
            _ => Self::ForgetUnknownEntry(OrderId::new(u64::MAX)),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let orders = side.storage.selling.orders.clone();
        match self {
            Self::Persist(claims, now) => {
                let logged: Vec<_> = claims.iter().copied().map(logged).collect();
                let persisted = said(orders.persist(&logged, *now).await);
                format!("{persisted}, {}", reload(side, claims).await)
            }
            Self::DeadLetter(claim, reason, detail, now) => {
                let inserted = said(orders.insert_dead_letter(&logged(*claim), *reason, detail, *now).await);
                format!("{inserted}, {}", reload(side, &[*claim]).await)
            }
            Self::Insert(order) => said(orders.insert(order, None, Some(UNPAID_MAX)).await),
            Self::Move(order, step, now) => said(orders.step(*order, *step, *now).await),
            Self::CancelAndClaim(claim) => cancel_and_claim(side, claim).await,
            Self::Get(order) => said(orders.get(*order).await),
            Self::OfUser(user, page) => said(orders.of_user(*user, *page).await),
            Self::Find(filter, page) => said(orders.find(*filter, *page).await),
            Self::Holding(voucher, user) => {
                let mut all = orders.holdings(*voucher, *user).await;
                let _ = all.as_mut().map(|all| all.sort());
                format!("{}, {}", said(orders.holding(*voucher, *user).await), said(all))
            }
            Self::Unpaid(after, max) => said(orders.unpaid(*after, *max).await),
            Self::Counts(voucher) => {
                let (count, tally) = (orders.count(*voucher).await, orders.tally(*voucher).await);
                format!("{}, {}", said(count), said(tally))
            }
            Self::ProcessOutbox { max, are_done } => process_outbox(side, *max, *are_done).await,
            Self::ForgetUnknownEntry(order) => {
                let entry = OutboxEntry::Release {
                    voucher: VoucherId::new(u64::MAX),
                    user: UserId::new(u64::MAX),
                    order: *order,
                };
                said(side.storage.selling.outbox.done(&[entry]).await)
            }
        }
    }
}

/// As the chore of the mall does.
pub async fn process_outbox(side: &mut Side, max: u32, are_done: bool) -> String {
    let entries = match side.storage.selling.outbox.open(max).await {
        Ok(entries) => entries,
        error => return said(error),
    };
    let mut answers = vec![format!("{entries:?}")];
    for OutboxEntry::Release { voucher, user, order } in &entries {
        answers.push(take_in_loose_units(side, *voucher, *user, *order).await);
        answers.push(said(side.storage.selling.sales.release(*voucher, *user, *order).await));
    }
    if are_done {
        answers.push(said(side.storage.selling.outbox.done(&entries).await));
    }
    answers.join(", ")
}

/// Reloads the sale before a unit is released or taken for an order, if the user holds another unit without
/// an entry in log or database: a back end may take the user for the holder of such a unit. A reload leaves
/// no such units.
pub async fn take_in_loose_units(
    side: &mut Side,
    voucher: VoucherId,
    user: UserId,
    order: OrderId,
) -> String {
    if has_loose_unit(&side.storage, voucher, user, order).await {
        SaleStep::Reload(voucher).take(side).await
    } else {
        "none is loose".into()
    }
}

async fn cancel_and_claim(side: &mut Side, claim: &Claim) -> String {
    let orders = side.storage.selling.orders.clone();
    let mut answers = Vec::new();
    if let Ok(Some(held)) = orders.holding(claim.voucher, claim.user).await {
        answers.push(said(orders.step(held, Move::Cancel, claim.at).await));
    }
    answers.push(process_outbox(side, u32::MAX, true).await);
    answers.push(SaleStep::Claim(*claim).take(side).await);
    answers.join(", ")
}

fn logged(claim: Claim) -> LoggedClaim {
    LoggedClaim { position: LogPosition { major: 0, minor: claim.order.get() }, claim, attempts: 0 }
}

async fn reload(side: &mut Side, claims: &[Claim]) -> String {
    let mut answers = Vec::new();
    for claim in claims {
        answers.push(SaleStep::Reload(claim.voucher).take(side).await);
    }
    answers.join(", ")
}

/// A new claim, or a claim with an old order, by the same user or another.
fn by_hand(dice: &mut Dice, scene: &mut Scene) -> Claim {
    match (dice.below(20), scene.old_claim(dice)) {
        (0..2, Some(old)) => old,
        (2..4, Some(old)) => Claim { user: scene.user(dice), ..old },
        // A second order for an old claim's user, who then has two.
        (4..11, Some(old)) => Claim { order: scene.new_order(old.voucher), ..old },
        (11, _) => Claim { voucher: scene.voucher(dice), ..scene.claim(dice) },
        _ => scene.claim(dice),
    }
}

pub fn order(dice: &mut Dice, scene: &mut Scene) -> Order {
    let (voucher, user) = (scene.voucher(dice), scene.user(dice));
    let id = match scene.old_claim(dice) {
        Some(old) if dice.chance(20) => old.order,
        _ => {
            let id = scene.new_order(voucher);
            // So that later steps choose the order, too.
            scene.claims.push(Claim { order: id, voucher, user, at: scene.now });
            id
        }
    };
    let payment = dice.pick(&PaymentMode::ALL);
    Order {
        id,
        voucher,
        user,
        status: payment.first_status(),
        pay_value: Cents::new(dice.pick(&[0, 1, 4_750, i64::MAX])),
        pay_type: dice.pick(&[1, 2, 3]),
        payment,
        created: scene.now,
        deadline: scene.now + minutes(15),
        paid: None,
        used: None,
        refunded: None,
    }
}

fn filter(dice: &mut Dice, scene: &Scene) -> OrderFilter {
    OrderFilter {
        user: dice.chance(40).then(|| scene.user(dice)),
        voucher: dice.chance(40).then(|| scene.voucher(dice)),
        status: dice.chance(40).then(|| dice.pick(&STATUSES)),
    }
}
