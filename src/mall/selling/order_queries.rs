//! Orders as their owners see them: lists, single orders, and claims that are still pending.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use mallbox_storage::{
    Claim, NO_DEADLINE, Order, OrderId, OrderStatus, Page, PaymentMode, PaymentState, ShopId, Timestamp,
    UserId, Voucher, VoucherId,
};

use crate::mall::base::{Context, Failure, Refusal};

/// Orders per page.
pub const PAGE_SIZE: u32 = 10;

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
    /// Payment at the gateway over HTTP. `None` in lists, and for other payment modes.
    pub at_gateway: Option<AtGateway>,
}

/// State of an order's last payment at the gateway over HTTP, where the order's status does not tell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AtGateway {
    /// The buyer has yet to pay; with the URL for that, in the response to a call to pay.
    Pending(Option<String>),
    /// The gateway declined: the order can be paid by another attempt.
    Declined,
    /// The order was used, and the gateway took the money back.
    Reversed,
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
            at_gateway: None,
            order,
        }
    }
}

/// An order in the database, or the claim that will become the order.
pub(super) enum Found {
    Recorded(Order),
    Pending(Claim),
}

/// The queries of orders. Cheap to clone.
#[derive(Clone)]
pub struct OrderQueries {
    context: Context,
}

impl OrderQueries {
    pub(super) fn new(context: Context) -> Self {
        Self { context }
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
        let mut view = self.view(order).await?;
        self.add_gateway(&mut view).await?;
        Ok(view)
    }

    /// Adds the state of the payment at the gateway over HTTP.
    pub(in crate::mall) async fn add_gateway(&self, view: &mut OrderView) -> Result<(), Failure> {
        let order = &view.order;
        let may_tell = matches!(order.status, OrderStatus::Unpaid | OrderStatus::Used);
        if order.payment != PaymentMode::Webhook || !may_tell {
            return Ok(());
        }
        let rows = self.context.storage.selling.payments.of_order(order.id).await?;
        view.at_gateway = match (order.status, rows.last().map(|row| row.state)) {
            (OrderStatus::Unpaid, Some(PaymentState::Started)) => Some(AtGateway::Pending(None)),
            (OrderStatus::Unpaid, Some(PaymentState::Failed | PaymentState::Refunded)) => {
                Some(AtGateway::Declined)
            }
            (OrderStatus::Used, _) => {
                let is_reversed = rows.iter().any(|row| row.state == PaymentState::Reversed);
                is_reversed.then_some(AtGateway::Reversed)
            }
            _ => None,
        };
        Ok(())
    }

    /// Returns an order of any user; status 0 while the claim is pending.
    pub(in crate::mall) async fn look_up(&self, order: OrderId) -> Result<Option<Order>, Failure> {
        Ok(match self.find(order).await? {
            Some(Found::Recorded(order)) => Some(order),
            Some(Found::Pending(claim)) => Some(self.pending_order(&claim).await?),
            None => None,
        })
    }

    /// Looks in the database, the order log and the database again: the order may move from the log to the
    /// database between the reads.
    pub(super) async fn find(&self, order: OrderId) -> Result<Option<Found>, Failure> {
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
            Failure::Bug(format!("claim {} is for the missing voucher {}", claim.order, claim.voucher))
        })?;
        let payment = self.context.payment_mode().await?.of_buyer(claim.user);
        let order = new_order(claim.order, &voucher, claim.user, claim.at, (OrderStatus::Pending, payment));
        let deadline = match voucher.sale {
            Some(sale) => payment.deadline(claim.user, claim.at, sale.pay_within, sale.terms.end, claim.at),
            None => Some(claim.at + payment.time_to_pay(self.context.settings.pay_within)),
        };
        Ok(Order { deadline: deadline.unwrap_or(claim.at), ..order })
    }

    pub(in crate::mall) async fn view(&self, order: Order) -> Result<OrderView, Failure> {
        let voucher = self.context.storage.catalogue.vouchers.get(order.voucher).await?;
        Ok(OrderView::new(voucher.as_ref(), order))
    }

    pub(in crate::mall) async fn views(&self, orders: Vec<Order>) -> Result<Vec<OrderView>, Failure> {
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

/// Builds an order of a voucher at its price.
pub(super) fn new_order(
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
