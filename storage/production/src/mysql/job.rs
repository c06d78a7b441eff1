//! Jobs for the database: closures that return a future, called once per attempt.

use std::marker::PhantomData;
use std::pin::Pin;

use mysql_async::Conn;

use super::errors::MysqlError;

/// A job, called once per attempt.
pub(super) trait Job<'a, T>: for<'c> Fn(&'c mut Conn) -> Run<'a, 'c, T> {}

impl<'a, T, F: for<'c> Fn(&'c mut Conn) -> Run<'a, 'c, T>> Job<'a, T> for F {}

/// A run of a job, on a connection borrowed for `'c`, with the job's own borrows of lifetime `'a`.
pub(super) struct Run<'a, 'c, T> {
    future: Pin<Box<dyn Future<Output = Result<T, MysqlError>> + Send + 'c>>,
    /// Tells the compiler that the job's borrows outlive each loan of the connection. `AsyncFn` cannot yet
    /// express the bound together with `Send`.
    _outlives: PhantomData<&'c &'a ()>,
}

/// Wraps a future as a run.
pub(super) fn boxed<'a, 'c, T>(
    future: impl Future<Output = Result<T, MysqlError>> + Send + 'c,
) -> Run<'a, 'c, T> {
    Run { future: Box::pin(future), _outlives: PhantomData }
}

impl<'c, T> IntoFuture for Run<'_, 'c, T> {
    type Output = Result<T, MysqlError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'c>>;

    fn into_future(self) -> Self::IntoFuture {
        self.future
    }
}
