//! Orders from the operator's side: found whosever they are, and called off.

use std::collections::HashMap;

use mallbox_storage::{
    Order, OrderFilter, OrderId, OrderStatus, Page, Phone, Storage, StoreError, UserId, VoucherId,
};
use serde_json::{Value, json};

use super::AuditLog;
use super::act::{By, Deed, act, fit_reason};
use crate::mall::orders::{OrderView, WayOut};
use crate::mall::{Context, Failure, OrderDesk, Refusal, clean_text};

/// What an operator knows of the orders looked for; all of it must agree.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OrderQuery {
    /// The order's number: then one that is not in the record yet is found too.
    pub id: Option<OrderId>,
    /// Its buyer's phone.
    pub phone: Option<String>,
    /// Its buyer.
    pub user: Option<UserId>,
    /// The voucher.
    pub voucher: Option<VoucherId>,
    /// Where it stands, 1 to 6.
    pub status: Option<u8>,
}

/// An order, and whose it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundOrder {
    /// As its buyer sees it.
    pub view: OrderView,
    /// The buyer's phone; none if the buyer is not known.
    pub phone: Option<Phone>,
}

/// What became of redeeming an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Redeemed {
    /// The order, used.
    pub found: FoundOrder,
    /// Whether it had been used before, and nothing changed.
    pub before: bool,
}

/// What operators do with orders. Cheap to clone.
#[derive(Clone)]
pub struct OrderOffice {
    context: Context,
    desk: OrderDesk,
    audit: AuditLog,
}

impl OrderOffice {
    /// Orders a page of the list.
    pub const PAGE: u32 = 20;

    /// The orders that this desk keeps.
    #[must_use]
    pub fn new(context: Context, desk: OrderDesk, audit: AuditLog) -> Self {
        Self { context, desk, audit }
    }

    /// A page of the orders that a query finds, newest first, counted from 1; and how many it finds.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for a phone or a status that no order has, or the store is in trouble.
    pub async fn find(&self, query: &OrderQuery, number: u32) -> Result<(Vec<FoundOrder>, u64), Failure> {
        let Some(filter) = self.filter(query).await? else { return Ok((Vec::new(), 0)) };
        let page = Page::new(number, Self::PAGE);
        let (orders, total) = match query.id {
            None => self.context.storage.orders.find(filter, page).await?,
            Some(id) => {
                let found = self.desk.look_up(id).await?.filter(|order| filter.admits(order));
                let total = u64::from(found.is_some());
                (found.into_iter().filter(|_| page.skipped() == 0).collect(), total)
            }
        };
        Ok((self.with_phones(orders).await?, total))
    }

    /// An order, whosever it is.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], or the store is in trouble.
    pub async fn one(&self, order: OrderId) -> Result<FoundOrder, Failure> {
        let order = self.desk.look_up(order).await?.ok_or(Refusal::NotFound("order"))?;
        let view = self.desk.view(order).await?;
        self.with_phone(view).await
    }

    /// Redeems a paid order at the counter. One that was used before stays as it was, and is no error.
    ///
    /// # Errors
    /// [`Refusal::OrderStands`] for an order in any other state; [`Refusal::NotFound`], [`Refusal::NotYet`]; or the store is in
    /// trouble: a repeat goes on.
    pub async fn redeem(&self, by: By, order: OrderId) -> Result<Redeemed, Failure> {
        let deed = Deed { action: "order.use", subject: format!("order {order}"), detail: Value::Null };
        let desk = self.desk.clone();
        let work = async move { desk.redeem(order, by.at).await };
        let (view, before) = act(&self.audit, by, deed, work).await?;
        Ok(Redeemed { found: self.with_phone(view).await?, before })
    }

    /// Voids an order: one that is unpaid is cancelled, one that is paid is refunded, and its unit and its buyer's right
    /// to one go back. The order as it is then; refunding, if the gateway cannot be reached just now. Again is no error.
    /// `seen`: its status as whoever decided saw it; one that was unpaid is not refunded.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for the reason, 1 to 200 characters, and for a status that no order has;
    /// [`Refusal::OrderStands`] for an order that was used, or was paid since it was seen;
    /// [`Refusal::NotFound`], [`Refusal::NotYet`]; or the store is in trouble: a repeat goes on.
    pub async fn void(
        &self,
        by: By,
        order: OrderId,
        reason: &str,
        seen: Option<u8>,
    ) -> Result<FoundOrder, Failure> {
        let reason = fit_reason(clean_text::line(reason))?;
        let way_out = match seen.map(recorded_status).transpose()? {
            Some(OrderStatus::Unpaid) => WayOut::Cancel,
            _ => WayOut::CancelOrRefund,
        };
        if self.desk.look_up(order).await?.is_none() {
            return Err(Refusal::NotFound("order").into());
        }
        let subject = format!("order {order}");
        let deed = Deed { action: "order.void", subject, detail: json!({ "reason": reason }) };
        let desk = self.desk.clone();
        let voided =
            act(&self.audit, by, deed, async move { desk.call_off(order, way_out, by.at).await }).await?;
        self.with_phone(voided).await
    }

    /// `None` if nobody has the phone, or another user than the one that is looked for.
    async fn filter(&self, query: &OrderQuery) -> Result<Option<OrderFilter>, Failure> {
        let status = match query.status {
            None => None,
            Some(number) => Some(recorded_status(number)?),
        };
        let mut filter = OrderFilter { user: query.user, voucher: query.voucher, status };
        if let Some(phone) = &query.phone {
            let phone = Phone::parse(phone).ok_or(Refusal::BadValue("phone"))?;
            let Some(user) = self.context.storage.users.by_phone(&phone).await? else { return Ok(None) };
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
        let views = self.desk.views(orders).await?;
        let found = |view: OrderView| FoundOrder { phone: phones.get(&view.order.user).cloned(), view };
        Ok(views.into_iter().map(found).collect())
    }
}

/// The status of an order in the record with this number.
fn recorded_status(number: u8) -> Result<OrderStatus, Refusal> {
    let recorded = OrderStatus::numbered(number).filter(|status| *status != OrderStatus::Pending);
    recorded.ok_or(Refusal::BadValue("order status"))
}

/// The phones of these users, as far as they are known.
pub(super) async fn phones(
    storage: &Storage,
    users: &[UserId],
) -> Result<HashMap<UserId, Phone>, StoreError> {
    let mut phones = HashMap::new();
    for id in users {
        if !phones.contains_key(id)
            && let Some(user) = storage.users.get(*id).await?
        {
            phones.insert(*id, user.phone);
        }
    }
    Ok(phones)
}
