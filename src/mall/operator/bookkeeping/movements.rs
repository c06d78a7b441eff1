//! Movements of money, derived from an order and its payments.

use mallbox_storage::{
    Cents, OrderFacts, OrderId, OrderStatus, PaymentFacts, PaymentId, PaymentMode, PaymentState, Timestamp,
    VoucherId,
};

/// Direction of a movement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MovementKind {
    /// Money from the buyer.
    Paid,
    /// Money to the buyer.
    Refunded,
}

/// Cause of a movement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MovementCause {
    /// The payment of an order, or its refund.
    Order,
    /// Money captured for an order that was closed already. Both movements are at the time of the return.
    Late,
    /// Money that the gateway took back against the mall's will.
    Chargeback,
}

impl MovementKind {
    /// Returns the name in exported files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Refunded => "refunded",
        }
    }
}

impl MovementCause {
    /// Returns the name in exported files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Late => "late",
            Self::Chargeback => "chargeback",
        }
    }
}

/// A movement of money, as a payment row proves it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Movement {
    /// Time at which the mall recorded the movement.
    pub at: Timestamp,
    /// Direction of the money.
    pub kind: MovementKind,
    /// Cause of the movement.
    pub cause: MovementCause,
    /// The payment.
    pub payment: PaymentId,
    /// The order paid for.
    pub order: OrderId,
    /// The voucher of the order.
    pub voucher: VoucherId,
    /// Gateway of the payment; `None` if the stored number is invalid.
    pub gateway: Option<PaymentMode>,
    /// Amount in cents, not negative whatever the direction.
    pub amount: Cents,
}

/// Returns the status of an order; `None` if the stored number is invalid.
pub(super) fn status_of(order: &OrderFacts) -> Option<OrderStatus> {
    u8::try_from(order.status).ok().and_then(OrderStatus::numbered)
}

/// Returns the time at which an order was paid, by the order's row. `None` for an order without payment, or
/// one that moves no money. An imported order may lack the time, and has the time of the claim.
pub(super) fn paid_at(order: &OrderFacts) -> Option<Timestamp> {
    use OrderStatus::{Paid, Refunded, Refunding, Used};
    let was_paid = matches!(status_of(order)?, Paid | Used | Refunding | Refunded);
    let moves_money = order.payment != Some(PaymentMode::None);
    (was_paid && moves_money).then(|| order.paid.unwrap_or(order.created))
}

/// Returns the time at which an order's money was returned, by the order's row.
pub(super) fn refunded_at(order: &OrderFacts) -> Option<Timestamp> {
    let paid = paid_at(order)?;
    (status_of(order)? == OrderStatus::Refunded).then(|| order.refunded.unwrap_or(paid))
}

/// Returns the movements of an order's payments, in any order.
pub(super) fn of_order(order: &OrderFacts) -> Vec<Movement> {
    let own = own_payment(order).map(|payment| payment.id);
    let mut movements = Vec::new();
    for payment in &order.payments {
        let mut add = |kind, cause, at| {
            movements.push(Movement {
                at,
                kind,
                cause,
                payment: payment.id,
                order: order.id,
                voucher: order.voucher,
                gateway: payment.gateway,
                amount: payment.amount,
            });
        };
        let paid = paid_at(order).unwrap_or(payment.updated);
        match PaymentState::in_row(payment.state) {
            Some(PaymentState::Captured) if own == Some(payment.id) => {
                add(MovementKind::Paid, MovementCause::Order, paid);
            }
            Some(PaymentState::Refunded) if own == Some(payment.id) => {
                add(MovementKind::Paid, MovementCause::Order, paid);
                let returned = refunded_at(order).unwrap_or(payment.updated);
                add(MovementKind::Refunded, MovementCause::Order, returned);
            }
            Some(PaymentState::Reversed) => {
                add(MovementKind::Paid, MovementCause::Order, paid);
                add(MovementKind::Refunded, MovementCause::Chargeback, payment.updated);
            }
            Some(PaymentState::Refunded) => {
                add(MovementKind::Paid, MovementCause::Late, payment.updated);
                add(MovementKind::Refunded, MovementCause::Late, payment.updated);
            }
            Some(PaymentState::Captured | PaymentState::Started | PaymentState::Failed) | None => {}
        }
    }
    movements
}

/// Returns the captured payments whose order is closed: money to be returned, and no movement until then.
pub(super) fn held(order: &OrderFacts) -> impl Iterator<Item = &PaymentFacts> {
    let own = own_payment(order).map(|payment| payment.id);
    order.payments.iter().filter(move |payment| {
        PaymentState::in_row(payment.state) == Some(PaymentState::Captured) && own != Some(payment.id)
    })
}

/// Returns the payments with an unknown outcome at the gateway.
pub(super) fn in_doubt(order: &OrderFacts) -> impl Iterator<Item = &PaymentFacts> {
    let is_started =
        |payment: &&PaymentFacts| PaymentState::in_row(payment.state) == Some(PaymentState::Started);
    order.payments.iter().filter(is_started)
}

/// Returns the payment that made the order a paid one. Of several returned payments, the one returned at the
/// time of the order's refund.
fn own_payment(order: &OrderFacts) -> Option<&PaymentFacts> {
    let in_state = |state| {
        let of_state = move |payment: &&PaymentFacts| PaymentState::in_row(payment.state) == Some(state);
        order.payments.iter().filter(of_state)
    };
    match status_of(order)? {
        OrderStatus::Paid | OrderStatus::Used | OrderStatus::Refunding => {
            in_state(PaymentState::Captured).next()
        }
        OrderStatus::Refunded => {
            let mut returned = in_state(PaymentState::Refunded);
            let at_refund = returned.clone().find(|payment| Some(payment.updated) == order.refunded);
            at_refund.or_else(|| returned.next())
        }
        OrderStatus::Pending | OrderStatus::Unpaid | OrderStatus::Cancelled => None,
    }
}

#[cfg(test)]
mod tests {
    use mallbox_storage::UserId;

    use super::*;

    const CLAIMED: Timestamp = Timestamp::from_millis(1_000);
    const PAID: Timestamp = Timestamp::from_millis(2_000);
    const CLOSED: Timestamp = Timestamp::from_millis(3_000);

    fn order(status: OrderStatus, payments: &[(PaymentState, Timestamp)]) -> OrderFacts {
        let id = OrderId::new(16);
        let payments = payments.iter().zip(1..).map(|((state, updated), number)| PaymentFacts {
            id: PaymentId::new(number),
            order: id,
            amount: Cents::new(100),
            state: (0..5).find(|number| PaymentState::in_row(*number) == Some(*state)).unwrap(),
            gateway: Some(PaymentMode::Sandbox),
            updated: *updated,
            needs_look: false,
        });
        let was_paid = !matches!(status, OrderStatus::Unpaid | OrderStatus::Cancelled);
        OrderFacts {
            id,
            user: UserId::new(1),
            voucher: VoucherId::new(1),
            status: status as i64,
            payment: Some(PaymentMode::Sandbox),
            pay_value: Cents::new(100),
            created: CLAIMED,
            deadline: CLOSED,
            paid: was_paid.then_some(PAID),
            used: None,
            refunded: (status == OrderStatus::Refunded).then_some(CLOSED),
            slot_fits: true,
            has_user: true,
            price: None,
            sale: None,
            payments: payments.collect(),
        }
    }

    fn texts(order: &OrderFacts) -> Vec<String> {
        let text = |one: Movement| {
            format!("{} {} {} {}", one.payment, one.kind.name(), one.cause.name(), one.at.as_millis())
        };
        of_order(order).into_iter().map(text).collect()
    }

    #[test]
    fn every_state_has_its_movements() {
        use OrderStatus::{Cancelled, Paid, Refunded, Refunding, Unpaid, Used};
        use PaymentState::{Captured, Failed, Reversed, Started};
        let later = Timestamp::from_millis(9_000);
        for (status, payments, want) in [
            (Unpaid, &[][..], &[][..]),
            (Unpaid, &[(Started, CLAIMED)], &[]),
            (Paid, &[(Failed, CLAIMED), (Captured, PAID)], &["2 paid order 2000"]),
            // A repeated report of the gateway touches the row.
            (Paid, &[(Captured, later)], &["1 paid order 2000"]),
            (Refunding, &[(Captured, PAID)], &["1 paid order 2000"]),
            (Refunded, &[(PaymentState::Refunded, CLOSED)], &["1 paid order 2000", "1 refunded order 3000"]),
            (
                Refunded,
                &[(PaymentState::Refunded, later), (PaymentState::Refunded, CLOSED)],
                &["1 paid late 9000", "1 refunded late 9000", "2 paid order 2000", "2 refunded order 3000"],
            ),
            (Used, &[(Reversed, later)], &["1 paid order 2000", "1 refunded chargeback 9000"]),
            (Cancelled, &[(Failed, CLAIMED)], &[]),
            (Cancelled, &[(Captured, later)], &[]),
            (Cancelled, &[(PaymentState::Refunded, later)], &["1 paid late 9000", "1 refunded late 9000"]),
        ] {
            assert_eq!(texts(&order(status, payments)), want, "{status:?} {payments:?}");
        }
    }

    #[test]
    fn money_for_a_closed_order_is_held_until_it_is_returned() {
        let captured = [(PaymentState::Captured, CLOSED)];
        assert_eq!(held(&order(OrderStatus::Cancelled, &captured)).count(), 1);
        assert_eq!(held(&order(OrderStatus::Paid, &captured)).count(), 0);
        assert_eq!(in_doubt(&order(OrderStatus::Unpaid, &[(PaymentState::Started, CLAIMED)])).count(), 1);
    }

    #[test]
    fn an_order_without_payment_moves_no_money() {
        let free = OrderFacts { payment: Some(PaymentMode::None), ..order(OrderStatus::Paid, &[]) };
        assert_eq!((paid_at(&free), refunded_at(&free)), (None, None));
    }
}
