//! What is handed to the record: a closure that makes a future, as often as it has to be tried.

use std::marker::PhantomData;
use std::pin::Pin;

use mysql_async::Conn;

use super::trouble::Fault;

/// A job: called once a try.
pub(super) trait Job<'a, T>: for<'c> Fn(&'c mut Conn) -> Run<'a, 'c, T> {}

impl<'a, T, F: for<'c> Fn(&'c mut Conn) -> Run<'a, 'c, T>> Job<'a, T> for F {}

/// One run of a job on a connection that is lent for `'c`, with what the job itself has borrowed for `'a`.
pub(super) struct Run<'a, 'c, T> {
    future: Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'c>>,
    /// Tells the compiler that what the job has borrowed outlives each loan, which an `AsyncFn` cannot yet be told
    /// together with `Send`.
    _outlives: PhantomData<&'c &'a ()>,
}

/// Makes one.
pub(super) fn run<'a, 'c, T>(future: impl Future<Output = Result<T, Fault>> + Send + 'c) -> Run<'a, 'c, T> {
    Run { future: Box::pin(future), _outlives: PhantomData }
}

impl<'c, T> IntoFuture for Run<'_, 'c, T> {
    type Output = Result<T, Fault>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'c>>;

    fn into_future(self) -> Self::IntoFuture {
        self.future
    }
}
