//! The database as a whole: settings, health and shutdown.

use mallbox_storage::{CircuitHealth, Durability, StoreError};

use super::columns::{Columns, execute, first};
use super::database::Database;
use super::job::boxed;

/// Settings, health and shutdown of the database.
#[derive(Clone)]
pub struct MysqlUpkeep {
    pub(super) database: Database,
    pub(super) address: String,
    pub(super) durability: Durability,
}

impl MysqlUpkeep {
    /// Returns the server's address, without user and password.
    #[must_use]
    pub fn address(&self) -> String {
        self.address.clone()
    }

    /// Returns the durability of an acknowledged commit, given the server's settings.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Returns the present trouble, if any, in words for the operator. Pings the server.
    pub async fn trouble(&self) -> Option<String> {
        self.database.trouble().await
    }

    /// Returns the state of the circuit breaker.
    #[must_use]
    pub fn circuit(&self) -> CircuitHealth {
        self.database.circuit()
    }

    /// Returns a setting; `None` if never stored.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    pub async fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT value FROM settings WHERE name = ?";
        self.database
            .read("setting", |conn| {
                boxed(async move { first(conn, sql, (name,), Columns::next::<String>).await })
            })
            .await
    }

    /// Stores a setting, and overwrites the previous value.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the outcome is in doubt; call again.
    pub async fn put_setting(&self, name: &str, value: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO settings (name, value) VALUES (?, ?) ON DUPLICATE KEY UPDATE value = ?";
        self.database
            .write_at_once("put setting", |conn| {
                boxed(async move { execute(conn, sql, (name, value, value)).await.map(drop) })
            })
            .await
    }

    /// Inserts a setting if absent. Returns the stored value; of concurrent calls the first wins.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    pub async fn keep_setting(&self, name: &str, value: &str) -> Result<String, StoreError> {
        // Of two concurrent calls, the second waits for the first, and its update changes nothing.
        let keep = "INSERT INTO settings (name, value) VALUES (?, ?) ON DUPLICATE KEY UPDATE value = value";
        let read = "SELECT value FROM settings WHERE name = ?";
        self.database
            .write("keep setting", |conn| {
                boxed(async move {
                    execute(conn, keep, (name, value)).await?;
                    let kept = first(conn, read, (name,), Columns::next::<String>).await?;
                    Ok(kept.unwrap_or_else(|| value.to_owned()))
                })
            })
            .await
    }

    /// Closes the connections. Later calls of any port fail.
    ///
    /// # Errors
    /// [`StoreError`]: closing failed; all acknowledged writes are in the database all the same.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.database.close().await
    }
}
