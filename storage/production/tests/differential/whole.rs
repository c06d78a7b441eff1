//! Dumps the complete state of a back end, a line per item, so that data no step has read is compared, too.

use mallbox_storage::{
    OrderFilter, OrderId, Page, ReviewSearch, ShopOrder, Storage, Timestamp, UserFilter, UserId, VoucherId,
};

use crate::events;
use crate::geo_index;
use crate::normal::{self, said};
use crate::scene::USERS;
use crate::sessions::live;
use crate::sign_ins;

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
    let (found, total) = storage.selling.orders.find(OrderFilter::default(), all()).await.unwrap();
    let mut lines = vec![format!("orders: {total}")];
    for order in found {
        let payments = storage.selling.payments.of_order(order.id).await;
        lines.push(format!("{order:?}, {}", said(payments.map(normal::payments))));
    }
    let (letters, total) = storage.selling.dead_letters.page(None, all()).await.unwrap();
    lines.push(format!("dead letters: {total}"));
    lines.extend(normal::letters(letters).iter().map(|letter| format!("{letter:?}")));
    let unpaid = storage.selling.orders.unpaid(OrderId::new(0), u32::MAX).await;
    lines.push(format!("unpaid: {}", said(unpaid)));
    lines.push(format!("counts: {}", said(storage.selling.orders.count_all().await)));
    lines.push(format!("numbers: {}", said(storage.selling.orders.highest_counts().await)));
    lines.push(format!("errands: {}", said(storage.selling.outbox.open(u32::MAX).await)));
    lines.push(format!("faults: {}", said(storage.selling.payments.faults().await)));
    let unsettled = storage.selling.payments.unsettled(Timestamp::MAX, u32::MAX).await;
    lines.push(format!("unsettled: {}", said(unsettled.map(normal::payments))));
    lines
}

/// Each sale as seen by the database, by memory, by the log and by its buyers.
async fn sales(storage: &Storage) -> Vec<String> {
    let mut lines = Vec::new();
    for sale in storage.catalogue.vouchers.sales(None, VoucherId::new(0), u32::MAX).await.unwrap() {
        let voucher = sale.terms.voucher;
        lines.push(format!("{sale:?}"));
        lines.push(format!("units of {voucher}: {}", said(storage.selling.sales.units(voucher).await)));
        lines.push(format!("pending of {voucher}: {}", said(storage.selling.order_log.count(voucher).await)));
        lines.push(format!("tally of {voucher}: {}", said(storage.selling.orders.tally(voucher).await)));
        for user in 1..=USERS {
            let user = UserId::new(user);
            let holding = storage.selling.orders.holding(voucher, user).await;
            lines.push(format!("{user} holds of {voucher}: {}", said(holding)));
        }
    }
    for user in 1..=USERS {
        lines.push(format!(
            "pending of {user}: {}",
            said(storage.selling.order_log.of_user(UserId::new(user)).await)
        ));
    }
    lines.push(normal::log_state(storage.selling.order_log.state().await));
    lines
}

/// Each review, with the ledger of its votes, and its voters' marks.
async fn reviews(storage: &Storage) -> Vec<String> {
    let (reviews, total) = storage.writing.reviews.find(&ReviewSearch::default(), all()).await.unwrap();
    let mut lines = vec![format!("reviews: {total}")];
    for review in reviews {
        let votes = storage.writing.votes.lines(review.id, None, u32::MAX).await;
        lines.push(format!("{review:?}, {}", said(votes)));
        for user in (1..=USERS).map(UserId::new) {
            let marked = storage.writing.votes.marked(user, &[review.id], Timestamp::from_millis(0)).await;
            lines.push(format!("mark of {user} on {}: {}", review.id, said(marked)));
        }
    }
    lines.push(format!("votes: {}", said(storage.writing.votes.newest_lines(None, u32::MAX).await)));
    lines
}

async fn rest(storage: &Storage, now: Timestamp) -> Vec<String> {
    let users = storage.people.users.list(&UserFilter::default(), all()).await.unwrap();
    let mut lines: Vec<String> = users.iter().map(|user| format!("{user:?}")).collect();
    for user in users {
        lines.push(format!("card of {}: {}", user.id, said(storage.people.users.card(user.id).await)));
        let credits = storage.people.credits.lines(user.id, None, u32::MAX).await;
        lines.push(format!("credits of {}: {}", user.id, said(credits)));
    }
    lines.push(format!("types: {}", said(storage.catalogue.shops.types().await)));
    let shops = storage.catalogue.shops.of_type(None, ShopOrder::Id, all()).await.unwrap();
    lines.extend(shops.iter().map(|shop| format!("{shop:?}")));
    lines.extend(reviews(storage).await);
    for user in (1..=USERS).map(UserId::new) {
        let days = storage.people.sign_ins.days(user, sign_ins::year()).await;
        let longest = storage.people.sign_ins.longest_streak(user).await;
        lines.push(format!("days of {user}: {}, {}", said(days), said(longest)));
    }
    lines.push(format!("signs: {}", said(storage.people.sign_ins.counts(sign_ins::year()).await)));
    lines.extend(geo_index::everywhere(storage).await);
    let tasks = &storage.base.retry_tasks;
    lines.push(format!("retry tasks: {}", said(tasks.counts().await)));
    lines.push(format!("failed tasks: {}", said(tasks.failed(None, None, u32::MAX).await)));
    for kind in ["refund", "webhook"] {
        lines.push(format!("next due of {kind}: {}", said(tasks.next_due(kind).await)));
    }
    lines.extend(events::all(storage).await);
    lines.push(format!("audit: {}", said(storage.operator.audit.page(None, u32::MAX).await)));
    lines.push(format!("chain: {}", said(storage.operator.audit.verify().await)));
    let deadlines = (storage.selling.deadlines.next().await, storage.selling.deadlines.count().await);
    lines.push(format!("deadlines: {}, {}", said(deadlines.0), said(deadlines.1)));
    lines.push(format!("sessions: {:?}", live(storage, now).await));
    lines
}
