//! One connection: hyper with timeouts for slow and idle clients.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::front::Gateway;

/// Timeouts of a connection.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionTimeouts {
    /// Time from a request's first byte to the end of its head.
    pub head: Duration,
    /// Idle timeout: no byte in either direction, and no request in progress.
    pub idle: Duration,
}

impl Default for ConnectionTimeouts {
    fn default() -> Self {
        Self { head: Duration::from_secs(10), idle: Duration::from_secs(75) }
    }
}

/// Maximum size of a request head: a token and a few headers fit many times over.
const HEAD_MAX_BYTES: usize = 16 * 1024;

/// Serves one connection until it ends, or until `stop`: then finishes the request in flight and accepts no
/// further request.
pub(in crate::http) async fn serve<S>(
    stream: S,
    front: Gateway,
    patience: ConnectionTimeouts,
    stop: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let state = Arc::new(State::new());
    let in_service = state.clone();
    let service = service_fn(move |request| {
        let (front, state) = (front.clone(), in_service.clone());
        state.begin();
        async move {
            let answer = front.respond(request).await;
            state.end();
            Ok::<_, std::convert::Infallible>(answer)
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
        .serve_connection(TokioIo::new(TimedStream { stream, state: state.clone() }), service);
    let mut connection = pin!(connection);
    let mut stopped = pin!(stop.cancelled());
    let mut stopping = false;
    let look = patience.head.min(patience.idle) / 2;
    let mut timer = pin!(tokio::time::sleep(look));
    std::future::poll_fn(|cx| {
        if !stopping && stopped.as_mut().poll(cx).is_ready() {
            stopping = true;
            connection.as_mut().graceful_shutdown();
        }
        // A broken connection or a malformed request ends here; hyper has already responded where possible.
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
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
struct State {
    made: Instant,
    /// Time of the last byte in either direction.
    moved: AtomicU32,
    /// Start of the head being read.
    head_since: AtomicU32,
    /// Requests in progress: 0 or 1.
    working: AtomicU32,
}

impl State {
    fn new() -> Self {
        let zero = || AtomicU32::new(0);
        Self { made: Instant::now(), moved: zero(), head_since: zero(), working: zero() }
    }

    /// Returns the milliseconds since the connection was accepted: at least 1, saturating after 49 days,
    /// longer than any timeout.
    fn now(&self) -> u32 {
        u32::try_from(self.made.elapsed().as_millis()).unwrap_or(u32::MAX).max(1)
    }

    /// Marks the end of a head.
    fn begin(&self) {
        self.head_since.store(0, Relaxed);
        self.working.store(1, Relaxed);
    }

    /// Marks the end of a request: the response head is ready. The body may still be in flight, and its bytes
    /// count as activity.
    fn end(&self) {
        self.working.store(0, Relaxed);
    }

    fn has_read(&self) {
        let now = self.now();
        self.moved.store(now, Relaxed);
        if self.working.load(Relaxed) == 0 && self.head_since.load(Relaxed) == 0 {
            self.head_since.store(now, Relaxed);
        }
    }

    fn has_written(&self) {
        self.moved.store(self.now(), Relaxed);
    }

    fn is_timed_out(&self, patience: ConnectionTimeouts) -> bool {
        let since = |then: u32| Duration::from_millis(u64::from(self.now().saturating_sub(then)));
        let head_since = self.head_since.load(Relaxed);
        (head_since != 0 && since(head_since) >= patience.head)
            || (self.working.load(Relaxed) == 0 && since(self.moved.load(Relaxed)) >= patience.idle)
    }
}

/// A stream that records the time of every transferred byte.
struct TimedStream<S> {
    stream: S,
    state: Arc<State>,
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
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if let Poll::Ready(Ok(1..)) = polled {
            self.state.has_written();
        }
        polled
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        if let Poll::Ready(Ok(1..)) = polled {
            self.state.has_written();
        }
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
