//! Why a measurement failed.

use std::io;

use mallbox_bench_servers::ServerError;
use mallbox_storage::{OpenError, StoreError};

/// Why a measurement failed.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A port returned an error.
    #[error("a port failed: {0}")]
    Store(#[from] StoreError),
    /// A mall could not be opened.
    #[error("cannot open a mall: {0}")]
    Open(#[from] OpenError),
    /// Redis refused a command or could not be reached.
    #[error("Redis: {0}")]
    Redis(#[from] redis::RedisError),
    /// MySQL refused a statement or could not be reached.
    #[error("MySQL: {0}")]
    Mysql(#[from] mysql_async::Error),
    /// The URL of a MySQL is invalid.
    #[error("the URL of MySQL: {0}")]
    MysqlUrl(#[from] mysql_async::UrlError),
    /// SQLite refused a statement.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A server of the bench could not be started.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A file or a process could not be used.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A file of the bench cannot be read.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A task ended before its work.
    #[error("a task ended early: {0}")]
    Task(#[from] tokio::task::JoinError),
    /// The results of a back end are wrong, or a setting cannot be used.
    #[error("{0}")]
    Wrong(String),
}

/// Returns an error unless `is_right`; `what` says what is wrong.
pub fn ensure(is_right: bool, what: impl FnOnce() -> String) -> Result<(), BenchError> {
    if is_right { Ok(()) } else { Err(BenchError::Wrong(what())) }
}
