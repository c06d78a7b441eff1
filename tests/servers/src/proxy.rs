//! A TCP proxy between a mall and a server that can delay, withhold or refuse bytes, and counts forwarded
//! pieces.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Behaviour of a [`Proxy`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behaviour {
    /// Forwards immediately.
    Good,
    /// Closes every connection immediately, including existing ones.
    Refused,
    /// Withholds bytes until the behaviour changes.
    Silent,
    /// Forwards after a delay.
    Slow(Duration),
}

/// A proxy on a free local port, for the lifetime of the value.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    line: Mutex<Behaviour>,
    changed: Condvar,
    /// Pieces forwarded to the server, successfully or not.
    sent: AtomicU64,
    /// Open connections, to be closed on refusal.
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Starts a proxy for the server at a port of 127.0.0.1.
    ///
    /// # Errors
    /// No port is free.
    pub fn before(server: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let (line, changed) = (Mutex::new(Behaviour::Good), Condvar::new());
        let state = Arc::new(State { line, changed, sent: AtomicU64::new(0), open: Mutex::default() });
        let its_state = Arc::downgrade(&state);
        // Ends with the test's process: the thread waits for the next connection.
        std::thread::spawn(move || {
            for near in listener.incoming().filter_map(Result::ok) {
                let Some(state) = its_state.upgrade() else { return };
                if state.line() != Behaviour::Refused {
                    // An unreachable server refuses through its own port.
                    let _ = state.join(near, server);
                }
            }
        });
        Ok(Self { port, state })
    }

    /// Returns the proxy's port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Changes the behaviour, effective immediately.
    pub fn set(&self, line: Behaviour) {
        *self.state.line.lock().unwrap_or_else(PoisonError::into_inner) = line;
        self.state.changed.notify_all();
        if line == Behaviour::Refused {
            self.state.end_all();
        }
    }

    /// Returns the number of pieces forwarded to the server since the start: a call is one or a few.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.state.sent.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.set(Behaviour::Refused);
    }
}

impl State {
    fn line(&self) -> Behaviour {
        *self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn join(self: &Arc<Self>, near: TcpStream, server: u16) -> io::Result<()> {
        let far = TcpStream::connect((Ipv4Addr::LOCALHOST, server))?;
        near.set_nodelay(true)?;
        far.set_nodelay(true)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.extend([near.try_clone()?, far.try_clone()?]);
        let (from_far, to_near) = (far.try_clone()?, near.try_clone()?);
        let state = Arc::clone(self);
        std::thread::spawn(move || state.pass_on(near, far, true));
        let state = Arc::clone(self);
        std::thread::spawn(move || state.pass_on(from_far, to_near, false));
        Ok(())
    }

    fn pass_on(&self, mut from: TcpStream, mut to: TcpStream, is_to_server: bool) {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if is_to_server {
                self.sent.fetch_add(1, Ordering::SeqCst);
                self.wait();
            }
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        for stream in [from, to] {
            // The other direction may have closed the stream.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Waits as long as the current behaviour demands.
    fn wait(&self) {
        let line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        match *line {
            Behaviour::Slow(by) => {
                drop(line);
                std::thread::sleep(by);
            }
            _ => drop(self.changed.wait_while(line, |line| *line == Behaviour::Silent)),
        }
    }

    fn end_all(&self) {
        for stream in self.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // The stream may already be closed.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}
