//! Orders from the operator's side: search, redemption and voiding.

use std::collections::HashMap;

use mallbox_storage::{
    CashDrawer, Cents, Order, OrderFilter, OrderId, OrderStatus, Page, Phone, Storage, StoreError, Timestamp,
    UserId, VoucherId,
};
use serde_json::{Value, json};

use super::cash;
use crate::mall::base::audited_action::{AuditedAction, By, run_audited, validate_reason};
use crate::mall::base::{AuditLog, Context, Failure, Refusal, clean_text, wall_time};
use crate::mall::selling::Orders;
use crate::mall::selling::order_queries::OrderView;
use crate::mall::selling::orders::CancelMode;

/// A search for orders; all given criteria must match.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OrderQuery {
    /// Order id. Pending claims are found only by id.
    pub id: Option<OrderId>,
    /// Phone of the buyer.
    pub phone: Option<String>,
    /// User id of the buyer.
    pub user: Option<UserId>,
    /// Voucher of the order.
    pub voucher: Option<VoucherId>,
    /// Status, 1 to 6.
    pub status: Option<u8>,
}

/// An order with the buyer's phone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundOrder {
    /// The order as shown to the buyer.
    pub view: OrderView,
    /// Phone of the buyer; `None` for an unknown user.
    pub phone: Option<Phone>,
}

/// Result of redeeming an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RedeemOutcome {
    /// The order in status used.
    pub found: FoundOrder,
    /// Whether the order had been used before, so that nothing changed.
    pub was_used: bool,
}

/// How money changes hands at the counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CounterMethod {
    /// Notes and coins.
    Cash,
    /// The shop's own card or code terminal.
    Terminal,
}

impl CounterMethod {
    /// All methods.
    pub const ALL: [Self; 2] = [Self::Cash, Self::Terminal];

    /// Returns the name in requests and in the audit log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cash => "cash",
            Self::Terminal => "terminal",
        }
    }

    pub(super) fn named(name: &str) -> Result<Self, Refusal> {
        Self::ALL.into_iter().find(|method| method.name() == name).ok_or(Refusal::BadValue("method"))
    }
}

/// Money that changes hands at the counter, as typed by an operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterMoney {
    /// Amount in cents: the order's price.
    pub amount: Cents,
    /// Name of a [`CounterMethod`].
    pub method: String,
    /// Name of the till whose drawer takes or gives cash; `None` for the till `1`.
    pub till: Option<String>,
}

/// Result of recording a payment or a refund at the counter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterOutcome {
    /// The order after the call.
    pub found: FoundOrder,
    /// Whether the payment or the refund had been recorded before, so that nothing changed: the money of this
    /// call is not the order's.
    pub was_recorded: bool,
}

/// The operators' service for orders. Cheap to clone.
#[derive(Clone)]
pub struct OrderAdmin {
    context: Context,
    orders: Orders,
    audit: AuditLog,
}

impl OrderAdmin {
    /// Orders per page.
    pub const PAGE: u32 = 20;

    /// Creates the service for `orders`.
    #[must_use]
    pub fn new(context: Context, orders: Orders, audit: AuditLog) -> Self {
        Self { context, orders, audit }
    }

    /// Returns a page of the orders matching a query, newest first, counted from 1, and the number of
    /// matches.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for an invalid phone or status; [`Failure::Store`] if the store fails.
    pub async fn find(&self, query: &OrderQuery, number: u32) -> Result<(Vec<FoundOrder>, u64), Failure> {
        let Some(filter) = self.filter(query).await? else { return Ok((Vec::new(), 0)) };
        let page = Page::new(number, Self::PAGE);
        let (orders, total) = match query.id {
            None => self.context.storage.selling.orders.find(filter, page).await?,
            Some(id) => {
                let found = self.orders.queries().look_up(id).await?.filter(|order| filter.admits(order));
                let total = u64::from(found.is_some());
                (found.into_iter().filter(|_| page.skipped() == 0).collect(), total)
            }
        };
        let mut found = self.with_phones(orders).await?;
        if query.id.is_some() {
            for one in &mut found {
                self.orders.queries().add_gateway(&mut one.view).await?;
            }
        }
        Ok((found, total))
    }

    /// Returns a page of the orders of today, newest first, counted from 1. Pending claims are left out.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn of_today(&self, number: u32, now: Timestamp) -> Result<Vec<FoundOrder>, Failure> {
        let page = Page::new(number, Self::PAGE);
        let (mut orders, _) = self.context.storage.selling.orders.find(OrderFilter::default(), page).await?;
        let day = |at| wall_time::date(at, &self.context.zone);
        orders.retain(|order| day(order.created) == day(now));
        self.with_phones(orders).await
    }

    /// Returns an order of any user.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn one(&self, order: OrderId) -> Result<FoundOrder, Failure> {
        let order = self.orders.queries().look_up(order).await?.ok_or(Refusal::NotFound("order"))?;
        let view = self.orders.queries().view(order).await?;
        self.with_phone(view).await
    }

    /// Redeems a paid order at the counter. A used order stays unchanged and is no error.
    ///
    /// # Errors
    /// [`Refusal::OrderStands`] for any other status; [`Refusal::NotFound`], [`Refusal::NotYet`]. After
    /// [`Failure::Store`] a repeat resumes the step.
    pub async fn redeem(&self, by: By, order: OrderId) -> Result<RedeemOutcome, Failure> {
        let action =
            AuditedAction { action: "order.use", subject: format!("order {order}"), detail: Value::Null };
        let orders = self.orders.clone();
        let work = async move { orders.redeem(order, by.at).await };
        let (view, before) = run_audited(&self.audit, by, action, work).await?;
        Ok(RedeemOutcome { found: self.with_phone(view).await?, was_used: before })
    }

    /// Records that the buyer paid for an order at the counter.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for an unknown method or an invalid till; [`Refusal::AmountDiffers`];
    /// [`Refusal::Cash`] for cash at a till without an open session, in a mall that has used cash sessions;
    /// [`Refusal::NotAtCounter`] for an order of another payment mode; [`Refusal::OrderStands`] for an order
    /// that cannot be paid any more: the money goes back to the buyer; [`Refusal::NotFound`],
    /// [`Refusal::NotYet`]. After [`Failure::Store`] a repeat resumes the step.
    pub async fn pay_at_counter(
        &self,
        by: By,
        order: OrderId,
        money: &CounterMoney,
    ) -> Result<CounterOutcome, Failure> {
        let (orders, amount) = (self.orders.clone(), money.amount);
        let method = CounterMethod::named(&money.method)?;
        let drawer = drawer_for(by, money, method)?;
        let detail = detail_of(money, drawer.as_ref());
        let work = async move { orders.pay_at_counter(order, amount, drawer, by.at).await };
        self.at_counter(by, "order.pay", order, detail, work).await
    }

    /// Records that an operator handed the money of a paid order back at the counter. Releases the unit, and
    /// the buyer may buy again.
    ///
    /// # Errors
    /// As [`pay_at_counter`](Self::pay_at_counter); [`Refusal::BadValue`] for a reason outside 1 to 200
    /// characters; [`Refusal::OrderStands`] for an order that is not paid, or used.
    pub async fn refund_at_counter(
        &self,
        by: By,
        order: OrderId,
        money: &CounterMoney,
        reason: &str,
    ) -> Result<CounterOutcome, Failure> {
        let reason = validate_reason(clean_text::line(reason))?;
        let (orders, amount) = (self.orders.clone(), money.amount);
        let method = CounterMethod::named(&money.method)?;
        let drawer = drawer_for(by, money, method)?;
        let mut detail = detail_of(money, drawer.as_ref());
        detail["reason"] = json!(reason);
        let work = async move { orders.refund_at_counter(order, amount, drawer, by.at).await };
        self.at_counter(by, "order.refund", order, detail, work).await
    }

    /// Runs an audited step at the counter. An unknown order leaves no entry.
    async fn at_counter(
        &self,
        by: By,
        action: &'static str,
        order: OrderId,
        detail: Value,
        work: impl Future<Output = Result<(OrderView, bool), Failure>> + Send + 'static,
    ) -> Result<CounterOutcome, Failure> {
        if self.orders.queries().look_up(order).await?.is_none() {
            return Err(Refusal::NotFound("order").into());
        }
        let audited = AuditedAction { action, subject: format!("order {order}"), detail };
        let (view, before) = run_audited(&self.audit, by, audited, work).await?;
        Ok(CounterOutcome { found: self.with_phone(view).await?, was_recorded: before })
    }

    /// Voids an order: cancels an unpaid order, refunds a paid order. Releases the unit, and the buyer may
    /// buy again. Returns the order in its new state, which is refunding while the gateway is unreachable. A
    /// repeat succeeds.
    ///
    /// `seen` is the status on which the operator decided. An order seen as unpaid is never refunded.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for a reason outside 1 to 200 characters or an invalid status;
    /// [`Refusal::OrderStands`] for a used order, or an order paid since `seen`;
    /// [`Refusal::RefundAtCounter`] for an order paid there; [`Refusal::NotFound`], [`Refusal::NotYet`].
    /// After [`Failure::Store`] a repeat resumes the step.
    pub async fn void(
        &self,
        by: By,
        order: OrderId,
        reason: &str,
        seen: Option<u8>,
    ) -> Result<FoundOrder, Failure> {
        let reason = validate_reason(clean_text::line(reason))?;
        let way_out = match seen.map(recorded_status).transpose()? {
            Some(OrderStatus::Unpaid) => CancelMode::Cancel,
            _ => CancelMode::CancelOrRefund,
        };
        if self.orders.queries().look_up(order).await?.is_none() {
            return Err(Refusal::NotFound("order").into());
        }
        let subject = format!("order {order}");
        let action = AuditedAction { action: "order.void", subject, detail: json!({ "reason": reason }) };
        let orders = self.orders.clone();
        let voided = run_audited(&self.audit, by, action, async move {
            orders.cancel_or_refund(order, way_out, by.at).await
        })
        .await?;
        self.with_phone(voided).await
    }

    /// Builds the storage filter. `None` if no user has the phone, or if the phone and the user id disagree.
    async fn filter(&self, query: &OrderQuery) -> Result<Option<OrderFilter>, Failure> {
        let status = match query.status {
            None => None,
            Some(number) => Some(recorded_status(number)?),
        };
        let mut filter = OrderFilter { user: query.user, voucher: query.voucher, status };
        if let Some(phone) = &query.phone {
            let phone = Phone::parse(phone).ok_or(Refusal::BadValue("phone"))?;
            let Some(user) = self.context.storage.people.users.by_phone(&phone).await? else {
                return Ok(None);
            };
            if filter.user.is_some_and(|wanted| wanted != user.id) {
                return Ok(None);
            }
            filter.user = Some(user.id);
        }
        Ok(Some(filter))
    }

    async fn with_phone(&self, view: OrderView) -> Result<FoundOrder, Failure> {
        let user = view.order.user;
        let phone = phones(&self.context.storage, &[user]).await?.remove(&user);
        Ok(FoundOrder { view, phone })
    }

    async fn with_phones(&self, orders: Vec<Order>) -> Result<Vec<FoundOrder>, Failure> {
        let users: Vec<UserId> = orders.iter().map(|order| order.user).collect();
        let phones = phones(&self.context.storage, &users).await?;
        let views = self.orders.queries().views(orders).await?;
        let found = |view: OrderView| FoundOrder { phone: phones.get(&view.order.user).cloned(), view };
        Ok(views.into_iter().map(found).collect())
    }
}

/// Returns what the audit log says of money at the counter.
fn detail_of(money: &CounterMoney, drawer: Option<&CashDrawer>) -> Value {
    let mut detail = json!({ "amount": money.amount, "method": money.method });
    if let Some(drawer) = drawer {
        detail["till"] = json!(drawer.till);
    }
    detail
}

/// Returns the drawer that cash goes into or comes from; `None` for money of another kind.
fn drawer_for(by: By, money: &CounterMoney, method: CounterMethod) -> Result<Option<CashDrawer>, Failure> {
    match method {
        CounterMethod::Cash => cash::drawer(by, money.till.as_deref()).map(Some),
        CounterMethod::Terminal => Ok(None),
    }
}

/// Returns the status with this number. Pending is excluded: no row has this status.
fn recorded_status(number: u8) -> Result<OrderStatus, Refusal> {
    let recorded = OrderStatus::numbered(number).filter(|status| *status != OrderStatus::Pending);
    recorded.ok_or(Refusal::BadValue("order status"))
}

/// Returns the phones of known users; deleted users have none.
pub(super) async fn phones(
    storage: &Storage,
    users: &[UserId],
) -> Result<HashMap<UserId, Phone>, StoreError> {
    let mut phones = HashMap::new();
    for id in users {
        if !phones.contains_key(id)
            && let Some(user) = storage.people.users.get(*id).await?.filter(|user| user.deleted.is_none())
        {
            phones.insert(*id, user.phone);
        }
    }
    Ok(phones)
}
