//! One connection: hyper with timeouts for slow and idle clients.
//!
//! Reasons and figures: `src/decisions/0035-greedy-connections.md`.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use hyper::body::{Frame, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::front::Gateway;

/// Timeouts of a connection.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionTimeouts {
    /// Time from a request's first byte to the end of its head; for the first request, from the connection's
    /// begin.
    pub head: Duration,
    /// Idle timeout: no byte in either direction, and no request in progress.
    pub idle: Duration,
    /// Time for which a reader may take nothing of a response, or lag behind `min_bytes_per_s`.
    pub stall: Duration,
    /// The rate below which a reader lags while parts of a response wait.
    pub min_bytes_per_s: u32,
}

impl Default for ConnectionTimeouts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            stall: Duration::from_secs(30),
            // A tenth of the slowest mobile network in use.
            min_bytes_per_s: 1024,
        }
    }
}

/// Time for which a stopping server waits for the first request of a client that has just connected.
const FIRST_REQUEST_WAIT: Duration = Duration::from_secs(2);

/// Maximum size of a request head: a token and a few headers fit many times over.
const HEAD_MAX_BYTES: usize = 16 * 1024;

/// Maximum bytes per write, and the system's limit on unsent bytes: the steps in which a slow reader makes
/// progress.
pub(super) const WRITE_MAX_BYTES: u32 = 16 * 1024;

/// Serves one connection until it ends, or until `stop`: then finishes the request in flight, or the first
/// one of a new connection, and accepts no further request. [`ConnectionState::close`] ends an idle
/// connection at once.
pub(in crate::http) async fn serve<S>(
    stream: S,
    front: Gateway,
    patience: ConnectionTimeouts,
    stop: CancellationToken,
    state: &Arc<ConnectionState>,
) where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let in_service = state.clone();
    let service = service_fn(move |request| {
        let (front, state) = (front.clone(), in_service.clone());
        state.begin();
        async move {
            let mut answer = front.respond(request).await;
            if state.is_stopping.load(Relaxed) {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            state.end();
            Ok::<_, std::convert::Infallible>(answer.map(|body| SentBody { body, state }))
        }
    });
    let connection = http1::Builder::new()
        .max_header_size(HEAD_MAX_BYTES)
        // A client that has closed its sending half still waits for the response.
        .half_close(true)
        // hyper's own timer restarts with each request, and would close connections that are merely idle.
        .header_read_timeout(None)
        // Responses of the API are small: copying a body behind the head is cheaper than a vectored write of
        // two parts.
        .writev(false)
        .serve_connection(
            TokioIo::new(TimedStream {
                stream,
                state: state.clone(),
                min_bytes_per_s: patience.min_bytes_per_s,
            }),
            service,
        );
    let mut connection = pin!(connection);
    let mut stopped = pin!(stop.cancelled());
    let mut stopping = false;
    let mut first_request = None;
    let mut closing = pin!(state.closing.notified());
    let mut is_closing = false;
    let look = patience.head.min(patience.idle).min(patience.stall) / 2;
    let mut timer = pin!(tokio::time::sleep(look));
    std::future::poll_fn(|cx| {
        if !stopping && (first_request.is_some() || stopped.as_mut().poll(cx).is_ready()) {
            state.is_stopping.store(true, Relaxed);
            let wait = first_request.get_or_insert_with(|| Box::pin(tokio::time::sleep(FIRST_REQUEST_WAIT)));
            if !state.is_new() || wait.as_mut().poll(cx).is_ready() {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
        // A broken connection or a malformed request ends here; hyper has already responded where possible.
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        if !is_closing && closing.as_mut().poll(cx).is_ready() {
            is_closing = true;
            if state.is_idle() {
                return Poll::Ready(());
            }
            // A request arrived meanwhile: the connection ends with its response.
            connection.as_mut().graceful_shutdown();
            cx.waker().wake_by_ref();
        }
        while timer.as_mut().poll(cx).is_ready() {
            if state.is_timed_out(patience) {
                return Poll::Ready(());
            }
            timer.as_mut().reset(tokio::time::Instant::now() + look);
        }
        Poll::Pending
    })
    .await;
}

/// State of a connection. Times are milliseconds since the connection was accepted; 0 = none.
pub(in crate::http) struct ConnectionState {
    made: Instant,
    /// Time of the last byte in either direction.
    moved: AtomicU32,
    /// Start of the head being read.
    head_since: AtomicU32,
    /// Requests in progress: 0 or 1.
    working: AtomicU32,
    /// Response bodies in progress: 0 or 1.
    sending: AtomicU32,
    /// Start of a write that waits for the reader.
    blocked_since: AtomicU32,
    /// Milliseconds by which the reader lags behind the minimum rate, up to the last write.
    lag: AtomicU32,
    /// Notified to close the connection.
    closing: Notify,
    /// Whether the server stops: the next response is the last one.
    is_stopping: AtomicBool,
}

impl Default for ConnectionState {
    fn default() -> Self {
        let zero = || AtomicU32::new(0);
        Self {
            made: Instant::now(),
            moved: zero(),
            // The first head is awaited from the begin.
            head_since: AtomicU32::new(1),
            working: zero(),
            sending: zero(),
            blocked_since: zero(),
            lag: zero(),
            closing: Notify::new(),
            is_stopping: AtomicBool::new(false),
        }
    }
}

impl ConnectionState {
    /// Asks the connection to close: at once if idle, else after the request in progress.
    pub(super) fn close(&self) {
        self.closing.notify_one();
    }

    /// Returns whether no request is in progress and no response is being sent.
    pub(super) fn is_idle(&self) -> bool {
        [&self.working, &self.sending, &self.blocked_since].iter().all(|busy| busy.load(Relaxed) == 0)
    }

    /// Returns whether no byte was transferred yet.
    fn is_new(&self) -> bool {
        self.moved.load(Relaxed) == 0
    }

    /// Returns the time of the last byte in either direction, or of the connection's begin.
    pub(super) fn active_at(&self) -> Instant {
        self.made + Duration::from_millis(self.moved.load(Relaxed).into())
    }

    /// Returns the milliseconds since the connection was accepted: at least 1, saturating after 49 days,
    /// longer than any timeout.
    fn now(&self) -> u32 {
        u32::try_from(self.made.elapsed().as_millis()).unwrap_or(u32::MAX).max(1)
    }

    /// Marks the end of a head.
    pub(super) fn begin(&self) {
        self.head_since.store(0, Relaxed);
        self.working.store(1, Relaxed);
        self.sending.store(1, Relaxed);
    }

    /// Marks the end of a request: the response head is ready. The body may still be in flight, and its bytes
    /// count as activity.
    pub(super) fn end(&self) {
        self.working.store(0, Relaxed);
    }

    /// Marks the end of a response's body.
    pub(super) fn has_sent(&self) {
        self.sending.store(0, Relaxed);
    }

    pub(super) fn has_read(&self) {
        let now = self.now();
        self.moved.store(now, Relaxed);
        if self.working.load(Relaxed) == 0 && self.head_since.load(Relaxed) == 0 {
            self.head_since.store(now, Relaxed);
        }
    }

    /// Records the result of a write, for the reader's rate. Only the time of waiting writes counts: a stream
    /// of events without an event does not lag.
    fn has_written(&self, written: &Poll<io::Result<usize>>, min_bytes_per_s: u32) {
        let now = self.now();
        match written {
            Poll::Pending if self.blocked_since.load(Relaxed) == 0 => self.blocked_since.store(now, Relaxed),
            Poll::Ready(Ok(bytes @ 1..)) => {
                self.moved.store(now, Relaxed);
                let lag = self.lag_ms(now);
                if lag > 0 {
                    let earned = *bytes as u64 * 1000 / u64::from(min_bytes_per_s.max(1));
                    self.lag.store(lag.saturating_sub(u32::try_from(earned).unwrap_or(u32::MAX)), Relaxed);
                }
                self.blocked_since.store(0, Relaxed);
            }
            _ => {}
        }
    }

    /// Returns the milliseconds by which the reader lags behind the minimum rate.
    fn lag_ms(&self, now: u32) -> u32 {
        let waits = match self.blocked_since.load(Relaxed) {
            0 => 0,
            since => now.saturating_sub(since),
        };
        self.lag.load(Relaxed).saturating_add(waits)
    }

    fn is_timed_out(&self, patience: ConnectionTimeouts) -> bool {
        let since = |then: u32| Duration::from_millis(u64::from(self.now().saturating_sub(then)));
        let head_since = self.head_since.load(Relaxed);
        u128::from(self.lag_ms(self.now())) >= patience.stall.as_millis()
            || (head_since != 0 && since(head_since) >= patience.head)
            || (self.working.load(Relaxed) == 0 && since(self.moved.load(Relaxed)) >= patience.idle)
    }
}

/// A stream that records the time of every transferred byte.
struct TimedStream<S> {
    stream: S,
    state: Arc<ConnectionState>,
    min_bytes_per_s: u32,
}

/// A response body that tells the connection's state when it ends.
struct SentBody {
    body: Body,
    state: Arc<ConnectionState>,
}

impl hyper::body::Body for SentBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for SentBody {
    fn drop(&mut self) {
        self.state.has_sent();
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.state.has_read();
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let most = bytes.len().min(WRITE_MAX_BYTES as usize);
        let polled = Pin::new(&mut self.stream).poll_write(cx, &bytes[..most]);
        self.state.has_written(&polled, self.min_bytes_per_s);
        polled
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.state.has_written(&polled, self.min_bytes_per_s);
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
