//! One connection: dialling, writing a request, reading its answer.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::answer::{Incoming, Whole};
use super::{Fault, Unreadable};

type Dial = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

/// One connection, and the request it has in flight.
pub(super) struct Connection {
    state: State,
    waker: Waker,
    request: Vec<u8>,
    written: usize,
    incoming: Incoming,
    /// Just before the request was written.
    started: Instant,
    /// Where its latency counts from.
    origin: Instant,
    /// Faults since the last answer.
    faults: u32,
    /// When the first of them happened.
    faulty_since: Instant,
    /// Whether the first dial was seen to be over.
    dialled: bool,
}

enum State {
    Dialing(Dial),
    /// Open; busy while a request is in flight.
    Open {
        stream: TcpStream,
        busy: bool,
    },
    /// Its work is over.
    Done,
}

/// What polling a connection led to.
pub(super) enum Step {
    /// Nothing; its waker will say when to look again.
    Wait,
    /// It is open and wants a request.
    Opened,
    /// The answer is whole; the caller says so to [`answered`](Connection::answered).
    Answered(Whole),
    /// The server closed it between two requests, which it may.
    HungUp,
    /// It is of no more use.
    Failed(Fault),
}

impl Connection {
    /// One that is dialling.
    pub fn new(waker: Waker, address: SocketAddr, timeout: Duration) -> Self {
        let now = Instant::now();
        Self {
            state: State::Dialing(dial(address, Duration::ZERO, timeout)),
            waker,
            request: Vec::new(),
            written: 0,
            incoming: Incoming::new(),
            started: now,
            origin: now,
            faults: 0,
            faulty_since: now,
            dialled: false,
        }
    }

    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Open { busy: false, .. })
    }

    pub fn is_busy(&self) -> bool {
        matches!(self.state, State::Open { busy: true, .. })
    }

    /// How long its request has been waiting for the answer at `now`.
    pub fn waited(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }

    /// True once: when first asked after its first dial.
    pub fn first_dial_over(&mut self) -> bool {
        !std::mem::replace(&mut self.dialled, true)
    }

    /// Drops what it has and dials anew after `pause`.
    pub fn redial(&mut self, address: SocketAddr, pause: Duration, timeout: Duration) {
        self.state = State::Dialing(dial(address, pause, timeout));
    }

    /// Closes it for good; false if it was already.
    pub fn end(&mut self) -> bool {
        !matches!(std::mem::replace(&mut self.state, State::Done), State::Done)
    }

    /// The buffer for the next request, empty.
    pub fn request(&mut self) -> &mut Vec<u8> {
        self.request.clear();
        &mut self.request
    }

    /// Starts the clock of the request, which goes out at the next poll, and says when that was.
    /// The latency counts from `origin`, if that is given.
    pub fn start(&mut self, origin: Option<Instant>) -> Instant {
        self.written = 0;
        self.incoming.clear();
        self.started = Instant::now();
        self.origin = origin.unwrap_or(self.started);
        if let State::Open { busy, .. } = &mut self.state {
            *busy = true;
        }
        self.started
    }

    /// After an answer, come at `now`: it is idle again. How long the answer took.
    pub fn answered(&mut self, now: Instant) -> Duration {
        self.faults = 0;
        if let State::Open { busy, .. } = &mut self.state {
            *busy = false;
        }
        now.saturating_duration_since(self.origin)
    }

    /// After a fault, come at `now`: how many there have been in a row, and since when.
    pub fn failed(&mut self, now: Instant) -> (u32, Instant) {
        if self.faults == 0 {
            self.faulty_since = now;
        }
        self.faults = self.faults.saturating_add(1);
        (self.faults, self.faulty_since)
    }

    /// The body of an answer just read.
    pub fn body(&self, whole: Whole) -> &[u8] {
        self.incoming.body(whole)
    }

    /// Goes as far as it can without waiting.
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
                    Poll::Ready(Ok(1..)) => Step::Failed(Fault::Unreadable(Unreadable::Unasked)),
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
                    // Answered before it was asked in full: the rest must not go out any more.
                    Step::Answered(whole) if self.written < self.request.len() => {
                        Step::Answered(Whole { close: true, ..whole })
                    }
                    step => step,
                }
            }
        }
    }
}

/// Writes what the socket takes.
fn write(stream: &mut TcpStream, bytes: &[u8], context: &mut Context<'_>) -> Result<usize, io::ErrorKind> {
    let mut written = 0;
    // In nearly every case one write takes all; the second round is there to be told to wait.
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

/// Reads until the answer is whole or nothing is left. Bounded, because an answer is.
fn receive(stream: &mut TcpStream, incoming: &mut Incoming, context: &mut Context<'_>) -> Step {
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

/// One read. `poll_read` and not `try_read`: after a read that leaves room in the buffer it knows
/// the socket to be empty, which spares a system call per request.
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
