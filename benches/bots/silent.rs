//! Connections that send nothing, or half a request, and stay open.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::anyhow;

const CHECK_INTERVAL: Duration = Duration::from_millis(500);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
const HALF_A_REQUEST: &[u8] =
    b"POST /api/user/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{";

/// Number of silent connections.
#[derive(Clone, Copy, Default, Debug)]
pub struct Silence {
    pub opened: u64,
    /// Closed by the mall, and opened again.
    pub closed: u64,
    /// Open at the end.
    pub held: usize,
}

/// A thread that holds silent connections.
pub struct SilentConnections {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Silence>,
}

impl SilentConnections {
    pub fn hold(count: usize, to: SocketAddr) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let mut silence = Silence::default();
            let mut held: Vec<Option<TcpStream>> = (0..count).map(|_| None).collect();
            while !seen.load(Ordering::Relaxed) {
                for (number, place) in held.iter_mut().enumerate() {
                    tend(place, number, to, &mut silence);
                }
                std::thread::sleep(CHECK_INTERVAL);
            }
            silence.held = held.iter().flatten().count();
            silence
        });
        Self { over, thread }
    }

    pub fn stop(self) -> anyhow::Result<Silence> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow!("the thread of silent connections panicked"))
    }
}

/// Drops a connection that the mall closed, and opens a missing one.
fn tend(place: &mut Option<TcpStream>, number: usize, to: SocketAddr, silence: &mut Silence) {
    if place.as_mut().is_some_and(is_closed) {
        *place = None;
        silence.closed += 1;
    }
    if place.is_none() {
        *place = open(number, to).ok();
        silence.opened += u64::from(place.is_some());
    }
}

fn open(number: usize, to: SocketAddr) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&to, CONNECT_TIMEOUT)?;
    if number % 2 == 1 {
        stream.write_all(HALF_A_REQUEST)?;
    }
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// Reads whatever arrived, such as a 408.
fn is_closed(stream: &mut TcpStream) -> bool {
    let mut buffer = [0; 1_024];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
    }
}
