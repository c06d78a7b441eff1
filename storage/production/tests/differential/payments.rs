//! Steps on [`PaymentRows`](mallbox_storage::PaymentRows).

use std::time::Duration;

use mallbox_storage::{
    Cents, OrderId, Payment, PaymentId, PaymentMode, PaymentState, StoreError, Timestamp, Transition as Move,
};

use crate::dice::Dice;
use crate::normal::{payment, payments, said};
use crate::scene::Scene;
use crate::step::Side;

/// A payment by order and position, oldest first; a position out of range is an unknown payment.
type Which = (OrderId, usize);

#[derive(Clone, Debug)]
pub enum PaymentStep {
    Start(OrderId, Cents, Timestamp),
    Settle(Which, PaymentState, Timestamp),
    /// The order to pay, the payment named, and the time.
    Pay(OrderId, Which, Timestamp),
    StartAndPay(OrderId, Timestamp),
    OfOrder(OrderId),
    Unsettled(Timestamp, u32),
    /// Before, at, and after the start of the order's last payment.
    UnsettledAround(OrderId),
    /// Started payments through a gateway, after the payment named.
    Started(PaymentMode, Which, u32),
    Faults,
}

const MS: Duration = Duration::from_millis(1);
const STATES: [PaymentState; 5] = [
    PaymentState::Started,
    PaymentState::Captured,
    PaymentState::Refunded,
    PaymentState::Failed,
    PaymentState::Reversed,
];

impl PaymentStep {
    pub fn roll(dice: &mut Dice, scene: &Scene) -> Self {
        let order = scene.order(dice);
        let which = (order, dice.pick(&[0, 0, 0, 1, 2]));
        match dice.below(100) {
            0..20 => Self::Start(order, Cents::new(dice.pick(&[0, 1, 4_750, i64::MAX])), scene.now),
            20..35 => Self::Settle(which, dice.pick(&STATES), scene.now),
            35..45 => Self::Pay(if dice.chance(80) { order } else { scene.order(dice) }, which, scene.now),
            45..70 => Self::StartAndPay(order, scene.now),
            70..77 => Self::OfOrder(order),
            77..87 => Self::UnsettledAround(order),
            87..92 => Self::Unsettled(scene.instant(dice), dice.pick(&[0, 1, 3, u32::MAX])),
            92..96 => Self::Started(dice.pick(&PaymentMode::ALL), which, dice.pick(&[0, 1, 3, u32::MAX])),
            _ => Self::Faults,
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let (rows, orders) = (&side.storage.selling.payments, &side.storage.selling.orders);
        match self {
            Self::Start(order, amount, now) => said(rows.start(*order, *amount, *now).await.map(payment)),
            Self::Settle(which, state, now) => said(rows.settle(id(side, *which).await, *state, *now).await),
            Self::Pay(order, which, now) => {
                said(orders.step(*order, Move::Pay(id(side, *which).await), *now).await)
            }
            Self::StartAndPay(order, now) => match rows.start(*order, Cents::new(1), *now).await {
                Ok(started) => {
                    let paid = said(orders.step(*order, Move::Pay(started.id), *now).await);
                    format!("{:?}, {paid}", payment(started))
                }
                error => said(error),
            },
            Self::OfOrder(order) => listed(rows.of_order(*order).await),
            Self::Unsettled(before, max) => listed(rows.unsettled(*before, *max).await),
            Self::UnsettledAround(order) => {
                let Some(last) = rows.of_order(*order).await.unwrap().pop() else { return "none".into() };
                let mut answers = Vec::new();
                for before in [last.started - MS, last.started, last.started + MS] {
                    answers.push(listed(rows.unsettled(before, u32::MAX).await));
                }
                answers.join(", ")
            }
            Self::Started(gateway, which, max) => {
                listed(rows.started(*gateway, id(side, *which).await, *max).await)
            }
            Self::Faults => said(rows.faults().await),
        }
    }
}

fn listed(found: Result<Vec<Payment>, StoreError>) -> String {
    said(found.map(payments))
}

async fn id(side: &Side, (order, place): Which) -> PaymentId {
    let all = side.storage.selling.payments.of_order(order).await.unwrap();
    all.get(place).map_or(PaymentId::new(u64::MAX), |payment| payment.id)
}
