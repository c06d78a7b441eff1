//! [`Users`] in MySQL.

use async_trait::async_trait;
use mallbox_storage::backend::{Numbered as _, holding};
use mallbox_storage::{
    LastOperator, Page, Phone, PhoneOutcome, Profile, RightsChange, RightsOutcome, StoreError, Timestamp,
    User, UserFilter, UserId, Users,
};
use mysql_async::{Conn, Value, params};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::picture_files;
use super::user_batches::UserBatches;
use super::user_rows::{SELECT, by_ids, by_phone, user};

pub(super) struct MysqlUsers {
    database: Database,
    batches: UserBatches,
}

impl MysqlUsers {
    pub(super) fn new(database: Database) -> Self {
        Self { batches: UserBatches::new(&database), database }
    }
}

#[async_trait]
impl Users for MysqlUsers {
    async fn find_or_create(
        &self,
        phone: &Phone,
        nick_name: &str,
        now: Timestamp,
    ) -> Result<User, StoreError> {
        self.batches.find_or_create(phone, nick_name, now).await
    }

    async fn get(&self, which: UserId) -> Result<Option<User>, StoreError> {
        self.batches.get(which).await
    }

    async fn by_phone(&self, phone: &Phone) -> Result<Option<User>, StoreError> {
        self.database.read("user by phone", |conn| boxed(async move { by_phone(conn, phone).await })).await
    }

    async fn card(&self, which: UserId) -> Result<Option<Profile>, StoreError> {
        let sql = "SELECT city, introduce, gender, birthday, credits, level, set_level
                   FROM users LEFT JOIN user_info ON user_id = id WHERE id = ?";
        self.database
            .read("card", |conn| boxed(async move { first(conn, sql, (which.get(),), card).await }))
            .await
    }

    async fn put_card(
        &self,
        user: UserId,
        nick_name: &str,
        icon: &str,
        card: &Profile,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.database
            .write("put card", |conn| {
                boxed(async move {
                    picture_files::give_up_icon(conn, user.get(), icon, now).await?;
                    let sql = "UPDATE users SET nick_name = ?, icon = ?, updated_ms = ?
                               WHERE id = ? AND deleted_ms IS NULL";
                    let found = execute(conn, sql, (nick_name, icon, now.as_millis(), user.get())).await?;
                    if found > 0 {
                        put_card(conn, user, card, now).await?;
                    }
                    Ok(found > 0)
                })
            })
            .await
    }

    async fn password(&self, user: UserId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT password FROM users WHERE id = ?";
        Ok(self
            .database
            .read("password", |conn| {
                boxed(async move { first(conn, sql, (user.get(),), Columns::next::<Option<String>>).await })
            })
            .await?
            .flatten())
    }

    async fn put_password(&self, user: UserId, hash: &str, now: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE users SET password = ?, updated_ms = ? WHERE id = ? AND deleted_ms IS NULL";
        Ok(self
            .database
            .write_at_once("put password", |conn| {
                boxed(async move { execute(conn, sql, (hash, now.as_millis(), user.get())).await })
            })
            .await?
            > 0)
    }

    async fn replace_password(
        &self,
        user: UserId,
        old: &str,
        new: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        // Compared as bytes: as texts, two passwords that differ only in trailing spaces would be equal.
        let sql = "UPDATE users SET password = ?, updated_ms = ?
                   WHERE id = ? AND CAST(password AS BINARY) = CAST(? AS BINARY)";
        Ok(self
            .database
            .write_at_once("replace password", |conn| {
                boxed(async move { execute(conn, sql, (new, now.as_millis(), user.get(), old)).await })
            })
            .await?
            > 0)
    }

    async fn put_rights(
        &self,
        user: UserId,
        change: &RightsChange,
        last: LastOperator,
        now: Timestamp,
    ) -> Result<RightsOutcome, StoreError> {
        self.database
            .write("put rights", |conn| boxed(async move { put_rights(conn, user, change, last, now).await }))
            .await
    }

    async fn put_phone(
        &self,
        user: UserId,
        from: &Phone,
        to: &Phone,
        now: Timestamp,
    ) -> Result<PhoneOutcome, StoreError> {
        self.database
            .write_at_once("put phone", |conn| {
                boxed(async move { put_phone(conn, user, (from, to), now).await })
            })
            .await
    }

    async fn those(&self, users: &[UserId]) -> Result<Vec<User>, StoreError> {
        let ids: &[u64] = &users.iter().copied().map(UserId::get).collect::<Vec<_>>();
        let found =
            self.database.read("users by id", |conn| boxed(async move { by_ids(conn, ids).await })).await?;
        Ok(users.iter().filter_map(|user| found.get(user).cloned()).collect())
    }

    async fn list(&self, filter: &UserFilter, page: Page) -> Result<Vec<User>, StoreError> {
        let (sql, values) = search(filter, page);
        let (sql, values) = (&*sql, &values);
        self.database
            .read("users", |conn| boxed(async move { all(conn, sql, values.clone(), user).await }))
            .await
    }
}

/// Returns the query for a filter, and its values.
fn search(filter: &UserFilter, page: Page) -> (String, Vec<Value>) {
    let UserFilter { phone, name, role, blocked } = filter;
    let (mut wheres, mut values) = (vec!["TRUE"], Vec::new());
    if let Some(role) = role {
        wheres.push("role = ?");
        values.push(role.number().into());
    }
    if *blocked {
        wheres.push("blocked_ms IS NOT NULL");
    }
    if !phone.is_empty() {
        // Phone numbers consist of digits, and `:` follows 9 in the collation.
        wheres.push("phone >= ? AND phone < ?");
        values.extend([phone.into(), format!("{phone}:").into()]);
    }
    if !name.is_empty() {
        wheres.push("LOWER(nick_name) LIKE LOWER(?) ESCAPE '!'");
        values.push(holding(name).into());
    }
    values.extend([page.size().into(), page.skipped().into()]);
    (format!("{SELECT} WHERE {} ORDER BY id LIMIT ? OFFSET ?", wheres.join(" AND ")), values)
}

async fn put_rights(
    conn: &mut Conn,
    who: UserId,
    change: &RightsChange,
    last: LastOperator,
    now: Timestamp,
) -> Result<RightsOutcome, MysqlError> {
    let operators = lock_operators(conn).await?;
    let sql = format!("{SELECT} WHERE id = ? FOR UPDATE");
    let was = first(conn, sql, (who.get(),), user).await?.filter(|user| user.deleted.is_none());
    let Some(was) = was else { return Ok(RightsOutcome::NoSuchUser) };
    let is = change.of(&was, now);
    let leaves = was.acts() && !is.acts();
    let others = || operators.iter().filter(|user| user.id != who && user.acts()).count();
    if leaves && last == LastOperator::Stays && others() == 0 {
        return Ok(RightsOutcome::LastOperator);
    }
    let (since, reason) = is.blocked.as_ref().map(|block| (block.since.as_millis(), &block.reason)).unzip();
    let sql = "UPDATE users SET role = ?, blocked_ms = ?, block_reason = ?, updated_ms = ? WHERE id = ?";
    execute(conn, sql, (is.role.number(), since, reason, now.as_millis(), who.get())).await?;
    Ok(RightsOutcome::Done(is))
}

/// Locks all operators, always by id and before other users: two operators who demote each other run one
/// after the other.
pub(super) async fn lock_operators(conn: &mut Conn) -> Result<Vec<User>, MysqlError> {
    all(conn, format!("{SELECT} WHERE role = 1 ORDER BY id FOR UPDATE"), (), user).await
}

/// Replaces a phone with one statement: the unique key refuses a phone that another user has.
async fn put_phone(
    conn: &mut Conn,
    user: UserId,
    (from, to): (&Phone, &Phone),
    now: Timestamp,
) -> Result<PhoneOutcome, MysqlError> {
    let sql = "UPDATE users SET phone = ?, updated_ms = ? WHERE id = ? AND phone = ? AND deleted_ms IS NULL";
    match execute(conn, sql, (to.as_str(), now.as_millis(), user.get(), from.as_str())).await {
        Err(fault) if fault.is_duplicate_key() => Ok(PhoneOutcome::Taken),
        Err(fault) => Err(fault),
        Ok(0) => Ok(PhoneOutcome::NotFound),
        Ok(_) => Ok(PhoneOutcome::Changed),
    }
}

async fn put_card(conn: &mut Conn, user: UserId, card: &Profile, now: Timestamp) -> Result<(), MysqlError> {
    let sql = "INSERT INTO user_info (user_id, city, introduce, gender, birthday, credits, level, updated_ms)
               VALUES (:user, :city, :introduce, :gender, :birthday, 0, 0, :now)
               ON DUPLICATE KEY UPDATE city = :city, introduce = :introduce, gender = :gender, birthday = :birthday,
                 updated_ms = :now";
    let params = params! {
        "user" => user.get(),
        "city" => &card.city,
        "introduce" => &card.introduce,
        "gender" => card.gender,
        "birthday" => &card.birthday,
        "now" => now.as_millis(),
    };
    execute(conn, sql, params).await.map(drop)
}

/// Reads a card. All columns are NULL for a user without a card.
fn card(row: &mut Columns) -> Result<Profile, MysqlError> {
    let Some(city) = row.next()? else { return Ok(Profile::default()) };
    Ok(Profile {
        city,
        introduce: row.next()?,
        gender: row.next()?,
        birthday: row.next()?,
        credits: row.count()?,
        level: row.next()?,
        set_level: row.next()?,
    })
}
