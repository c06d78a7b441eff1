//! The record as a whole: settings, how it is, and its end.

use super::columns::{Columns, execute, first};
use super::database::Database;
use super::job::run;
use crate::{CircuitHealth, Durability, StoreError};

/// Settings, health and the end of the record.
#[derive(Clone)]
pub struct MysqlUpkeep {
    pub(super) database: Database,
    pub(super) address: String,
    pub(super) durability: Durability,
}

impl MysqlUpkeep {
    /// Where it is, without user and password.
    #[must_use]
    pub fn address(&self) -> String {
        self.address.clone()
    }

    /// What the server's answers are worth when its machine goes, by its own settings.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// What does not work at present, in words for the operator: asks the server.
    pub async fn trouble(&self) -> Option<String> {
        self.database.trouble().await
    }

    /// The circuit breaker before it.
    #[must_use]
    pub fn circuit(&self) -> CircuitHealth {
        self.database.circuit()
    }

    /// A setting; `None` if it was never stored.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    pub async fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT value FROM settings WHERE name = ?";
        self.database
            .read("setting", |conn| {
                run(async move { first(conn, sql, (name,), Columns::next::<String>).await })
            })
            .await
    }

    /// Stores a setting.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    pub async fn put_setting(&self, name: &str, value: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO settings (name, value) VALUES (?, ?) ON DUPLICATE KEY UPDATE value = ?";
        self.database
            .write_at_once("put setting", |conn| {
                run(async move { execute(conn, sql, (name, value, value)).await.map(drop) })
            })
            .await
    }

    /// Stores a setting unless there is one; answers the one that stands.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    pub async fn keep_setting(&self, name: &str, value: &str) -> Result<String, StoreError> {
        // Of two at once the second waits for the first, and its update changes nothing.
        let keep = "INSERT INTO settings (name, value) VALUES (?, ?) ON DUPLICATE KEY UPDATE value = value";
        let read = "SELECT value FROM settings WHERE name = ?";
        self.database
            .write("keep setting", |conn| {
                run(async move {
                    execute(conn, keep, (name, value)).await?;
                    let kept = first(conn, read, (name,), Columns::next::<String>).await?;
                    Ok(kept.unwrap_or_else(|| value.to_owned()))
                })
            })
            .await
    }

    /// Lets go of the server. Calls of any port after it fail.
    ///
    /// # Errors
    /// [`StoreError`]: the good-bye went wrong; what was answered is in the record all the same.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.database.close().await
    }
}
