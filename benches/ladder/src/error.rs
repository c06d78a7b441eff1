//! Why a request, or a run, failed.

use std::io;

use mallbox_bench_servers::ServerError;

/// Why a request, or a run, failed.
#[derive(Debug, thiserror::Error)]
pub enum LadderError {
    /// Redis refused a command or could not be reached.
    #[error("Redis: {0}")]
    Redis(#[from] redis::RedisError),
    /// MySQL refused a statement or could not be reached.
    #[error("MySQL: {0}")]
    Mysql(#[from] mysql_async::Error),
    /// The URL of a MySQL is invalid.
    #[error("the URL of MySQL: {0}")]
    MysqlUrl(#[from] mysql_async::UrlError),
    /// A server of the bench could not be started.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A process could not be started, or a pipe could not be used.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A system call failed.
    #[error(transparent)]
    System(#[from] rustix::io::Errno),
    /// A line between processes cannot be read.
    #[error("a line between processes: {0}")]
    Json(#[from] serde_json::Error),
    /// The run did not reach the situation that its trigger needs.
    #[error("{0}")]
    NotReached(String),
}

impl LadderError {
    /// Whether the database ended the transaction because of a deadlock.
    pub(crate) fn is_deadlock(&self) -> bool {
        const DEADLOCK: u16 = 1_213;
        matches!(self, Self::Mysql(mysql_async::Error::Server(error)) if error.code == DEADLOCK)
    }
}

impl From<redis::ParsingError> for LadderError {
    fn from(error: redis::ParsingError) -> Self {
        Self::Redis(error.into())
    }
}
