//! Lists of orders: of a user, and by a filter.

use mallbox_storage::{Order, OrderFilter, OrderId, OrderStatus, Page, UserId};
use rusqlite::{Connection, ToSql};

use super::columns::{get_count, id};
use super::order_rows::{SELECT, by_id, order};
use super::{holders, orders_by_user};

/// Returns a page of a user's orders, newest first.
pub(super) fn of_user(conn: &Connection, user: UserId, page: Page) -> rusqlite::Result<Vec<Order>> {
    orders(conn, user, page_of(&orders_by_user::of_user(conn, user)?, page))
}

/// Counts the orders of a user with a status. Cost: reads all orders of the user.
pub(super) fn count_of_user(conn: &Connection, user: UserId, status: OrderStatus) -> rusqlite::Result<u64> {
    let all = orders(conn, user, &orders_by_user::of_user(conn, user)?)?;
    Ok(all.iter().filter(|order| order.status == status).count() as u64)
}

/// Returns a page of the orders that match `filter`, newest first, and the number of all.
pub(super) fn find(
    conn: &Connection,
    filter: &OrderFilter,
    page: Page,
) -> rusqlite::Result<(Vec<Order>, u64)> {
    match (filter.user, filter.voucher, filter.status) {
        (Some(user), None, None) => {
            let all = orders_by_user::of_user(conn, user)?;
            Ok((orders(conn, user, page_of(&all, page))?, all.len() as u64))
        }
        (Some(user), None, Some(_)) => {
            let mut all = orders(conn, user, &orders_by_user::of_user(conn, user)?)?;
            all.retain(|order| filter.admits(order));
            Ok((page_of(&all, page).to_vec(), all.len() as u64))
        }
        _ => scan(conn, filter, page),
    }
}

/// Returns the part of a list that is on a page.
fn page_of<T>(all: &[T], page: Page) -> &[T] {
    let first = usize::try_from(page.skipped()).unwrap_or(usize::MAX).min(all.len());
    let size = usize::try_from(page.size()).unwrap_or(usize::MAX);
    &all[first..first.saturating_add(size).min(all.len())]
}

/// Returns the orders of `user` among `ids`. All are, unless the index is damaged.
fn orders(conn: &Connection, user: UserId, ids: &[OrderId]) -> rusqlite::Result<Vec<Order>> {
    let found = ids.iter().filter_map(|order| by_id(conn, *order).transpose());
    found.filter(|order| order.as_ref().map_or(true, |order| order.user == user)).collect()
}

/// Finds orders in the table, or by the index of vouchers.
fn scan(conn: &Connection, filter: &OrderFilter, page: Page) -> rusqlite::Result<(Vec<Order>, u64)> {
    let mut wheres = vec!["TRUE"];
    if filter.user.is_some() {
        wheres.push("user_id = :user");
    }
    // An ordinary voucher has no range, and an order of a user is found by the index.
    let ends = filter.voucher.filter(|_| filter.user.is_none()).map(|voucher| holders::ends(conn, voucher));
    let ends = ends.transpose()?.flatten();
    if ends.is_some() {
        wheres.push("id BETWEEN :first AND :last");
    }
    match filter.status {
        None => {}
        // The literal 1 lets SQLite use its partial index of unpaid orders.
        Some(OrderStatus::Unpaid) => wheres.push("status = 1"),
        Some(_) => wheres.push("status = :status"),
    }
    let (user, voucher) = (filter.user.map(|user| id(user.get())), filter.voucher.map(|one| id(one.get())));
    let (first, last) = ends.unzip();
    let status = filter.status.map(|status| status as u8);
    let all: [(&str, &dyn ToSql); 7] = [
        (":user", &user),
        (":voucher", &voucher),
        (":first", &first),
        (":last", &last),
        (":status", &status),
        (":size", &page.size()),
        (":skipped", &id(page.skipped())),
    ];
    let named = |sql: &str| all.into_iter().filter(|(name, _)| sql.contains(name)).collect::<Vec<_>>();
    // By the index of vouchers, the rows of a sale would be read in the order of users.
    let of_voucher = |reads_rows: bool| match (filter.voucher, ends) {
        (None, _) => "",
        (Some(_), Some(_)) if reads_rows => " AND +voucher_id = :voucher",
        (Some(_), _) => " AND voucher_id = :voucher",
    };
    let (wheres, with_rows) = (wheres.join(" AND "), filter.status.is_some());
    let sql =
        format!("{SELECT} WHERE {wheres}{} ORDER BY id DESC LIMIT :size OFFSET :skipped", of_voucher(true));
    let mut select = conn.prepare_cached(&sql)?;
    let orders = select.query_map(&*named(&sql), order)?.collect::<rusqlite::Result<_>>()?;
    let sql = format!("SELECT COUNT(*) FROM orders WHERE {wheres}{}", of_voucher(with_rows));
    let total = conn.prepare_cached(&sql)?.query_row(&*named(&sql), |row| get_count(row, 0))?;
    Ok((orders, total))
}
