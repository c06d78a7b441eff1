//! The steps of an order's life cycle: purchase, payment, cancellation, refund and redemption.

mod counter;

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    CashDrawer, Cents, Order, OrderFilter, OrderId, OrderStatus, Page, PaymentMode, PurchaseOutcome,
    Timestamp, Transition, TransitionOutcome, UserId, VoucherId, VoucherStatus,
};

use super::cash_steps;
use super::cashier::{Cashier, PayOutcome};
use super::closed_orders::release_closed;
use super::order_numbers::OrderNumbers;
use super::order_queries::{AtGateway, Found, OrderQueries, OrderView, new_order};
use crate::mall::base::detached::detached;
use crate::mall::base::idempotency_key::check_idempotency_key;
use crate::mall::base::{Context, Failure, Random, Refusal};

/// Longest wait of a step, in real time, for an order still missing in the database.
const PENDING_ORDER_TIMEOUT: Duration = Duration::from_secs(1);
/// Interval of polling during the wait.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Ways of calling off an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CancelMode {
    /// Cancels an unpaid order and refuses any other.
    Cancel,
    /// Cancels an unpaid order, and refunds a paid order.
    CancelOrRefund,
}

/// The order service. Cheap to clone.
///
/// Every step is idempotent: a repeated step succeeds. Any other step that the order's status excludes fails
/// with [`Refusal::OrderStands`]. Another user's order is reported as [`Refusal::NotFound`].
#[derive(Clone)]
pub struct Orders {
    context: Context,
    cashier: Cashier,
    queries: OrderQueries,
    numbers: Arc<OrderNumbers>,
}

impl Orders {
    /// Creates the service on top of a cashier. The operating system provides the secret behind order ids, if
    /// the mall has none yet.
    #[must_use]
    pub fn new(context: Context, cashier: Cashier) -> Self {
        Self::with_random(context, cashier, Arc::new(Random::system()))
    }

    /// Creates the service on top of a cashier. `random` provides the secret behind order ids, if the mall
    /// has none yet.
    #[must_use]
    pub fn with_random(context: Context, cashier: Cashier, random: Arc<Random>) -> Self {
        Self {
            queries: OrderQueries::new(context.clone()),
            context,
            cashier,
            numbers: Arc::new(OrderNumbers::new(random)),
        }
    }

    /// Returns the queries of these orders.
    #[must_use]
    pub fn queries(&self) -> &OrderQueries {
        &self.queries
    }

    /// Buys an ordinary voucher. Creates an unpaid order with a deadline, or a final order in
    /// [`PaymentMode::None`]. A repeat with the same request name (1 to
    /// 64 characters) returns the earlier order.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for a voucher not on the shelf, [`Refusal::SoldInSale`] for a flash-sale
    /// voucher, [`Refusal::BadValue`] for an invalid request name, [`Refusal::RateLimited`],
    /// [`Refusal::TooManyUnpaid`]. After [`Failure::Store`] the purchase is in doubt: a repeat with the same
    /// request name resolves the doubt.
    pub async fn buy(
        &self,
        user: UserId,
        voucher: VoucherId,
        request: Option<String>,
        now: Timestamp,
    ) -> Result<OrderId, Failure> {
        let storage = &self.context.storage;
        self.context.within(self.context.settings.order_limit, "buy", user, now).await?;
        let request = request.map(check_idempotency_key).transpose()?;
        // Checked first: an earlier purchase stands, even if the voucher has changed since.
        if let Some(request) = &request
            && let Some(before) = storage.selling.orders.requested(user, voucher, request).await?
        {
            return Ok(before);
        }
        let found = storage.catalogue.vouchers.get(voucher).await?;
        let found = found
            .filter(|voucher| voucher.text.status == VoucherStatus::OnShelf)
            .ok_or(Refusal::NotFound("voucher"))?;
        if found.sale.is_some() {
            return Err(Refusal::SoldInSale.into());
        }
        let (id, _) = self.numbers.next(storage, voucher, now).await?;
        let payment = self.context.payment_mode().await?;
        let order = Order {
            deadline: now + payment.time_to_pay(self.context.settings.pay_within),
            ..new_order(id, &found, user, now, (payment.first_status(), payment))
        };
        self.insert(order, request, self.context.settings.unpaid_orders_max).await
    }

    /// Inserts an order of an ordinary voucher unless its request was made before, and sets its deadline.
    /// Returns the order of the request.
    async fn insert(
        &self,
        order: Order,
        request: Option<String>,
        max: Option<u32>,
    ) -> Result<OrderId, Failure> {
        let storage = self.context.storage.clone();
        detached(async move {
            let bought = match storage.selling.orders.insert(&order, request.as_deref(), max).await? {
                PurchaseOutcome::Bought(bought) => bought,
                PurchaseOutcome::BuyerDeleted => return Err(Refusal::NotLoggedIn.into()),
                PurchaseOutcome::TooManyUnpaid => {
                    return Err(Refusal::TooManyUnpaid(max.unwrap_or_default()).into());
                }
            };
            if bought == order.id && order.status == OrderStatus::Unpaid {
                storage.selling.deadlines.set(&[(order.id, order.deadline)]).await?;
            }
            Ok(bought)
        })
        .await
    }

    /// Pays for the user's order. A repeat on a paid order succeeds. An order that its buyer has to pay on a
    /// page of the gateway is returned unpaid, with the URL of the page.
    ///
    /// # Errors
    /// [`Refusal::PayAtCounter`] for an unpaid order to be paid there. [`Refusal::OrderStands`] if the order
    /// was cancelled first; money already taken is refunded automatically. [`Refusal::PaymentDeclined`];
    /// [`Refusal::Busy`] if the gateway is unreachable; [`Refusal::NotFound`]; [`Refusal::NotYet`].
    pub async fn pay(&self, user: UserId, order: OrderId, now: Timestamp) -> Result<OrderView, Failure> {
        let order = self.recorded(Some(user), order).await?;
        let cashier = self.cashier.clone();
        let paid = match order.status {
            OrderStatus::Paid => order,
            OrderStatus::Unpaid if order.payment == PaymentMode::Counter => {
                return Err(Refusal::PayAtCounter.into());
            }
            OrderStatus::Unpaid => {
                let unpaid = order.clone();
                match detached(async move { cashier.pay(&order, now).await }).await? {
                    PayOutcome::Paid(paid) => paid.order,
                    PayOutcome::Pending(url) => {
                        let view = self.queries.view(unpaid).await?;
                        return Ok(OrderView { at_gateway: Some(AtGateway::Pending(url)), ..view });
                    }
                }
            }
            status => return Err(Refusal::OrderStands(status as u8).into()),
        };
        self.queries.view(paid).await
    }

    /// Cancels the user's unpaid order.
    ///
    /// # Errors
    /// [`Refusal::OrderStands`], [`Refusal::NotFound`], [`Refusal::NotYet`]. After [`Failure::Store`] a
    /// repeat resumes the step.
    pub async fn cancel(&self, user: UserId, order: OrderId, now: Timestamp) -> Result<OrderView, Failure> {
        let order = self.recorded(Some(user), order).await?;
        let (context, cashier) = (self.context.clone(), self.cashier.clone());
        let cancelled = detached(async move {
            close_payment(&cashier, &order, now).await?;
            cancel(&context, order.id, now).await
        })
        .await?;
        self.queries.view(cancelled).await
    }

    /// Refunds the user's paid order. Returns the order as refunded, or as refunding while the gateway is
    /// unreachable. An order without a payment is refunded without moving money.
    ///
    /// # Errors
    /// [`Refusal::RefundAtCounter`] for an order paid there; [`Refusal::OrderStands`], [`Refusal::NotFound`],
    /// [`Refusal::NotYet`]. After [`Failure::Store`] a repeat resumes the step.
    pub async fn refund(&self, user: UserId, order: OrderId, now: Timestamp) -> Result<OrderView, Failure> {
        let order = self.recorded(Some(user), order).await?;
        // Decided by the mode alone: an order seen unpaid may be paid at the counter in this moment.
        if order.payment == PaymentMode::Counter && order.status != OrderStatus::Refunded {
            return Err(refusal_without_till(order.status as u8).into());
        }
        let (context, cashier) = (self.context.clone(), self.cashier.clone());
        let refunded = detached(async move { refund(&context, &cashier, order.id, now).await });
        self.queries.view(refunded.await?).await
    }

    /// Calls off an order of any user, for an operator. Cancels an unpaid order; refunds a paid order if
    /// `way_out` allows a refund. Returns the unit to the sale, and the buyer may buy again.
    ///
    /// # Errors
    /// [`Refusal::OrderStands`] for a used order, and for a paid order without permission to refund;
    /// [`Refusal::RefundAtCounter`] for an order paid there; [`Refusal::NotYet`], [`Refusal::NotFound`].
    /// After [`Failure::Store`] a repeat resumes the step.
    pub async fn cancel_or_refund(
        &self,
        order: OrderId,
        way_out: CancelMode,
        now: Timestamp,
    ) -> Result<OrderView, Failure> {
        let order = self.recorded(None, order).await?;
        let (context, cashier) = (self.context.clone(), self.cashier.clone());
        let closed = detached(async move {
            close_payment(&cashier, &order, now).await?;
            match cancel(&context, order.id, now).await {
                Err(Failure::Refused(Refusal::OrderStands(status)))
                    if way_out == CancelMode::CancelOrRefund =>
                {
                    if order.payment == PaymentMode::Counter && status != OrderStatus::Refunded as u8 {
                        return Err(refusal_without_till(status).into());
                    }
                    refund(&context, &cashier, order.id, now).await
                }
                ended => ended,
            }
        });
        self.queries.view(closed.await?).await
    }

    /// Records that an order of any user was paid at the counter, for an operator. `amount` must be the
    /// order's price; `drawer` receives the money if paid in cash. Returns the order, and whether the order
    /// had been paid before; of concurrent calls, exactly one pays.
    ///
    /// # Errors
    /// [`Refusal::Cash`] if the till takes no cash: the money stays with the buyer;
    /// [`Refusal::NotAtCounter`] for an order of another payment mode; [`Refusal::AmountDiffers`];
    /// [`Refusal::OrderStands`] for an order neither unpaid nor paid: the money stays with the buyer;
    /// [`Refusal::NotYet`], [`Refusal::NotFound`]. After [`Failure::Store`] a repeat resumes the step.
    pub async fn pay_at_counter(
        &self,
        order: OrderId,
        amount: Cents,
        drawer: Option<CashDrawer>,
        now: Timestamp,
    ) -> Result<(OrderView, bool), Failure> {
        let order = self.recorded(None, order).await?;
        check_at_counter(&order, amount)?;
        let cashier = self.cashier.clone();
        let (paid, before) = match order.status {
            OrderStatus::Paid => (order, true),
            OrderStatus::Unpaid => {
                let paying = async move { cashier.pay_into(&order, drawer.as_ref(), now).await };
                match detached(paying).await? {
                    PayOutcome::Paid(paid) => (paid.order, !paid.is_new),
                    PayOutcome::Pending(_) => {
                        return Err(Failure::Bug("a payment at the counter waits for its buyer".to_owned()));
                    }
                }
            }
            status => return Err(Refusal::OrderStands(status as u8).into()),
        };
        Ok((self.queries.view(paid).await?, before))
    }

    /// Records that the money of a paid order of any user was handed back at the counter, for an operator.
    /// `amount` must be the order's price; `drawer` gives the money if refunded in cash. Returns the unit to
    /// the sale. Returns the order, and whether the order had been refunded before; of concurrent calls,
    /// exactly one refunds.
    ///
    /// # Errors
    /// As [`pay_at_counter`](Self::pay_at_counter), with [`Refusal::OrderStands`] for an order neither paid
    /// nor refunded.
    pub async fn refund_at_counter(
        &self,
        order: OrderId,
        amount: Cents,
        drawer: Option<CashDrawer>,
        now: Timestamp,
    ) -> Result<(OrderView, bool), Failure> {
        let order = self.recorded(None, order).await?;
        check_at_counter(&order, amount)?;
        let context = self.context.clone();
        // An imported order may have been refunding already.
        let step = match order.status {
            OrderStatus::Refunding => Transition::FinishRefund,
            _ => Transition::StartRefund,
        };
        let (refunded, before) = detached(async move {
            match cash_steps::step(&context, order.id, step, drawer.as_ref(), now).await? {
                TransitionOutcome::Done(order) => {
                    release_closed(&context, &order).await?;
                    Ok((order, false))
                }
                TransitionOutcome::Stands(order) if order.status == OrderStatus::Refunded => {
                    release_closed(&context, &order).await?;
                    Ok((order, true))
                }
                TransitionOutcome::Stands(order) => Err(Refusal::OrderStands(order.status as u8).into()),
                TransitionOutcome::Unknown => Err(Refusal::NotFound("order").into()),
            }
        })
        .await?;
        Ok((self.queries.view(refunded).await?, before))
    }

    /// Redeems a paid order of any user, for an operator. Returns the order, and whether the order had been
    /// used before.
    ///
    /// # Errors
    /// [`Refusal::OrderStands`], [`Refusal::NotYet`], [`Refusal::NotFound`]; [`Failure::Store`] if the store
    /// fails.
    pub async fn redeem(&self, order: OrderId, now: Timestamp) -> Result<(OrderView, bool), Failure> {
        let order = self.recorded(None, order).await?;
        let (used, before) =
            match self.context.storage.selling.orders.step(order.id, Transition::Use, now).await? {
                TransitionOutcome::Done(order) => (order, false),
                TransitionOutcome::Stands(order) if order.status == OrderStatus::Used => (order, true),
                TransitionOutcome::Stands(order) => {
                    return Err(Refusal::OrderStands(order.status as u8).into());
                }
                TransitionOutcome::Unknown => return Err(Refusal::NotFound("order").into()),
            };
        // An order without a payment earns its credits here.
        self.context.credits_changed(used.user).await;
        Ok((self.queries.view(used).await?, before))
    }

    /// Waits until the order is in the database and returns the row. Fails with [`Refusal::NotFound`] unless
    /// the order belongs to `owner`, if given.
    async fn recorded(&self, owner: Option<UserId>, order: OrderId) -> Result<Order, Failure> {
        let until = tokio::time::Instant::now() + PENDING_ORDER_TIMEOUT;
        loop {
            let (user, recorded) = match self.queries.find(order).await? {
                Some(Found::Recorded(order)) => (order.user, Some(order)),
                Some(Found::Pending(claim)) => (claim.user, None),
                None => return Err(Refusal::NotFound("order").into()),
            };
            if owner.is_some_and(|owner| owner != user) {
                return Err(Refusal::NotFound("order").into());
            }
            match recorded {
                Some(order) => return Ok(order),
                None if tokio::time::Instant::now() >= until => return Err(Refusal::NotYet.into()),
                None => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
    }
}

/// Refuses an amount other than the order's price, and an order that is not paid at the counter.
fn check_at_counter(order: &Order, amount: Cents) -> Result<(), Refusal> {
    if order.payment != PaymentMode::Counter {
        return Err(Refusal::NotAtCounter);
    }
    if order.pay_value != amount {
        return Err(Refusal::AmountDiffers(order.pay_value));
    }
    Ok(())
}

/// Returns why an order of the counter, with this status, is not refunded without the till.
fn refusal_without_till(status: u8) -> Refusal {
    let has_money = [OrderStatus::Paid, OrderStatus::Refunding].map(|status| status as u8).contains(&status);
    if has_money { Refusal::RefundAtCounter } else { Refusal::OrderStands(status) }
}

/// Cancels all unpaid orders of a user, each in a transaction of its own, after closing its payment at the
/// gateway. Returns their number.
///
/// # Errors
/// [`Failure::Store`] if the store fails: call again.
pub(in crate::mall) async fn cancel_unpaid_of(
    context: &Context,
    cashier: &Cashier,
    user: UserId,
    now: Timestamp,
) -> Result<u64, Failure> {
    /// Orders read per query.
    const BATCH: u32 = 100;
    let unpaid =
        OrderFilter { user: Some(user), status: Some(OrderStatus::Unpaid), ..OrderFilter::default() };
    let mut cancelled = 0;
    loop {
        let (orders, _) = context.storage.selling.orders.find(unpaid, Page::new(1, BATCH)).await?;
        if orders.is_empty() {
            return Ok(cancelled);
        }
        for order in orders {
            close_payment(cashier, &order, now).await?;
            match cancel(context, order.id, now).await {
                Ok(_) => cancelled += 1,
                // Paid meanwhile.
                Err(Failure::Refused(Refusal::OrderStands(_))) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Closes the payment of an unpaid order at a gateway over HTTP, so that its buyer cannot pay for the
/// cancelled order. The order is paid afterwards if the buyer was quicker.
async fn close_payment(cashier: &Cashier, order: &Order, now: Timestamp) -> Result<(), Failure> {
    if order.payment == PaymentMode::Webhook && order.status == OrderStatus::Unpaid {
        cashier.close_for_cancel(order.id, now).await?;
    }
    Ok(())
}

/// Cancels an unpaid order and releases the unit. Succeeds for a cancelled order too.
async fn cancel(context: &Context, order: OrderId, now: Timestamp) -> Result<Order, Failure> {
    match context.storage.selling.orders.step(order, Transition::Cancel, now).await? {
        TransitionOutcome::Done(order) | TransitionOutcome::Stands(order)
            if order.status == OrderStatus::Cancelled =>
        {
            release_closed(context, &order).await?;
            Ok(order)
        }
        TransitionOutcome::Done(order) | TransitionOutcome::Stands(order) => {
            Err(Refusal::OrderStands(order.status as u8).into())
        }
        TransitionOutcome::Unknown => Err(Refusal::NotFound("order").into()),
    }
}

/// Refunds the payment of an order, then releases the unit. Succeeds for a refunded order too.
async fn refund(
    context: &Context,
    cashier: &Cashier,
    order: OrderId,
    now: Timestamp,
) -> Result<Order, Failure> {
    match context.storage.selling.orders.step(order, Transition::StartRefund, now).await? {
        TransitionOutcome::Done(order) | TransitionOutcome::Stands(order) => match order.status {
            OrderStatus::Refunding => cashier.refund(order, now).await,
            OrderStatus::Refunded => {
                release_closed(context, &order).await?;
                Ok(order)
            }
            status => Err(Refusal::OrderStands(status as u8).into()),
        },
        TransitionOutcome::Unknown => Err(Refusal::NotFound("order").into()),
    }
}
