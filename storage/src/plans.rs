//! Plans: decisions about rows that were read and locked, made without I/O. A back end reads the rows, asks
//! for the plan, and writes the plan in the same transaction.

use crate::{
    Claim, DeadLetter, DeadState, FirstToJoin, JoinOutcome, Order, OrderId, OrderStatus, PaymentId,
    PaymentMode, ReplayOutcome, SaleRecord, StockChange, StockChangeOutcome, Timestamp, Transition,
    VoidOutcome, WaitingEntry, WaitingState, credits_of_order,
};

/// Change of an order's payment rows by a [`Transition`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaymentChange {
    /// No payment row changes.
    None,
    /// Capture this payment; refuse the transition if the payment is not open.
    Capture(PaymentId),
    /// Mark started payments for a check, since the gateway may have taken money.
    MarkForReturn,
    /// Refund the captured payment.
    Refund,
}

/// Change of the buyer's credits by a [`Transition`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CreditChange {
    /// Credits stay.
    None,
    /// The order earns this many credits, unless it has earned its credits before.
    Earn(i64),
    /// Credits that the order has earned, if any, are taken back.
    TakeBack,
}

impl CreditChange {
    /// Returns the change when `order` reaches its status. A claim in [`PaymentMode::None`] is paid as soon
    /// as it is written: it earns when used, so that batches of claims write no credits.
    fn of(order: &Order) -> Self {
        match order.status {
            OrderStatus::Paid | OrderStatus::Used => Self::Earn(credits_of_order(order.pay_value)),
            OrderStatus::Refunded => Self::TakeBack,
            OrderStatus::Pending | OrderStatus::Unpaid | OrderStatus::Cancelled | OrderStatus::Refunding => {
                Self::None
            }
        }
    }
}

/// Changes by which a [`Transition`] takes place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransitionPlan {
    /// The order after the transition.
    pub order: Order,
    /// Change of the payment rows.
    pub payment: PaymentChange,
    /// Change of the buyer's credits.
    pub credits: CreditChange,
    /// Whether the order's unit returns to the stock, with an outbox entry.
    pub returns_unit: bool,
}

impl Transition {
    /// Plans the transition of a stored order.
    ///
    /// # Errors
    /// The order unchanged, if its status does not allow the transition.
    pub fn plan(self, mut order: Order, now: Timestamp) -> Result<TransitionPlan, Order> {
        let (from, to) = self.change(order.payment);
        if order.status != from {
            return Err(order);
        }
        order.status = to;
        let payment = match self {
            Self::Pay(payment) => {
                order.paid = Some(now);
                PaymentChange::Capture(payment)
            }
            // Without a payment there is no money to return. At the counter the till returns the money.
            Self::StartRefund if to == OrderStatus::Refunded => {
                order.refunded = Some(now);
                match order.payment {
                    PaymentMode::None => PaymentChange::None,
                    PaymentMode::Sandbox | PaymentMode::Counter | PaymentMode::Webhook => {
                        PaymentChange::Refund
                    }
                }
            }
            Self::Cancel | Self::StartRefund => PaymentChange::MarkForReturn,
            Self::Use => {
                order.used = Some(now);
                PaymentChange::None
            }
            Self::FinishRefund => {
                order.refunded = Some(now);
                PaymentChange::Refund
            }
        };
        let credits = CreditChange::of(&order);
        Ok(TransitionPlan { order, payment, credits, returns_unit: !to.is_live() })
    }
}

/// Plan for voiding a dead letter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VoidPlan {
    /// The dead letter is closed already; nothing changes.
    Stands(VoidOutcome),
    /// Close the dead letter.
    Close {
        /// Whether the dead letter's unit returns to the stock, with an outbox entry.
        returns_unit: bool,
        /// The dead letter after the change.
        letter: DeadLetter,
    },
}

/// Plan for replaying a dead letter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplayPlan {
    /// The dead letter was voided; nothing changes.
    Stands(ReplayOutcome),
    /// The claim is an order already; nothing changes.
    ReturnOrder,
    /// Insert the claim's order, then close the dead letter.
    Insert(Claim),
}

impl DeadLetter {
    /// Plans the void of a stored dead letter.
    pub fn plan_void(self, now: Timestamp) -> VoidPlan {
        match self.state {
            DeadState::Voided => VoidPlan::Stands(VoidOutcome::Void(self)),
            DeadState::Replayed => VoidPlan::Stands(VoidOutcome::Replayed(self)),
            DeadState::Open => VoidPlan::Close {
                returns_unit: self.holds_unit,
                letter: Self { holds_unit: false, state: DeadState::Voided, closed: Some(now), ..self },
            },
        }
    }

    /// Plans the replay of a stored dead letter.
    pub fn plan_replay(&self) -> ReplayPlan {
        let Self { order, voucher, user, claimed: at, .. } = *self;
        match self.state {
            DeadState::Voided => ReplayPlan::Stands(ReplayOutcome::Voided),
            DeadState::Replayed => ReplayPlan::ReturnOrder,
            DeadState::Open => ReplayPlan::Insert(Claim { order, voucher, user, at }),
        }
    }
}

/// Plan for the promotion of an entry of a waiting list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PromotionPlan {
    /// The entry is not offered under the order; nothing changes.
    Stands,
    /// The entry was promoted before; nothing changes.
    ReturnOrder,
    /// Close the entry in this state, and release the reserved unit.
    Close(WaitingState),
    /// Insert the claim's order, and take a unit.
    Insert(Claim),
}

impl WaitingEntry {
    /// Plans the promotion of a stored entry. `end` is the end of the sale, if the sale exists.
    pub fn plan_promotion(
        &self,
        order: OrderId,
        may_buy: bool,
        end: Option<Timestamp>,
        now: Timestamp,
    ) -> PromotionPlan {
        let Self { voucher, user, changed, .. } = *self;
        match self.state {
            _ if self.order != Some(order) => PromotionPlan::Stands,
            WaitingState::Promoted => PromotionPlan::ReturnOrder,
            WaitingState::Waiting | WaitingState::Left | WaitingState::Expired | WaitingState::Dropped => {
                PromotionPlan::Stands
            }
            WaitingState::Offered if end.is_none_or(|end| now >= end) => {
                PromotionPlan::Close(WaitingState::Expired)
            }
            WaitingState::Offered if !may_buy => PromotionPlan::Close(WaitingState::Dropped),
            // The order id was drawn with the offer, and carries its time.
            WaitingState::Offered => PromotionPlan::Insert(Claim { order, voucher, user, at: changed }),
        }
    }
}

/// Plans the joining of a waiting list by a user who does not wait yet, while `waiting` users do.
///
/// # Errors
/// The outcome of a refusal.
pub fn plan_join(
    sale: Option<&SaleRecord>,
    waiting: u64,
    first: FirstToJoin,
    now: Timestamp,
) -> Result<(), JoinOutcome> {
    let sale = sale.filter(|sale| now < sale.terms.end).ok_or(JoinOutcome::NoList)?;
    let max = sale.waiting_max.ok_or(JoinOutcome::NoList)?;
    if waiting >= u64::from(max) {
        Err(JoinOutcome::Full)
    } else if !sale.terms.waiting && first == FirstToJoin::No {
        Err(JoinOutcome::NobodyWaits)
    } else {
        Ok(())
    }
}

/// Plan for a change of a sale's units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StockPlan {
    /// Nothing changes.
    Stands(StockChangeOutcome),
    /// Write the sale, and the change under its idempotency key.
    Apply {
        /// Effective change of units.
        by: i64,
        /// The sale after the change.
        sale: SaleRecord,
    },
    /// The number of units would overflow: refuse with this text.
    Refuse(String),
}

impl StockChange {
    /// Plans the change of a stored sale. `before` is the change applied under the same idempotency key.
    pub fn plan(&self, sale: SaleRecord, before: Option<Self>) -> StockPlan {
        if sale.stock.is_none() {
            return StockPlan::Stands(StockChangeOutcome::Unlimited);
        }
        if let Some(before) = before {
            return StockPlan::Stands(StockChangeOutcome::Before(before, sale));
        }
        match self.of(&sale) {
            Some((by, sale)) => StockPlan::Apply { by, sale },
            None => StockPlan::Refuse(format!("the units of sale {} would overflow", sale.terms.voucher)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU8;
    use std::time::Duration;

    use super::*;
    use crate::{Cents, DeadLetterId, OrderId, Terms, UserId, VoucherId};

    const NOW: Timestamp = Timestamp::from_millis(9_000);
    const PAYMENT: PaymentId = PaymentId::new(7);

    fn order(status: OrderStatus, payment: PaymentMode) -> Order {
        Order {
            id: OrderId::new(1),
            voucher: VoucherId::new(2),
            user: UserId::new(3),
            status,
            pay_value: Cents::new(100),
            pay_type: 1,
            payment,
            created: Timestamp::from_millis(1),
            deadline: Timestamp::from_millis(2),
            paid: None,
            used: None,
            refunded: None,
        }
    }

    #[test]
    fn a_transition_changes_status_times_and_payment_together() {
        use OrderStatus::{Cancelled, Paid, Refunded, Refunding, Unpaid, Used};
        use PaymentMode::{Counter, None as Free, Sandbox, Webhook};
        for (step, mode, from, to, payment, returns_unit) in [
            (Transition::Pay(PAYMENT), Sandbox, Unpaid, Paid, PaymentChange::Capture(PAYMENT), false),
            (Transition::Cancel, Sandbox, Unpaid, Cancelled, PaymentChange::MarkForReturn, true),
            (Transition::Use, Sandbox, Paid, Used, PaymentChange::None, false),
            (Transition::StartRefund, Sandbox, Paid, Refunding, PaymentChange::MarkForReturn, false),
            (Transition::StartRefund, Free, Paid, Refunded, PaymentChange::None, true),
            (Transition::StartRefund, Counter, Paid, Refunded, PaymentChange::Refund, true),
            (Transition::FinishRefund, Sandbox, Refunding, Refunded, PaymentChange::Refund, true),
            (Transition::StartRefund, Webhook, Paid, Refunding, PaymentChange::MarkForReturn, false),
            (Transition::FinishRefund, Webhook, Refunding, Refunded, PaymentChange::Refund, true),
        ] {
            let plan = step.plan(order(from, mode), NOW).unwrap();
            let at = |is: OrderStatus| (to == is).then_some(NOW);
            let after = Order { paid: at(Paid), used: at(Used), refunded: at(Refunded), ..order(to, mode) };
            let credits = match to {
                Paid | Used => CreditChange::Earn(1),
                Refunded => CreditChange::TakeBack,
                _ => CreditChange::None,
            };
            let planned = TransitionPlan { order: after, payment, credits, returns_unit };
            assert_eq!(plan, planned, "{step:?} {mode:?}");
            for other in [Unpaid, Paid, Used, Cancelled, Refunding, Refunded] {
                if other != from {
                    assert_eq!(step.plan(order(other, mode), NOW), Err(order(other, mode)));
                }
            }
        }
    }

    fn letter(state: DeadState, holds_unit: bool) -> DeadLetter {
        DeadLetter {
            id: DeadLetterId::new(4),
            order: OrderId::new(1),
            voucher: VoucherId::new(2),
            user: UserId::new(3),
            claimed: Timestamp::from_millis(1),
            reason: "REFUSED".to_owned(),
            detail: String::new(),
            attempts: 5,
            holds_unit,
            created: Timestamp::from_millis(2),
            state,
            closed: None,
        }
    }

    #[test]
    fn only_an_open_dead_letter_is_voided_or_replayed() {
        for holds_unit in [true, false] {
            let closed = DeadLetter { closed: Some(NOW), ..letter(DeadState::Voided, false) };
            let plan = letter(DeadState::Open, holds_unit).plan_void(NOW);
            assert_eq!(plan, VoidPlan::Close { returns_unit: holds_unit, letter: closed });
        }
        let (voided, replayed) = (letter(DeadState::Voided, false), letter(DeadState::Replayed, false));
        assert_eq!(voided.clone().plan_void(NOW), VoidPlan::Stands(VoidOutcome::Void(voided.clone())));
        let stands = VoidPlan::Stands(VoidOutcome::Replayed(replayed.clone()));
        assert_eq!(replayed.clone().plan_void(NOW), stands);

        let claim = Claim {
            order: OrderId::new(1),
            voucher: VoucherId::new(2),
            user: UserId::new(3),
            at: Timestamp::from_millis(1),
        };
        assert_eq!(letter(DeadState::Open, true).plan_replay(), ReplayPlan::Insert(claim));
        assert_eq!(replayed.plan_replay(), ReplayPlan::ReturnOrder);
        assert_eq!(voided.plan_replay(), ReplayPlan::Stands(ReplayOutcome::Voided));
    }

    #[test]
    fn a_stock_change_stands_before_it_applies_and_applies_before_it_is_refused() {
        let terms = Terms {
            voucher: VoucherId::new(2),
            begin: Timestamp::from_millis(0),
            end: Timestamp::MAX,
            paused: false,
            units: Some(5),
            waiting: false,
            per_user: NonZeroU8::MIN,
        };
        let sale = SaleRecord {
            terms,
            initial: Some(5),
            added: 0,
            stock: Some(3),
            pay_within: Duration::from_secs(60),
            min_level: 0,
            next_wave: None,
            guard: None,
            waiting_max: None,
            room: None,
            claims_per_second: None,
            thresholds: None,
            judgement: None,
        };
        let unlimited =
            SaleRecord { terms: Terms { units: None, ..terms }, initial: None, stock: None, ..sale };
        let change = |asked| StockChange { asked, by: asked, request: Some("truck 7".to_owned()) };
        let before = StockPlan::Stands(StockChangeOutcome::Before(change(1), sale));
        assert_eq!(
            change(-9).plan(unlimited, Some(change(1))),
            StockPlan::Stands(StockChangeOutcome::Unlimited)
        );
        assert_eq!(change(-9).plan(sale, Some(change(1))), before);
        let after =
            SaleRecord { terms: Terms { units: Some(2), ..terms }, added: -3, stock: Some(0), ..sale };
        assert_eq!(change(-9).plan(sale, None), StockPlan::Apply { by: -3, sale: after });
        let refused = "the units of sale 2 would overflow".to_owned();
        assert_eq!(change(i64::MAX).plan(sale, None), StockPlan::Refuse(refused));
    }
}
