//! The [`Users`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::backend::{Numbered as _, holding};
use mallbox_storage::{
    Block, LastOperator, Page, Phone, PhoneOutcome, Profile, RightsChange, RightsOutcome, Role, StoreError,
    Timestamp, User, UserFilter, UserId, Users,
};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, named_params, params, params_from_iter};

use super::columns::{get_count, get_id, get_known, get_time, get_time_if_any, id};
use super::errors::unreadable;
use super::{Database, picture_files};

pub(crate) struct EmbeddedUsers(Database);

impl EmbeddedUsers {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

/// Head of every query for users; [`user`] reads the columns.
const SELECT: &str =
    "SELECT id, phone, nick_name, icon, role, created_ms, blocked_ms, block_reason, deleted_ms,
   (SELECT since_ms FROM second_factors WHERE user_id = users.id) FROM users";

#[async_trait]
impl Users for EmbeddedUsers {
    async fn find_or_create(
        &self,
        phone: &Phone,
        nick_name: &str,
        now: Timestamp,
    ) -> Result<User, StoreError> {
        let known = phone.clone();
        // Nearly every login is by a known user: no need to wait for a commit.
        if let Some(user) = self.by_phone(&known).await? {
            return Ok(user);
        }
        let (phone, nick_name) = (phone.clone(), nick_name.to_owned());
        let job = move |conn: &Connection| {
            if let Some(user) = by_phone(conn, &phone)? {
                return Ok(user);
            }
            conn.prepare_cached(
                "INSERT INTO users (phone, nick_name, created_ms, updated_ms) VALUES (?1, ?2, ?3, ?3)",
            )?
            .execute(params![phone.as_str(), nick_name, now.as_millis()])?;
            let id = UserId::new(conn.last_insert_rowid().cast_unsigned());
            Ok(User::new(id, phone, nick_name, now))
        };
        self.0.write("find or create user", job).await
    }

    async fn get(&self, user: UserId) -> Result<Option<User>, StoreError> {
        self.0.read("user", move |conn| by_id(conn, user)).await
    }

    async fn by_phone(&self, phone: &Phone) -> Result<Option<User>, StoreError> {
        let phone = phone.clone();
        self.0.read("user by phone", move |conn| by_phone(conn, &phone)).await
    }

    async fn card(&self, user: UserId) -> Result<Option<Profile>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT city, introduce, gender, birthday, credits, level, set_level
                 FROM users LEFT JOIN user_info ON user_id = id WHERE id = ?1",
            )?
            .query_row([id(user.get())], card)
            .optional()
        };
        self.0.read("card", job).await
    }

    async fn put_card(
        &self,
        user: UserId,
        nick_name: &str,
        icon: &str,
        card: &Profile,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (nick_name, icon, card) = (nick_name.to_owned(), icon.to_owned(), card.clone());
        let job = move |conn: &Connection| {
            picture_files::give_up_icon(conn, id(user.get()), &icon, now)?;
            let changed = conn
                .prepare_cached(
                    "UPDATE users SET nick_name = ?2, icon = ?3, updated_ms = ?4
                     WHERE id = ?1 AND deleted_ms IS NULL",
                )?
                .execute(params![id(user.get()), nick_name, icon, now.as_millis()])?;
            if changed == 0 {
                return Ok(false);
            }
            conn.prepare_cached(
                "INSERT INTO user_info (user_id, city, introduce, gender, birthday, credits, level, updated_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, ?6)
                 ON CONFLICT (user_id) DO UPDATE SET city = excluded.city, introduce = excluded.introduce,
                   gender = excluded.gender, birthday = excluded.birthday, updated_ms = excluded.updated_ms",
            )?
            .execute(params![
                id(user.get()),
                card.city,
                card.introduce,
                card.gender,
                card.birthday,
                now.as_millis()
            ])?;
            Ok(true)
        };
        self.0.write("put card", job).await
    }

    async fn password(&self, user: UserId) -> Result<Option<String>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached("SELECT password FROM users WHERE id = ?1")?
                .query_row([id(user.get())], |row| row.get(0))
                .optional()
                .map(Option::flatten)
        };
        self.0.read("password", job).await
    }

    async fn put_password(&self, user: UserId, hash: &str, now: Timestamp) -> Result<bool, StoreError> {
        let hash = hash.to_owned();
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "UPDATE users SET password = ?2, updated_ms = ?3 WHERE id = ?1 AND deleted_ms IS NULL",
            )?
            .execute(params![id(user.get()), hash, now.as_millis()])
            .map(|changed| changed > 0)
        };
        self.0.write("put password", job).await
    }

    async fn replace_password(
        &self,
        user: UserId,
        old: &str,
        new: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (old, new) = (old.to_owned(), new.to_owned());
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "UPDATE users SET password = ?3, updated_ms = ?4 WHERE id = ?1 AND password = ?2",
            )?
            .execute(params![id(user.get()), old, new, now.as_millis()])
            .map(|changed| changed > 0)
        };
        self.0.write("replace password", job).await
    }

    async fn put_rights(
        &self,
        user: UserId,
        change: &RightsChange,
        last: LastOperator,
        now: Timestamp,
    ) -> Result<RightsOutcome, StoreError> {
        let change = change.clone();
        self.0.write("put rights", move |conn| put_rights(conn, user, &change, last, now)).await
    }

    async fn put_phone(
        &self,
        user: UserId,
        from: &Phone,
        to: &Phone,
        now: Timestamp,
    ) -> Result<PhoneOutcome, StoreError> {
        let (from, to) = (from.clone(), to.clone());
        let job = move |conn: &Connection| {
            if by_id(conn, user)?.is_none_or(|user| user.deleted.is_some() || user.phone != from) {
                return Ok(PhoneOutcome::NotFound);
            }
            if by_phone(conn, &to)?.is_some_and(|other| other.id != user) {
                return Ok(PhoneOutcome::Taken);
            }
            conn.prepare_cached("UPDATE users SET phone = ?2, updated_ms = ?3 WHERE id = ?1")?
                .execute(params![id(user.get()), to.as_str(), now.as_millis()])?;
            Ok(PhoneOutcome::Changed)
        };
        self.0.write("put phone", job).await
    }

    async fn those(&self, users: &[UserId]) -> Result<Vec<User>, StoreError> {
        let users = users.to_vec();
        let job =
            move |conn: &Connection| users.iter().filter_map(|user| by_id(conn, *user).transpose()).collect();
        self.0.read("users by id", job).await
    }

    async fn list(&self, filter: &UserFilter, page: Page) -> Result<Vec<User>, StoreError> {
        let (sql, values) = search(filter, page);
        let job = move |conn: &Connection| {
            conn.prepare_cached(&sql)?.query_map(params_from_iter(values), user)?.collect()
        };
        self.0.read("users", job).await
    }
}

/// Returns the query for a filter, and its values.
fn search(filter: &UserFilter, page: Page) -> (String, Vec<Value>) {
    let UserFilter { phone, name, role, blocked } = filter;
    let mut values = vec![Value::from(page.size()), Value::from(id(page.skipped()))];
    // Literals for role and block let SQLite use its partial indexes.
    let mut clauses = vec![match role {
        None => "1 = 1".to_owned(),
        Some(Role::Customer) => "role = 0".to_owned(),
        Some(Role::Operator) => "role = 1".to_owned(),
    }];
    if *blocked {
        clauses.push("blocked_ms IS NOT NULL".to_owned());
    }
    if !phone.is_empty() {
        // Phone numbers consist of digits, and `:` sorts right after the digits.
        clauses.push(format!("phone >= ?{} AND phone < ?{}", values.len() + 1, values.len() + 2));
        values.extend([Value::from(phone.clone()), Value::from(format!("{phone}:"))]);
    }
    if !name.is_empty() {
        clauses.push(format!("nick_name LIKE ?{} ESCAPE '!'", values.len() + 1));
        values.push(Value::from(holding(name)));
    }
    (format!("{SELECT} WHERE {} ORDER BY id LIMIT ?1 OFFSET ?2", clauses.join(" AND ")), values)
}

fn put_rights(
    conn: &Connection,
    who: UserId,
    change: &RightsChange,
    last: LastOperator,
    now: Timestamp,
) -> rusqlite::Result<RightsOutcome> {
    let was = by_id(conn, who)?.filter(|user| user.deleted.is_none());
    let Some(was) = was else { return Ok(RightsOutcome::NoSuchUser) };
    let is = change.of(&was, now);
    let leaves = was.acts() && !is.acts();
    if leaves && last == LastOperator::Stays && !has_other_operator(conn, who)? {
        return Ok(RightsOutcome::LastOperator);
    }
    let (since, reason) = is.blocked.as_ref().map(|block| (block.since.as_millis(), &block.reason)).unzip();
    conn.prepare_cached(
        "UPDATE users SET role = ?2, blocked_ms = ?3, block_reason = ?4, updated_ms = ?5 WHERE id = ?1",
    )?
    .execute(params![id(who.get()), is.role.number(), since, reason, now.as_millis()])?;
    Ok(RightsOutcome::Done(is))
}

/// Returns whether the mall has an active operator other than this user.
pub(super) fn has_other_operator(conn: &Connection, than: UserId) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM users WHERE role = 1 AND blocked_ms IS NULL AND id <> ?1 LIMIT 1")?
        .exists([id(than.get())])
}

fn by_id(conn: &Connection, who: UserId) -> rusqlite::Result<Option<User>> {
    conn.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?.query_row([id(who.get())], user).optional()
}

fn by_phone(conn: &Connection, phone: &Phone) -> rusqlite::Result<Option<User>> {
    conn.prepare_cached(&format!("{SELECT} WHERE phone = ?1"))?.query_row([phone.as_str()], user).optional()
}

/// Inserts or replaces an imported card, credits and level included.
pub(super) fn put_card_row(
    conn: &Connection,
    user: UserId,
    card: &Profile,
    now: Timestamp,
) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO user_info (user_id, city, introduce, gender, birthday, credits, level, updated_ms)
         VALUES (:user, :city, :introduce, :gender, :birthday, :credits, :level, :now)
         ON CONFLICT (user_id) DO UPDATE SET city = excluded.city, introduce = excluded.introduce,
           gender = excluded.gender, birthday = excluded.birthday, credits = excluded.credits,
           level = excluded.level, updated_ms = excluded.updated_ms",
    )?
    .execute(named_params! {
        ":user": id(user.get()),
        ":city": card.city,
        ":introduce": card.introduce,
        ":gender": card.gender,
        ":birthday": card.birthday,
        ":credits": i64::try_from(card.credits).map_err(|error| {
            rusqlite::Error::ToSqlConversionFailure(error.into())
        })?,
        ":level": card.level,
        ":now": now.as_millis(),
    })
    .map(drop)
}

fn user(row: &Row<'_>) -> rusqlite::Result<User> {
    let (phone, deleted) = (row.get::<_, String>(1)?, get_time_if_any(row, 8)?);
    Ok(User {
        id: UserId::new(get_id(row, 0)?),
        phone: match deleted {
            Some(_) => Phone::of_deleted_user(),
            None => Phone::parse(&phone).ok_or_else(|| unreadable(1, "a phone"))?,
        },
        nick_name: row.get(2)?,
        icon: row.get(3)?,
        role: get_known(row, 4)?,
        created: get_time(row, 5)?,
        blocked: match get_time_if_any(row, 6)? {
            Some(since) => Some(Block { since, reason: row.get::<_, Option<_>>(7)?.unwrap_or_default() }),
            None => None,
        },
        deleted,
        second_factor: get_time_if_any(row, 9)?,
    })
}

/// Reads a card. All columns are missing for a user without a card.
fn card(row: &Row<'_>) -> rusqlite::Result<Profile> {
    let Some(city) = row.get(0)? else { return Ok(Profile::default()) };
    Ok(Profile {
        city,
        introduce: row.get(1)?,
        gender: row.get(2)?,
        birthday: row.get(3)?,
        credits: get_count(row, 4)?,
        level: row.get(5)?,
        set_level: row.get(6)?,
    })
}
