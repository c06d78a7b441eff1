//! One connection: dialling, writing a request, reading the response.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::error::Fault;
use super::response::{CompleteResponse, ResponseBuffer};
use super::response_error::ResponseError;

type Dial = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

/// A connection and its request in flight.
pub(super) struct Connection {
    state: State,
    waker: Waker,
    request: Vec<u8>,
    written: usize,
    incoming: ResponseBuffer,
    /// Consecutive faults since the last response.
    faults: u32,
    /// Time of the first fault in the row.
    faulty_since: Instant,
    /// Whether the end of the first dial has been reported.
    dialled: bool,
}

enum State {
    Dialing(Dial),
    /// Open; busy while a request is in flight.
    Open {
        stream: TcpStream,
        busy: bool,
    },
    /// Closed for good.
    Done,
}

/// Result of polling a connection.
pub(super) enum Step {
    /// Nothing to do until the waker fires.
    Wait,
    /// Connected and ready for a request.
    Opened,
    /// The response is complete; the caller must call [`answered`](Connection::answered).
    Answered(CompleteResponse),
    /// The server closed the connection between two requests, as HTTP allows.
    HungUp,
    /// The connection is unusable.
    Failed(Fault),
}

impl Connection {
    /// Starts dialling `address`.
    pub fn new(waker: Waker, address: SocketAddr, timeout: Duration) -> Self {
        Self {
            state: State::Dialing(dial(address, Duration::ZERO, timeout)),
            waker,
            request: Vec::new(),
            written: 0,
            incoming: ResponseBuffer::new(),
            faults: 0,
            faulty_since: Instant::now(),
            dialled: false,
        }
    }

    pub fn is_busy(&self) -> bool {
        matches!(self.state, State::Open { busy: true, .. })
    }

    /// Returns true on the first call after the first dial, false afterwards.
    pub fn first_dial_over(&mut self) -> bool {
        !std::mem::replace(&mut self.dialled, true)
    }

    /// Drops the current stream and dials again after `pause`.
    pub fn redial(&mut self, address: SocketAddr, pause: Duration, timeout: Duration) {
        self.state = State::Dialing(dial(address, pause, timeout));
    }

    /// Closes the connection for good. Returns false if already closed.
    pub fn end(&mut self) -> bool {
        !matches!(std::mem::replace(&mut self.state, State::Done), State::Done)
    }

    /// Returns the cleared buffer for the next request.
    pub fn request(&mut self) -> &mut Vec<u8> {
        self.request.clear();
        &mut self.request
    }

    /// Makes the connection busy with the request, which is written at the next poll.
    pub fn start(&mut self) {
        self.written = 0;
        self.incoming.clear();
        if let State::Open { busy, .. } = &mut self.state {
            *busy = true;
        }
    }

    /// Marks the connection idle after a response.
    pub fn answered(&mut self) {
        self.faults = 0;
        if let State::Open { busy, .. } = &mut self.state {
            *busy = false;
        }
    }

    /// Counts a fault at `now`. Returns the number of consecutive faults and the time of the first.
    pub fn failed(&mut self, now: Instant) -> (u32, Instant) {
        if self.faults == 0 {
            self.faulty_since = now;
        }
        self.faults = self.faults.saturating_add(1);
        (self.faults, self.faulty_since)
    }

    /// Returns the body of a response just read.
    pub fn body(&self, whole: CompleteResponse) -> &[u8] {
        self.incoming.body(whole)
    }

    /// Makes as much progress as possible without waiting.
    pub fn poll(&mut self) -> Step {
        let mut context = Context::from_waker(&self.waker);
        match &mut self.state {
            State::Done => Step::Wait,
            State::Dialing(dial) => match dial.as_mut().poll(&mut context) {
                Poll::Pending => Step::Wait,
                Poll::Ready(Ok(stream)) => {
                    self.state = State::Open { stream, busy: false };
                    Step::Opened
                }
                Poll::Ready(Err(error)) => Step::Failed(Fault::Connect(error.kind())),
            },
            State::Open { stream, busy: false } => {
                let mut byte = [0];
                match read(stream, &mut byte, &mut context) {
                    Poll::Pending => Step::Wait,
                    Poll::Ready(Ok(1..)) => Step::Failed(Fault::Unreadable(ResponseError::Unasked)),
                    Poll::Ready(Ok(0) | Err(_)) => Step::HungUp,
                }
            }
            State::Open { stream, busy: true } => {
                let unsent = &self.request[self.written..];
                if !unsent.is_empty() {
                    match write(stream, unsent, &mut context) {
                        Ok(count) => self.written += count,
                        Err(kind) => return Step::Failed(Fault::Broken(kind)),
                    }
                }
                let step = receive(stream, &mut self.incoming, &mut context);
                match step {
                    // The response came before the request was written in full: the rest must not be sent.
                    Step::Answered(whole) if self.written < self.request.len() => {
                        Step::Answered(CompleteResponse { close: true, ..whole })
                    }
                    step => step,
                }
            }
        }
    }
}

/// Writes as much as the socket accepts.
fn write(stream: &mut TcpStream, bytes: &[u8], context: &mut Context<'_>) -> Result<usize, io::ErrorKind> {
    let mut written = 0;
    // One write nearly always takes everything; the second round only registers the waker.
    while written < bytes.len() {
        match Pin::new(&mut *stream).poll_write(context, &bytes[written..]) {
            Poll::Pending => break,
            Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero),
            Poll::Ready(Ok(count)) => written += count,
            Poll::Ready(Err(error)) => return Err(error.kind()),
        }
    }
    Ok(written)
}

/// Reads until the response is complete or the socket is empty. Bounded, because a response is bounded.
fn receive(stream: &mut TcpStream, incoming: &mut ResponseBuffer, context: &mut Context<'_>) -> Step {
    loop {
        let count = match read(stream, incoming.room(), context) {
            Poll::Pending => return Step::Wait,
            Poll::Ready(Ok(0)) => {
                return Step::Failed(Fault::Broken(io::ErrorKind::UnexpectedEof));
            }
            Poll::Ready(Ok(count)) => count,
            Poll::Ready(Err(error)) => return Step::Failed(Fault::Broken(error.kind())),
        };
        match incoming.took(count) {
            Ok(None) => {}
            Ok(Some(whole)) => return Step::Answered(whole),
            Err(why) => return Step::Failed(Fault::Unreadable(why)),
        }
    }
}

/// Reads once. Uses `poll_read` rather than `try_read`: after a read with buffer space to spare, `poll_read`
/// knows that the socket is empty and saves one system call per request.
fn read(stream: &mut TcpStream, room: &mut [u8], context: &mut Context<'_>) -> Poll<io::Result<usize>> {
    let mut buffer = ReadBuf::new(room);
    let polled = Pin::new(stream).poll_read(context, &mut buffer);
    polled.map_ok(|()| buffer.filled().len())
}

fn dial(address: SocketAddr, pause: Duration, timeout: Duration) -> Dial {
    Box::pin(async move {
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let stream = tokio::time::timeout(timeout, TcpStream::connect(address)).await??;
        stream.set_nodelay(true)?;
        Ok(stream)
    })
}
