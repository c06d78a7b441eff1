//! Orders of ordinary vouchers, and the request names that make a purchase idempotent.

use mallbox_storage::backend::{AcceptedOrder, Numbered as _};
use mallbox_storage::{Order, OrderId, OrderStatus, PurchaseOutcome, Timestamp, UserId, VoucherId};
use mysql_async::{Conn, params};

use super::columns::{Columns, execute, first};
use super::errors::MysqlError;
use super::event_rows::EventSwitch;
use super::order_rows;

/// Writes an order in the caller's transaction, unless the request was made before or the buyer has
/// `unpaid_max` unpaid orders.
pub(super) async fn insert(
    conn: &mut Conn,
    order: &Order,
    request: Option<&str>,
    unpaid_max: Option<u32>,
    events: EventSwitch,
) -> Result<PurchaseOutcome, MysqlError> {
    // Of two purchases by one user, the second waits here until the first is counted; a deletion of the user
    // waits as well.
    if is_locked_deleted(conn, order.user).await? {
        return Ok(PurchaseOutcome::BuyerDeleted);
    }
    if let Some(max) = unpaid_max.filter(|_| order.status == OrderStatus::Unpaid) {
        if let Some(request) = request
            && let Some(before) = find(conn, order.user, order.voucher, request).await?
        {
            return Ok(PurchaseOutcome::Bought(before));
        }
        let is_repeat = order_rows::owner(conn, order.id).await?.is_some();
        if !is_repeat && unpaid(conn, order.user).await? >= u64::from(max) {
            return Ok(PurchaseOutcome::TooManyUnpaid);
        }
    }
    require_ordinary(conn, order.voucher).await?;
    if let Some(request) = request {
        // Of two concurrent requests with one name, the second waits here for the first.
        let sql = "INSERT INTO purchases (user_id, voucher_id, request, order_id) VALUES (?, ?, ?, ?)";
        let row = (order.user.get(), order.voucher.get(), request.as_bytes(), order.id.get());
        match execute(conn, sql, row).await {
            Err(fault) if fault.is_duplicate_key() => {
                let before = find(conn, order.user, order.voucher, request).await?;
                return before
                    .map(PurchaseOutcome::Bought)
                    .ok_or_else(|| MysqlError::refused("a request of this name exists and is unreadable"));
            }
            done => done?,
        };
    }
    match write(conn, order).await {
        Err(fault) if fault.is_duplicate_key() => require_repeat(conn, order).await?,
        Err(fault) => return Err(fault),
        Ok(()) => {
            let accepted = || AcceptedOrder::of(order).events(order.created);
            events.write(conn, order.created, accepted).await?;
        }
    }
    Ok(PurchaseOutcome::Bought(order.id))
}

/// Locks the buyer's row. Returns whether the account is deleted.
async fn is_locked_deleted(conn: &mut Conn, buyer: UserId) -> Result<bool, MysqlError> {
    let sql = "SELECT deleted_ms FROM users WHERE id = ? FOR UPDATE";
    let deleted = first(conn, sql, (buyer.get(),), Columns::next::<Option<i64>>).await?;
    Ok(deleted.flatten().is_some())
}

/// Counts the unpaid orders of a user.
async fn unpaid(conn: &mut Conn, user: UserId) -> Result<u64, MysqlError> {
    let sql = "SELECT COUNT(*) FROM orders WHERE user_id = ? AND status = ?";
    let counted = first(conn, sql, (user.get(), OrderStatus::Unpaid as u8), Columns::count).await?;
    Ok(counted.unwrap_or_default())
}

/// Returns the order of an earlier request with this name.
pub(super) async fn find(
    conn: &mut Conn,
    user: UserId,
    voucher: VoucherId,
    request: &str,
) -> Result<Option<OrderId>, MysqlError> {
    let sql = "SELECT order_id FROM purchases WHERE user_id = ? AND voucher_id = ? AND request = ?";
    let key = (user.get(), voucher.get(), request.as_bytes());
    first(conn, sql, key, |row| row.next().map(OrderId::new)).await
}

async fn require_ordinary(conn: &mut Conn, voucher: VoucherId) -> Result<(), MysqlError> {
    let sql = "SELECT voucher_id FROM vouchers LEFT JOIN sales ON voucher_id = id WHERE id = ?";
    match first(conn, sql, (voucher.get(),), Columns::next::<Option<u64>>).await? {
        Some(None) => Ok(()),
        Some(Some(_)) => {
            Err(MysqlError::refused("the voucher is a flash sale: units are sold by claims only"))
        }
        None => Err(MysqlError::refused("no such voucher")),
    }
}

/// Accepts a repeated write of the same order, after a lost response. Refuses an id that belongs to another
/// order.
async fn require_repeat(conn: &mut Conn, order: &Order) -> Result<(), MysqlError> {
    match order_rows::owner(conn, order.id).await? {
        Some(owner) if owner == (order.user, order.voucher) => Ok(()),
        _ => Err(MysqlError::refused("another order has this id")),
    }
}

async fn write(conn: &mut Conn, order: &Order) -> Result<(), MysqlError> {
    let sql = "INSERT INTO orders (id, user_id, voucher_id, of_sale, status, pay_value, pay_type, created_ms,
                 deadline_ms, paid_ms, used_ms, refunded_ms, payment_mode)
               VALUES (:id, :user, :voucher, 0, :status, :pay_value, :pay_type, :created, :deadline, :paid, :used,
                 :refunded, :payment)";
    let params = params! {
        "id" => order.id.get(),
        "user" => order.user.get(),
        "voucher" => order.voucher.get(),
        "status" => order.status as u8,
        "pay_value" => order.pay_value.get(),
        "pay_type" => order.pay_type,
        "created" => order.created.as_millis(),
        "deadline" => order.deadline.as_millis(),
        "paid" => order.paid.map(Timestamp::as_millis),
        "used" => order.used.map(Timestamp::as_millis),
        "refunded" => order.refunded.map(Timestamp::as_millis),
        "payment" => order.payment.number(),
    };
    execute(conn, sql, params).await.map(drop)
}
