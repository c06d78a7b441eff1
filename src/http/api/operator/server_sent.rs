//! Server-sent events for operators: an endless response whose reader keeps role and session.
//!
//! A browser's `EventSource` cannot send a header, and a token in the URL would end up in logs and histories.
//! The calls therefore read the token from the header like every other call, and a page uses `fetch` with a
//! streaming body.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::response::{IntoResponse, Response};
use http_body_util::channel::{Channel, Sender};
use hyper::body::Frame;
use schemars::JsonSchema;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::http::App;
use crate::http::describe::{Operation, Output, Schemas};
use crate::http::response::error::ApiError;
use crate::mall::{Failure, Refusal};

/// Number of intervals without a read before a listener is disconnected.
const UNREAD_INTERVALS_MAX: u32 = 10;

/// Places of concurrent listeners, until the mall stops.
#[derive(Clone)]
pub(super) struct Places {
    places: Arc<Semaphore>,
    stop: CancellationToken,
}

impl Places {
    /// Creates `places` places.
    pub(super) fn new(places: usize, stop: CancellationToken) -> Self {
        Self { places: Arc::new(Semaphore::new(places)), stop }
    }

    /// Begins a response with the events of `source`, until the mall stops, the reader goes, or the session
    /// of `token` ends.
    ///
    /// # Errors
    /// [`Refusal::Busy`] while all places are taken.
    pub(super) fn listen<T>(
        &self,
        app: App,
        token: Option<String>,
        source: impl EventSource + 'static,
    ) -> Result<ServerSent<T>, ApiError> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Refusal::Busy)?;
        // A channel of one event: while the last event waits, no further event is generated.
        let (sender, body) = Channel::new(1);
        let (token, stop) = (token.unwrap_or_default(), self.stop.clone());
        tokio::spawn(Listener { app, stop, token, sender, _place: place }.run(source));
        Ok(ServerSent(Body::new(body), PhantomData))
    }
}

/// Source of a listener's events.
pub(super) trait EventSource: Send {
    /// Returns the events of an interval, in the form of `text/event-stream`; empty if there is nothing to
    /// say.
    fn events(&mut self) -> impl Future<Output = Bytes> + Send;
}

/// An endless body of events with `data` as JSON of type `T`.
pub(super) struct ServerSent<T>(Body, PhantomData<fn() -> T>);

impl<T> IntoResponse for ServerSent<T> {
    fn into_response(self) -> Response {
        let headers = [
            (CONTENT_TYPE, "text/event-stream"),
            (CACHE_CONTROL, "no-store"),
            // nginx would buffer events.
            (HeaderName::from_static("x-accel-buffering"), "no"),
        ];
        (headers, self.0).into_response()
    }
}

impl<T: JsonSchema> Output for Result<ServerSent<T>, ApiError> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = json!({
            "type": "string",
            "description": "Events with `data` as JSON of the schema `x-data`; the last event is named `end` and has a `code`",
            "x-data": schemas.written::<T>(),
        });
        let response = json!({
            "description": "Events, until the mall stops or the caller loses the role or the session",
            "content": { "text/event-stream": { "schema": schema } },
        });
        operation.responds(StatusCode::OK, response);
    }
}

/// A connected listener.
struct Listener {
    app: App,
    stop: CancellationToken,
    token: String,
    sender: Sender<Bytes>,
    _place: OwnedSemaphorePermit,
}

/// Reason for the end of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EndReason {
    /// The mall stops.
    Stopping,
    /// The session has ended.
    NotLoggedIn,
    /// The user is no longer an operator.
    Forbidden,
    /// The listener disconnected, or does not read.
    Away,
}

impl Listener {
    async fn run(mut self, mut source: impl EventSource) {
        let every = self.app.context.settings.live_every;
        let mut ticks = tokio::time::interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stop = self.stop.clone();
        let ended = loop {
            tokio::select! {
                () = stop.cancelled() => break EndReason::Stopping,
                _ = ticks.tick() => {}
            }
            if let Some(ended) = self.is_ended().await {
                break ended;
            }
            let events = tokio::select! {
                () = stop.cancelled() => break EndReason::Stopping,
                events = source.events() => events,
            };
            if events.is_empty() {
                continue;
            }
            let handed_over = hand_over(&mut self.sender, events, every * UNREAD_INTERVALS_MAX);
            tokio::select! {
                () = stop.cancelled() => break EndReason::Stopping,
                handed_over = handed_over => if !handed_over { break EndReason::Away },
            }
        };
        let code = match ended {
            EndReason::Stopping => "STOPPING",
            EndReason::NotLoggedIn => "NOT_LOGGED_IN",
            EndReason::Forbidden => "FORBIDDEN",
            EndReason::Away => return,
        };
        // A listener with an unread event misses this event.
        let event = format!("event: end\ndata: {{\"code\":\"{code}\"}}\n\n");
        let _ = self.sender.try_send(Frame::data(Bytes::from(event)));
    }

    /// Returns why the stream has to end, if so. Checks session and role on every interval, without extending
    /// the session: an open page would stay logged in for ever. While the store is unavailable, listeners
    /// stay connected.
    async fn is_ended(&self) -> Option<EndReason> {
        let accounts = &self.app.accounts;
        let standing: Result<_, Failure> = async {
            let now = self.app.context.now();
            let Some(session) = accounts.unextended_session(&self.token, now).await? else {
                return Ok(Some(EndReason::NotLoggedIn));
            };
            Ok(match accounts.operator_refusal(&session, now).await? {
                None => None,
                Some(Refusal::NotLoggedIn) => Some(EndReason::NotLoggedIn),
                Some(_) => Some(EndReason::Forbidden),
            })
        }
        .await;
        standing.unwrap_or(None)
    }
}

/// Returns whether the listener took the event in time.
async fn hand_over(sender: &mut Sender<Bytes>, event: Bytes, patience: Duration) -> bool {
    matches!(tokio::time::timeout(patience, sender.send_data(event)).await, Ok(Ok(())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_does_not_read_is_let_go_and_nothing_piles_up() {
        let patience = Duration::from_millis(20);
        let (mut sender, body) = Channel::<Bytes>::new(1);
        let event = || Bytes::from_static(b"data: 1\n\n");
        assert!(hand_over(&mut sender, event(), patience).await);
        assert!(!hand_over(&mut sender, event(), patience).await, "the first one still waits");
        drop(body);
        assert!(!hand_over(&mut sender, event(), Duration::from_secs(9)).await, "gone away");
    }
}
