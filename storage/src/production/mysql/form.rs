//! How a job runs: in a transaction or not.

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use super::job::Job;
use super::trouble::Fault;

/// How a job runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// It reads, and may be asked twice.
    Read,
    /// It is one statement.
    Statement,
    /// All it writes is one.
    Transaction,
    /// It reads one state of the record.
    Snapshot,
}

impl Form {
    /// Whether anything may be written.
    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Statement | Self::Transaction)
    }

    /// Runs the job once.
    pub(super) async fn run<'a, T>(self, conn: &mut Conn, job: &impl Job<'a, T>) -> Result<T, Fault> {
        match self {
            Self::Read | Self::Statement => return job(conn).await,
            Self::Transaction => conn.query_drop("START TRANSACTION").await?,
            Self::Snapshot => {
                // For the next transaction alone.
                conn.query_drop("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").await?;
                conn.query_drop("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").await?;
            }
        }
        let done = job(conn).await;
        match &done {
            Ok(_) => conn.query_drop("COMMIT").await?,
            // With a connection of which nobody knows the state, the server undoes it.
            Err(fault) if fault.spoils_connection() => {}
            Err(_) => conn.query_drop("ROLLBACK").await?,
        }
        done
    }
}
