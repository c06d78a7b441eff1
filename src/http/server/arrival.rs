//! Tracks the arrival of a body: when a call times out, tells whether the mall or the client was too slow.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};

use axum::BoxError;
use axum::body::Bytes;
use hyper::body::{Body, Frame, SizeHint};

/// A request body: from a connection, or from within the process.
pub trait Arrives: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static {}

impl<B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static> Arrives for B {}

/// Set while a reader waits for more of a body.
#[derive(Clone, Debug, Default)]
pub(in crate::http) struct Arrival(Arc<AtomicBool>);

impl Arrival {
    /// Returns whether the call is waiting for the client.
    pub(in crate::http) fn is_awaited(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// Wraps a body to track the arrival.
    pub(in crate::http) fn watch<B>(&self, body: B) -> Arriving<B> {
        Arriving { body, arrival: self.clone() }
    }
}

/// A body with a tracked arrival.
pub(in crate::http) struct Arriving<B> {
    body: B,
    arrival: Arrival,
}

impl<B: Body + Unpin> Body for Arriving<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        self.arrival.0.store(polled.is_pending(), Relaxed);
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
