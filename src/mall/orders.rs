//! The buyers' orders: lists, and the steps of an order's life cycle.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    Claim, NO_DEADLINE, Order, OrderId, OrderStatus, Page, PaymentMode, ShopId, Timestamp, Transition,
    TransitionOutcome, UserId, Voucher, VoucherId, VoucherStatus,
};

use super::cashier::{Cashier, release_closed};
use super::detached::detached;
use super::order_numbers::OrderNumbers;
use super::request_name::check_idempotency_key;
use super::{Context, Failure, Refusal};

/// Orders per page.
pub const PAGE_SIZE: u32 = 10;
/// Longest wait of a step, in real time, for an order still missing in the database.
const PENDING_ORDER_TIMEOUT: Duration = Duration::from_secs(1);
/// Interval of polling during the wait.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Pay type "balance", as numbered by hm-dianping.
const PAY_TYPE: u8 = 1;

/// An order with its voucher's title and shop, for the owner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderView {
    /// The order; status 0 while the claim is pending.
    pub order: Order,
    /// Title of the voucher, `""` if deleted.
    pub title: String,
    /// Shop of the voucher, `None` if the voucher is deleted.
    pub shop: Option<ShopId>,
}

impl OrderView {
    /// Returns the payment deadline of an unpaid order. `None` for other states, and for orders without a
    /// deadline.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        let deadline = Some(self.order.deadline).filter(|deadline| *deadline < NO_DEADLINE);
        deadline.filter(|_| self.order.status == OrderStatus::Unpaid)
    }

    fn new(voucher: Option<&Voucher>, order: Order) -> Self {
        Self {
            title: voucher.map(|voucher| voucher.text.title.clone()).unwrap_or_default(),
            shop: voucher.map(|voucher| voucher.text.shop),
            order,
        }
    }
}

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
    numbers: Arc<OrderNumbers>,
}

impl Orders {
    /// Creates the service on top of a cashier.
    #[must_use]
    pub fn new(context: Context, cashier: Cashier) -> Self {
        Self { context, cashier, numbers: Arc::new(OrderNumbers::new()) }
    }

    /// Returns a page of a user's orders, newest first, counted from 1. Pending claims come before orders in
    /// the database.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn of_user(&self, user: UserId, page: u32) -> Result<Vec<OrderView>, Failure> {
        // The order log is read first, so that an order moving from the log to the database is seen at least
        // once.
        let mut pending = self.context.storage.selling.order_log.of_user(user).await?;
        if !pending.is_empty() {
            let newest = self.rows(user, 0).await?;
            pending.retain(|claim| newest.iter().all(|order| order.id != claim.order));
            pending.sort_by_key(|claim| std::cmp::Reverse(claim.order));
        }
        let size = PAGE_SIZE as usize;
        let skipped = (page.max(1) as usize - 1).saturating_mul(size);
        let mut orders: Vec<Order> = Vec::with_capacity(size);
        for claim in pending.iter().skip(skipped).take(size) {
            orders.push(self.pending_order(claim).await?);
        }
        if orders.len() < size {
            let mut rows = self.rows(user, skipped.saturating_sub(pending.len())).await?;
            // A claim may have become a row since `newest` was read.
            rows.retain(|row| pending.iter().all(|claim| claim.order != row.id));
            orders.extend(rows.into_iter().take(size - orders.len()));
        }
        self.views(orders).await
    }

    /// Returns an order of the user.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn get(&self, user: UserId, order: OrderId) -> Result<OrderView, Failure> {
        let found = self.look_up(order).await?;
        let order = found.filter(|order| order.user == user).ok_or(Refusal::NotFound("order"))?;
        self.view(order).await
    }

    /// Returns an order of any user; status 0 while the claim is pending.
    pub(super) async fn look_up(&self, order: OrderId) -> Result<Option<Order>, Failure> {
        Ok(match self.find(order).await? {
            Some(Found::Recorded(order)) => Some(order),
            Some(Found::Pending(claim)) => Some(self.pending_order(&claim).await?),
            None => None,
        })
    }

    /// Buys an ordinary voucher. Creates an unpaid order with a deadline, or a final order in
    /// [`PaymentMode::None`]. A repeat with the same request name (1 to 64 characters) returns the earlier
    /// order.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for a voucher not on the shelf, [`Refusal::SoldInSale`] for a flash-sale
    /// voucher, [`Refusal::BadValue`] for an invalid request name, [`Refusal::RateLimited`]. After
    /// [`Failure::Store`] the purchase is in doubt: a repeat with the same request name resolves the doubt.
    pub async fn buy(
        &self,
        user: UserId,
        voucher: VoucherId,
        request: Option<String>,
        now: Timestamp,
    ) -> Result<OrderId, Failure> {
        let storage = &self.context.storage;
        self.context.within(self.context.settings.claim_limit, "buy", user, now).await?;
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
            deadline: now + self.context.settings.pay_within,
            ..new_order(id, &found, user, now, (payment.first_status(), payment))
        };
        let context = self.context.clone();
        detached(async move {
            let bought = context.storage.selling.orders.insert(&order, request.as_deref()).await?;
            if bought == order.id && order.status == OrderStatus::Unpaid {
                context.storage.selling.deadlines.set(&[(order.id, order.deadline)]).await?;
            }
            Ok(bought)
        })
        .await
    }

    /// Pays for the user's order. A repeat on a paid order succeeds.
    ///
    /// # Errors
    /// [`Refusal::OrderStands`] if the order was cancelled first; money already taken is refunded
    /// automatically. [`Refusal::PaymentDeclined`]; [`Refusal::Busy`] if the gateway is unreachable;
    /// [`Refusal::NotFound`]; [`Refusal::NotYet`].
    pub async fn pay(&self, user: UserId, order: OrderId, now: Timestamp) -> Result<OrderView, Failure> {
        let order = self.recorded(Some(user), order).await?;
        let cashier = self.cashier.clone();
        let paid = match order.status {
            OrderStatus::Paid => order,
            OrderStatus::Unpaid => detached(async move { cashier.pay(&order, now).await }).await?,
            status => return Err(Refusal::OrderStands(status as u8).into()),
        };
        self.view(paid).await
    }

    /// Cancels the user's unpaid order.
    ///
    /// # Errors
    /// [`Refusal::OrderStands`], [`Refusal::NotFound`], [`Refusal::NotYet`]. After [`Failure::Store`] a
    /// repeat resumes the step.
    pub async fn cancel(&self, user: UserId, order: OrderId, now: Timestamp) -> Result<OrderView, Failure> {
        let order = self.recorded(Some(user), order).await?;
        let context = self.context.clone();
        let cancelled = detached(async move { cancel(&context, order.id, now).await }).await?;
        self.view(cancelled).await
    }

    /// Refunds the user's paid order. Returns the order as refunded, or as refunding while the gateway is
    /// unreachable. An order without a payment is refunded without moving money.
    ///
    /// # Errors
    /// [`Refusal::OrderStands`], [`Refusal::NotFound`], [`Refusal::NotYet`]. After [`Failure::Store`] a
    /// repeat resumes the step.
    pub async fn refund(&self, user: UserId, order: OrderId, now: Timestamp) -> Result<OrderView, Failure> {
        let order = self.recorded(Some(user), order).await?;
        let (context, cashier) = (self.context.clone(), self.cashier.clone());
        let refunded = detached(async move { refund(&context, &cashier, order.id, now).await });
        self.view(refunded.await?).await
    }

    /// Calls off an order of any user, for an operator. Cancels an unpaid order; refunds a paid order if
    /// `way_out` allows a refund. Returns the unit to the sale, and the buyer may buy again.
    ///
    /// # Errors
    /// [`Refusal::OrderStands`] for a used order, and for a paid order without permission to refund;
    /// [`Refusal::NotYet`], [`Refusal::NotFound`]. After [`Failure::Store`] a repeat resumes the step.
    pub async fn cancel_or_refund(
        &self,
        order: OrderId,
        way_out: CancelMode,
        now: Timestamp,
    ) -> Result<OrderView, Failure> {
        let order = self.recorded(None, order).await?;
        let (context, cashier) = (self.context.clone(), self.cashier.clone());
        let closed = detached(async move {
            match cancel(&context, order.id, now).await {
                Err(Failure::Refused(Refusal::OrderStands(_))) if way_out == CancelMode::CancelOrRefund => {
                    refund(&context, &cashier, order.id, now).await
                }
                ended => ended,
            }
        });
        self.view(closed.await?).await
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
        Ok((self.view(used).await?, before))
    }

    /// Waits until the order is in the database and returns the row. Fails with [`Refusal::NotFound`] unless
    /// the order belongs to `owner`, if given.
    async fn recorded(&self, owner: Option<UserId>, order: OrderId) -> Result<Order, Failure> {
        let until = tokio::time::Instant::now() + PENDING_ORDER_TIMEOUT;
        loop {
            let (user, recorded) = match self.find(order).await? {
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
                None => tokio::time::sleep(LOOK_EVERY).await,
            }
        }
    }

    /// Looks in the database, the order log and the database again: the order may move from the log to the
    /// database between the reads.
    async fn find(&self, order: OrderId) -> Result<Option<Found>, Failure> {
        let storage = &self.context.storage;
        if let Some(order) = storage.selling.orders.get(order).await? {
            return Ok(Some(Found::Recorded(order)));
        }
        if let Some(claim) = storage.selling.order_log.find(order).await? {
            return Ok(Some(Found::Pending(claim)));
        }
        Ok(storage.selling.orders.get(order).await?.map(Found::Recorded))
    }

    /// Returns a page of a user's rows after the first `skipped` rows. `skipped` need not be a multiple of
    /// the page size.
    async fn rows(&self, user: UserId, skipped: usize) -> Result<Vec<Order>, Failure> {
        let orders = &self.context.storage.selling.orders;
        let size = PAGE_SIZE as usize;
        let number = u32::try_from(skipped / size + 1).unwrap_or(u32::MAX);
        let mut rows = orders.of_user(user, Page::new(number, PAGE_SIZE)).await?;
        let into_page = skipped % size;
        if into_page > 0 && rows.len() == size {
            let next = Page::new(number.saturating_add(1), PAGE_SIZE);
            rows.extend(orders.of_user(user, next).await?);
        }
        Ok(rows.into_iter().skip(into_page).take(size).collect())
    }

    /// Builds the order that a pending claim will become.
    async fn pending_order(&self, claim: &Claim) -> Result<Order, Failure> {
        let found = self.context.storage.catalogue.vouchers.get(claim.voucher).await?;
        let voucher = found.ok_or_else(|| {
            Failure::Bug(format!("the claim {} is for voucher {}, which is gone", claim.order, claim.voucher))
        })?;
        let pay_within = voucher.sale.map_or(self.context.settings.pay_within, |sale| sale.pay_within);
        let standing = (OrderStatus::Pending, self.context.payment_mode().await?);
        let order = new_order(claim.order, &voucher, claim.user, claim.at, standing);
        Ok(Order { deadline: claim.at + pay_within, ..order })
    }

    pub(super) async fn view(&self, order: Order) -> Result<OrderView, Failure> {
        let voucher = self.context.storage.catalogue.vouchers.get(order.voucher).await?;
        Ok(OrderView::new(voucher.as_ref(), order))
    }

    pub(super) async fn views(&self, orders: Vec<Order>) -> Result<Vec<OrderView>, Failure> {
        let mut vouchers: HashMap<VoucherId, Option<Voucher>> = HashMap::new();
        for order in &orders {
            if let Entry::Vacant(unread) = vouchers.entry(order.voucher) {
                unread.insert(self.context.storage.catalogue.vouchers.get(order.voucher).await?);
            }
        }
        let of = |order: &Order| vouchers.get(&order.voucher).and_then(Option::as_ref);
        Ok(orders.into_iter().map(|order| OrderView::new(of(&order), order)).collect())
    }
}

enum Found {
    Recorded(Order),
    Pending(Claim),
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

fn new_order(
    id: OrderId,
    voucher: &Voucher,
    user: UserId,
    at: Timestamp,
    (status, payment): (OrderStatus, PaymentMode),
) -> Order {
    Order {
        id,
        voucher: voucher.id,
        user,
        status,
        pay_value: voucher.text.pay_value,
        pay_type: PAY_TYPE,
        payment,
        created: at,
        deadline: at,
        paid: None,
        used: None,
        refunded: None,
    }
}
