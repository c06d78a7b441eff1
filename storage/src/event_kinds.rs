//! Kinds of events, and the events as the writers of changes make them.

use std::time::Duration;

use crate::{
    Cents, NO_DEADLINE, NoteId, Order, OrderId, OrderStatus, PaymentMode, ReviewId, SaleRecord, ShopId,
    Stars, Timestamp, UserId, VoucherId,
};

/// Kind of an event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EventKind {
    /// A claim or a purchase became an order.
    OrderAccepted,
    /// The payment of an order is due soon. Delayed.
    PaymentDue,
    /// An order was paid.
    OrderPaid,
    /// An order was cancelled.
    OrderCancelled,
    /// An order was redeemed in the shop.
    OrderUsed,
    /// The money of an order was returned.
    OrderRefunded,
    /// A note was published.
    NotePublished,
    /// A review was written.
    ReviewWritten,
    /// An operator changed the units of a sale.
    StockChanged,
    /// A user of a waiting list got an order.
    WaitingPromoted,
}

impl EventKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::OrderAccepted,
        Self::PaymentDue,
        Self::OrderPaid,
        Self::OrderCancelled,
        Self::OrderUsed,
        Self::OrderRefunded,
        Self::NotePublished,
        Self::ReviewWritten,
        Self::StockChanged,
        Self::WaitingPromoted,
    ];

    /// Returns the public name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OrderAccepted => "order.accepted",
            Self::PaymentDue => "order.payment_due",
            Self::OrderPaid => "order.paid",
            Self::OrderCancelled => "order.cancelled",
            Self::OrderUsed => "order.used",
            Self::OrderRefunded => "order.refunded",
            Self::NotePublished => "note.published",
            Self::ReviewWritten => "review.written",
            Self::StockChanged => "stock.changed",
            Self::WaitingPromoted => "waiting.promoted",
        }
    }

    /// Returns the kind with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the first part of a key of this kind.
    #[must_use]
    pub fn subject_name(self) -> &'static str {
        match self {
            Self::OrderAccepted
            | Self::PaymentDue
            | Self::OrderPaid
            | Self::OrderCancelled
            | Self::OrderUsed
            | Self::OrderRefunded
            | Self::WaitingPromoted => "order",
            Self::NotePublished => "note",
            Self::ReviewWritten => "review",
            Self::StockChanged => "voucher",
        }
    }
}

/// Time before the deadline at which [`EventKind::PaymentDue`] is due.
pub const PAYMENT_DUE_BEFORE: Duration = Duration::from_secs(5 * 60);

/// An event to be written in the transaction of its change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewEvent {
    /// What happened.
    pub kind: EventKind,
    /// Id of the order, note, review or voucher.
    pub subject: u64,
    /// A JSON object: ids as text, and numbers.
    pub body: String,
    /// When a delayed event gets its position.
    pub due: Option<Timestamp>,
}

/// An order as accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AcceptedOrder {
    /// The order.
    pub order: OrderId,
    /// The voucher bought.
    pub voucher: VoucherId,
    /// The buyer.
    pub user: UserId,
    /// Status as written: unpaid, or paid where nothing is to be paid.
    pub status: OrderStatus,
    /// Price in cents.
    pub pay_value: Cents,
    /// Deadline of the payment, if any.
    pub deadline: Option<Timestamp>,
}

impl AcceptedOrder {
    /// Describes an order just written.
    #[must_use]
    pub fn of(order: &Order) -> Self {
        let has_deadline = order.payment != PaymentMode::None && order.deadline != NO_DEADLINE;
        Self {
            order: order.id,
            voucher: order.voucher,
            user: order.user,
            status: order.status,
            pay_value: order.pay_value,
            deadline: has_deadline.then_some(order.deadline),
        }
    }

    /// Returns the events of the acceptance: the acceptance, and a delayed one before the deadline, unless
    /// the deadline is nearer than [`PAYMENT_DUE_BEFORE`].
    pub fn events(self, now: Timestamp) -> impl Iterator<Item = NewEvent> {
        let deadline = self.deadline.filter(|_| self.status == OrderStatus::Unpaid);
        let due = deadline.map(|deadline| deadline - PAYMENT_DUE_BEFORE).filter(|due| *due > now);
        let event = |kind, due| NewEvent { kind, subject: self.order.get(), body: self.body(), due };
        let accepted = event(EventKind::OrderAccepted, None);
        [accepted].into_iter().chain(due.map(|due| event(EventKind::PaymentDue, Some(due))))
    }

    /// Returns the events of an order that a user of a waiting list got: those of the acceptance, and the
    /// promotion.
    pub fn promotion_events(self, now: Timestamp) -> impl Iterator<Item = NewEvent> {
        let promoted = NewEvent::at_once(EventKind::WaitingPromoted, self.order.get(), self.body());
        self.events(now).chain(std::iter::once(promoted))
    }

    fn body(&self) -> String {
        let deadline =
            self.deadline.map_or_else(String::new, |at| format!(",\"deadlineMs\":{}", at.as_millis()));
        let Self { order, voucher, user, status, pay_value, .. } = *self;
        order_body(order, voucher, user, status, pay_value, &deadline)
    }
}

impl NewEvent {
    /// Returns the event of a step of an order; `None` for a refund that has only begun.
    #[must_use]
    pub fn of_step(order: &Order) -> Option<Self> {
        let kind = match order.status {
            OrderStatus::Paid => EventKind::OrderPaid,
            OrderStatus::Cancelled => EventKind::OrderCancelled,
            OrderStatus::Used => EventKind::OrderUsed,
            OrderStatus::Refunded => EventKind::OrderRefunded,
            OrderStatus::Pending | OrderStatus::Unpaid | OrderStatus::Refunding => return None,
        };
        let Order { id, voucher, user, status, pay_value, .. } = *order;
        Some(Self::at_once(kind, id.get(), order_body(id, voucher, user, status, pay_value, "")))
    }

    /// Returns the event of a new note.
    #[must_use]
    pub fn note_published(note: NoteId, author: UserId, shop: ShopId) -> Self {
        let body = format!("{{\"noteId\":\"{note}\",\"userId\":\"{author}\",\"shopId\":\"{shop}\"}}");
        Self::at_once(EventKind::NotePublished, note.get(), body)
    }

    /// Returns the event of a new review.
    #[must_use]
    pub fn review_written(
        review: ReviewId,
        author: UserId,
        shop: ShopId,
        order: Option<OrderId>,
        stars: Stars,
    ) -> Self {
        let order = order.map_or_else(String::new, |order| format!(",\"orderId\":\"{order}\""));
        let half_stars = stars.half_stars();
        let (whole, tenths) = (half_stars / 2, half_stars % 2 * 5);
        let body = format!(
            "{{\"reviewId\":\"{review}\",\"userId\":\"{author}\",\"shopId\":\"{shop}\"{order},\
             \"stars\":{whole}.{tenths}}}"
        );
        Self::at_once(EventKind::ReviewWritten, review.get(), body)
    }

    /// Returns the event of units added to a sale, or taken from it: `sale` after the change.
    #[must_use]
    pub fn stock_changed(sale: &SaleRecord, by: i64) -> Self {
        let voucher = sale.terms.voucher;
        let stock = sale.stock.unwrap_or_default();
        let units = sale.terms.units.unwrap_or_default();
        let body =
            format!("{{\"voucherId\":\"{voucher}\",\"change\":{by},\"stock\":{stock},\"units\":{units}}}");
        Self::at_once(EventKind::StockChanged, voucher.get(), body)
    }

    fn at_once(kind: EventKind, subject: u64, body: String) -> Self {
        Self { kind, subject, body, due: None }
    }
}

/// Returns the body of an order's event. `rest` is empty, or begins with a comma.
fn order_body(
    order: OrderId,
    voucher: VoucherId,
    user: UserId,
    status: OrderStatus,
    pay_value: Cents,
    rest: &str,
) -> String {
    format!(
        "{{\"orderId\":\"{order}\",\"voucherId\":\"{voucher}\",\"userId\":\"{user}\",\"status\":{},\
         \"payValue\":{}{rest}}}",
        status as u8,
        pay_value.get()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    fn accepted(status: OrderStatus, minutes_to_pay: Option<u64>) -> AcceptedOrder {
        AcceptedOrder {
            order: OrderId::new(u64::MAX >> 1),
            voucher: VoucherId::new(7),
            user: UserId::new(5),
            status,
            pay_value: Cents::new(4_750),
            deadline: minutes_to_pay.map(|minutes| NOW + Duration::from_secs(60 * minutes)),
        }
    }

    #[test]
    fn a_reminder_waits_until_five_minutes_before_a_deadline_that_is_further_away() {
        let minutes = |minutes: u64| NOW + Duration::from_secs(60 * minutes);
        for (order, due) in [
            (accepted(OrderStatus::Unpaid, Some(15)), Some(minutes(10))),
            (accepted(OrderStatus::Unpaid, Some(6)), Some(minutes(1))),
            (accepted(OrderStatus::Unpaid, Some(5)), None),
            (accepted(OrderStatus::Unpaid, None), None),
            (accepted(OrderStatus::Paid, None), None),
        ] {
            let events: Vec<_> = order.events(NOW).collect();
            let kinds = [(EventKind::OrderAccepted, None), (EventKind::PaymentDue, due)];
            let expected = if due.is_some() { &kinds[..] } else { &kinds[..1] };
            let found: Vec<_> = events.iter().map(|event| (event.kind, event.due)).collect();
            assert_eq!(found, expected, "{order:?}");
        }
    }

    #[test]
    fn a_body_has_ids_as_text() {
        let event = accepted(OrderStatus::Unpaid, Some(15)).events(NOW).next().unwrap();
        assert_eq!(
            event.body,
            "{\"orderId\":\"9223372036854775807\",\"voucherId\":\"7\",\"userId\":\"5\",\"status\":1,\
             \"payValue\":4750,\"deadlineMs\":1795263300000}"
        );
        let (review, author, shop) = (ReviewId::new(1), UserId::new(2), ShopId::new(3));
        let stars = Stars::from_half_stars(9).unwrap();
        let order = Some(OrderId::new(4));
        let event = NewEvent::review_written(review, author, shop, order, stars);
        let body = "{\"reviewId\":\"1\",\"userId\":\"2\",\"shopId\":\"3\",\"orderId\":\"4\",\"stars\":4.5}";
        assert_eq!(event.body, body);
    }

    #[test]
    fn kinds_are_found_by_their_names() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::named(kind.name()), Some(kind));
            assert!(kind.name().contains('.'));
        }
        assert_eq!(EventKind::named("order"), None);
    }
}
