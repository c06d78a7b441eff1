//! Rows of users, as queries read them.

use std::collections::HashMap;

use mallbox_storage::{Block, Phone, User, UserId};
use mysql_async::{Conn, Value};

use super::columns::{Columns, first};
use super::errors::MysqlError;
use super::multi_row;

/// Start of every query for users; read by [`user`].
pub(super) const SELECT: &str =
    "SELECT id, phone, nick_name, icon, role, created_ms, blocked_ms, block_reason, deleted_ms,
   (SELECT since_ms FROM second_factors WHERE user_id = users.id) FROM users";

/// Returns the user with this phone.
pub(super) async fn by_phone(conn: &mut Conn, phone: &Phone) -> Result<Option<User>, MysqlError> {
    first(conn, format!("{SELECT} WHERE phone = ?"), (phone.as_str(),), user).await
}

/// Returns the users with these phones, by phone.
pub(super) async fn by_phones(
    conn: &mut Conn,
    phones: &[&Phone],
) -> Result<HashMap<String, User>, MysqlError> {
    let keys: Vec<Value> = phones.iter().map(|phone| phone.as_str().into()).collect();
    let sql = format!("{SELECT} WHERE phone IN ({{keys}})");
    let users = multi_row::select_by_values(conn, &sql, &[], &keys, user).await?;
    Ok(users.into_iter().map(|user| (user.phone.as_str().to_owned(), user)).collect())
}

/// Returns the users with these ids, by id.
pub(super) async fn by_ids(conn: &mut Conn, ids: &[u64]) -> Result<HashMap<UserId, User>, MysqlError> {
    let sql = format!("{SELECT} WHERE id IN ({{keys}})");
    let users = multi_row::select_by_keys(conn, &sql, &[], ids, user).await?;
    Ok(users.into_iter().map(|user| (user.id, user)).collect())
}

/// Reads a row of [`SELECT`].
pub(super) fn user(row: &mut Columns) -> Result<User, MysqlError> {
    let (id, phone) = (UserId::new(row.next()?), row.next::<String>()?);
    // A deleted user has none.
    let phone = Phone::parse(&phone).ok_or_else(|| row.unreadable_last("no phone"));
    let (nick_name, icon, role, created) = (row.next()?, row.next()?, row.known()?, row.time()?);
    let (since, reason) = (row.time_if_any()?, row.next::<Option<String>>()?);
    let blocked = since.map(|since| Block { since, reason: reason.unwrap_or_default() });
    let (deleted, second_factor) = (row.time_if_any()?, row.time_if_any()?);
    let phone = match deleted {
        Some(_) => Phone::of_deleted_user(),
        None => phone?,
    };
    Ok(User { id, phone, nick_name, icon, role, blocked, created, deleted, second_factor })
}
