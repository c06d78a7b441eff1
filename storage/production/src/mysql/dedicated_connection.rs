//! A dedicated connection for a transaction over many calls.

use std::time::Duration;

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;
use tokio::time::timeout;

use super::database::{CALL_TIMEOUT, Database};
use super::errors::MysqlError;
use super::job::Job;

/// A dedicated connection, which keeps its state between jobs. The connection is closed, and the server rolls
/// back the transaction, when the value is dropped, when a job fails, and when the future of a job is
/// dropped.
pub(super) struct DedicatedConnection {
    open: Option<Open>,
}

struct Open {
    database: Database,
    conn: Option<Conn>,
}

impl DedicatedConnection {
    /// Opens a dedicated connection.
    pub(super) async fn connect(database: &Database) -> Result<Self, MysqlError> {
        let conn = Some(database.connect_dedicated().await?);
        Ok(Self { open: Some(Open { database: database.clone(), conn }) })
    }

    /// Runs a job once, for at most `limit`. A dead server is detected long before `limit`.
    pub(super) async fn run<'a, T>(
        &mut self,
        limit: Duration,
        job: impl Job<'a, T>,
    ) -> Result<T, MysqlError> {
        let mut open = self.open.take().ok_or(MysqlError::Closed)?;
        let conn = open.conn.as_mut().ok_or(MysqlError::Closed)?;
        timeout(CALL_TIMEOUT, conn.ping()).await.map_err(|_| MysqlError::Silence(CALL_TIMEOUT))??;
        let done = tokio::select! {
            done = timeout(limit, job(conn)) => done.map_err(|_| MysqlError::Silence(limit))?,
            fault = open.database.watch() => Err(fault),
        }?;
        self.open = Some(open);
        Ok(done)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(conn) = self.conn.take() {
            self.database.part(conn);
        }
    }
}
