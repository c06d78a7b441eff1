//! Why an experiment failed, as opposed to a verdict that differs.

use std::io;

use mallbox_bench_servers::ServerError;
use mallbox_storage::{OpenError, StoreError};

/// Why an experiment failed.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// A port of mallbox returned an error.
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
    /// A server of the bench could not be started.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A file or a process could not be used.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A command or an event of a station cannot be read.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A task ended before its work.
    #[error("a task ended early: {0}")]
    Task(#[from] tokio::task::JoinError),
    /// A station, or the setup of an experiment, did not do its part.
    #[error("{0}")]
    Broken(String),
}

/// Returns an error that says what is broken.
pub(crate) fn broken(what: impl Into<String>) -> QueueError {
    QueueError::Broken(what.into())
}
