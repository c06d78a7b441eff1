//! Dumps the complete state of a back end, a line per item, so that data no step has read is compared, too.

use mallbox_storage::{
    OrderFilter, OrderId, Page, ShopOrder, Storage, Timestamp, UserFilter, UserId, VoucherId,
};

use crate::nearby;
use crate::normal::{self, said};
use crate::scene::USERS;
use crate::sessions::live;
use crate::signs;

/// As far as lists go.
fn all() -> Page {
    Page::new(1, 1_000_000)
}

pub async fn of(storage: &Storage, now: Timestamp) -> Vec<String> {
    let mut lines = orders(storage).await;
    lines.extend(sales(storage).await);
    lines.extend(rest(storage, now).await);
    lines
}

async fn orders(storage: &Storage) -> Vec<String> {
    let (found, total) = storage.orders.find(OrderFilter::default(), all()).await.unwrap();
    let mut lines = vec![format!("orders: {total}")];
    for order in found {
        let payments = storage.payments.of_order(order.id).await;
        lines.push(format!("{order:?}, {}", said(payments.map(normal::payments))));
    }
    let (letters, total) = storage.dead_letters.page(None, all()).await.unwrap();
    lines.push(format!("dead letters: {total}"));
    lines.extend(normal::letters(letters).iter().map(|letter| format!("{letter:?}")));
    let unpaid = storage.orders.unpaid(OrderId::new(0), u32::MAX).await;
    lines.push(format!("unpaid: {}", said(unpaid)));
    lines.push(format!("counts: {}", said(storage.orders.count_all().await)));
    lines.push(format!("numbers: {}", said(storage.orders.highest_counts().await)));
    lines.push(format!("errands: {}", said(storage.outbox.open(u32::MAX).await)));
    lines.push(format!("faults: {}", said(storage.payments.faults().await)));
    let unsettled = storage.payments.unsettled(Timestamp::MAX, u32::MAX).await;
    lines.push(format!("unsettled: {}", said(unsettled.map(normal::payments))));
    lines
}

/// Each sale as seen by the database, by memory, by the log and by its buyers.
async fn sales(storage: &Storage) -> Vec<String> {
    let mut lines = Vec::new();
    for sale in storage.vouchers.sales(None, VoucherId::new(0), u32::MAX).await.unwrap() {
        let voucher = sale.terms.voucher;
        lines.push(format!("{sale:?}"));
        lines.push(format!("units of {voucher}: {}", said(storage.sales.units(voucher).await)));
        lines.push(format!("pending of {voucher}: {}", said(storage.order_log.count(voucher).await)));
        lines.push(format!("tally of {voucher}: {}", said(storage.orders.tally(voucher).await)));
        for user in 1..=USERS {
            let user = UserId::new(user);
            let holding = storage.orders.holding(voucher, user).await;
            lines.push(format!("{user} holds of {voucher}: {}", said(holding)));
        }
    }
    for user in 1..=USERS {
        lines
            .push(format!("pending of {user}: {}", said(storage.order_log.of_user(UserId::new(user)).await)));
    }
    lines.push(normal::log_state(storage.order_log.state().await));
    lines
}

async fn rest(storage: &Storage, now: Timestamp) -> Vec<String> {
    let users = storage.users.list(&UserFilter::default(), all()).await.unwrap();
    let mut lines: Vec<String> = users.iter().map(|user| format!("{user:?}")).collect();
    for user in users {
        lines.push(format!("card of {}: {}", user.id, said(storage.users.card(user.id).await)));
    }
    lines.push(format!("types: {}", said(storage.shops.types().await)));
    let shops = storage.shops.of_type(None, ShopOrder::Id, all()).await.unwrap();
    lines.extend(shops.iter().map(|shop| format!("{shop:?}")));
    for user in (1..=USERS).map(UserId::new) {
        let days = storage.sign_ins.days(user, signs::year()).await;
        let longest = storage.sign_ins.longest_streak(user).await;
        lines.push(format!("days of {user}: {}, {}", said(days), said(longest)));
    }
    lines.push(format!("signs: {}", said(storage.sign_ins.counts(signs::year()).await)));
    lines.extend(nearby::everywhere(storage).await);
    lines.push(format!("audit: {}", said(storage.audit.page(None, u32::MAX).await)));
    lines.push(format!("chain: {}", said(storage.audit.verify().await)));
    let deadlines = (storage.deadlines.next().await, storage.deadlines.count().await);
    lines.push(format!("deadlines: {}, {}", said(deadlines.0), said(deadlines.1)));
    lines.push(format!("sessions: {:?}", live(storage, now).await));
    lines
}
