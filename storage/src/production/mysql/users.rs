//! [`Users`] in the record.

use async_trait::async_trait;
use mysql_async::{Conn, params};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::job::run;
use super::trouble::Fault;
use crate::{Card, Page, Phone, Role, StoreError, Timestamp, User, UserId, Users};

pub(super) struct MysqlUsers(pub(super) Database);

/// Every query for users begins with it; [`user`] reads it.
const SELECT: &str = "SELECT id, phone, nick_name, icon, role, created_ms FROM users";

#[async_trait]
impl Users for MysqlUsers {
    async fn find_or_create(
        &self,
        phone: &Phone,
        nick_name: &str,
        now: Timestamp,
    ) -> Result<User, StoreError> {
        let op = "find or create user";
        // Nearly everybody who logs in is known.
        if let Some(user) = self.by_phone(phone).await? {
            return Ok(user);
        }
        self.0
            .write_at_once(op, |conn| {
                run(async move {
                    match create(conn, phone, nick_name, now).await {
                        // Somebody else was quicker.
                        Err(fault) if fault.is_taken_key() => by_phone(conn, phone)
                            .await?
                            .ok_or_else(|| Fault::refused("the phone is taken and free at once")),
                        made => made,
                    }
                })
            })
            .await
    }

    async fn get(&self, which: UserId) -> Result<Option<User>, StoreError> {
        self.0
            .read("user", |conn| {
                run(async move { first(conn, format!("{SELECT} WHERE id = ?"), (which.get(),), user).await })
            })
            .await
    }

    async fn by_phone(&self, phone: &Phone) -> Result<Option<User>, StoreError> {
        self.0.read("user by phone", |conn| run(async move { by_phone(conn, phone).await })).await
    }

    async fn card(&self, which: UserId) -> Result<Option<Card>, StoreError> {
        let sql = "SELECT city, introduce, gender, birthday, credits, level
                   FROM users LEFT JOIN user_info ON user_id = id WHERE id = ?";
        self.0.read("card", |conn| run(async move { first(conn, sql, (which.get(),), card).await })).await
    }

    async fn put_card(
        &self,
        user: UserId,
        nick_name: &str,
        icon: &str,
        card: &Card,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.0
            .write("put card", |conn| {
                run(async move {
                    let sql = "UPDATE users SET nick_name = ?, icon = ?, updated_ms = ? WHERE id = ?";
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
            .0
            .read("password", |conn| {
                run(async move { first(conn, sql, (user.get(),), Columns::next::<Option<String>>).await })
            })
            .await?
            .flatten())
    }

    async fn put_password(&self, user: UserId, hash: &str, now: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE users SET password = ?, updated_ms = ? WHERE id = ?";
        Ok(self
            .0
            .write_at_once("put password", |conn| {
                run(async move { execute(conn, sql, (hash, now.as_millis(), user.get())).await })
            })
            .await?
            > 0)
    }

    async fn put_role(&self, user: UserId, role: Role, now: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE users SET role = ?, updated_ms = ? WHERE id = ?";
        Ok(self
            .0
            .write_at_once("put role", |conn| {
                run(async move { execute(conn, sql, (role_number(role), now.as_millis(), user.get())).await })
            })
            .await?
            > 0)
    }

    async fn list(&self, role: Option<Role>, page: Page) -> Result<Vec<User>, StoreError> {
        let filter = if role.is_some() { "role = :role" } else { ":role IS NULL" };
        let sql: &str = &format!("{SELECT} WHERE {filter} ORDER BY id LIMIT :size OFFSET :skipped");
        self.0
            .read("users", |conn| {
                run(async move {
                    let params = params! {
                        "role" => role.map(role_number), "size" => page.size(), "skipped" => page.skipped(),
                    };
                    all(conn, sql, params, user).await
                })
            })
            .await
    }
}

/// An id that was drawn for a phone that turns out to be taken is left out.
async fn create(conn: &mut Conn, phone: &Phone, nick_name: &str, now: Timestamp) -> Result<User, Fault> {
    let sql =
        "INSERT INTO users (phone, nick_name, icon, role, created_ms, updated_ms) VALUES (?, ?, '', ?, ?, ?)";
    let (role, created) = (Role::Customer, now.as_millis());
    execute(conn, sql, (phone.as_str(), nick_name, role_number(role), created, created)).await?;
    let id = UserId::new(conn.last_insert_id().unwrap_or_default());
    let (phone, nick_name, icon) = (phone.clone(), nick_name.to_owned(), String::new());
    Ok(User { id, phone, nick_name, icon, role, created: now })
}

async fn by_phone(conn: &mut Conn, phone: &Phone) -> Result<Option<User>, Fault> {
    first(conn, format!("{SELECT} WHERE phone = ?"), (phone.as_str(),), user).await
}

async fn put_card(conn: &mut Conn, user: UserId, card: &Card, now: Timestamp) -> Result<(), Fault> {
    let sql = "INSERT INTO user_info (user_id, city, introduce, gender, birthday, credits, level, updated_ms)
               VALUES (:user, :city, :introduce, :gender, :birthday, :credits, :level, :now)
               ON DUPLICATE KEY UPDATE city = :city, introduce = :introduce, gender = :gender, birthday = :birthday,
                 credits = :credits, level = :level, updated_ms = :now";
    let params = params! {
        "user" => user.get(),
        "city" => &card.city,
        "introduce" => &card.introduce,
        "gender" => card.gender,
        "birthday" => &card.birthday,
        "credits" => card.credits,
        "level" => card.level,
        "now" => now.as_millis(),
    };
    execute(conn, sql, params).await.map(drop)
}

fn user(row: &mut Columns) -> Result<User, Fault> {
    Ok(User {
        id: UserId::new(row.next()?),
        phone: Phone::parse(&row.next::<String>()?).ok_or_else(|| row.unreadable_last("no phone"))?,
        nick_name: row.next()?,
        icon: row.next()?,
        role: row.known(|number| match number {
            0 => Some(Role::Customer),
            1 => Some(Role::Operator),
            _ => None,
        })?,
        created: row.time()?,
    })
}

/// All columns are missing for a user who has told nothing.
fn card(row: &mut Columns) -> Result<Card, Fault> {
    let Some(city) = row.next()? else { return Ok(Card::default()) };
    Ok(Card {
        city,
        introduce: row.next()?,
        gender: row.next()?,
        birthday: row.next()?,
        credits: row.count()?,
        level: row.next()?,
    })
}

fn role_number(role: Role) -> i64 {
    match role {
        Role::Customer => 0,
        Role::Operator => 1,
    }
}
