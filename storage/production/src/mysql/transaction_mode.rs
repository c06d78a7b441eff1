//! Transaction modes of jobs.

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use super::errors::MysqlError;
use super::job::Job;

/// The transaction mode of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TransactionMode {
    /// A read, outside a transaction. May be retried after a lost connection.
    Read,
    /// A write of a single statement.
    Statement,
    /// Writes in a transaction.
    Transaction,
    /// Reads in a consistent snapshot.
    Snapshot,
}

impl TransactionMode {
    /// Whether the mode permits writes.
    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Statement | Self::Transaction)
    }

    /// Runs the job once.
    pub(super) async fn run<'a, T>(self, conn: &mut Conn, job: &impl Job<'a, T>) -> Result<T, MysqlError> {
        match self {
            Self::Read | Self::Statement => return job(conn).await,
            Self::Transaction => conn.query_drop("START TRANSACTION").await?,
            Self::Snapshot => {
                // Applies only to the next transaction.
                conn.query_drop("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").await?;
                conn.query_drop("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").await?;
            }
        }
        let done = job(conn).await;
        match &done {
            Ok(_) => conn.query_drop("COMMIT").await?,
            // The server rolls back when the connection in unknown state is closed.
            Err(fault) if fault.leaves_connection_unusable() => {}
            Err(_) => conn.query_drop("ROLLBACK").await?,
        }
        done
    }
}
