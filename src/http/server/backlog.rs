//! Listening sockets with room for a crowd.
//!
//! The standard library asks for 128 places in the backlog. At the begin of a sale more clients than that
//! connect within a moment; the system then drops connections silently, and their clients try again a second
//! later. Reasons and figures: `src/decisions/0035-greedy-connections.md`.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

/// Connections that may wait to be accepted. The system grants less if its own limit is lower
/// (`net.core.somaxconn`, 4096 by default).
const BACKLOG: i32 = 4096;

/// Listens on `address`, as [`TcpListener::bind`] does, with a backlog of [`BACKLOG`].
///
/// # Errors
/// The system refuses the address.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // On Windows the option would let two programs share the port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_crowd_that_connects_at_once_waits_in_the_backlog() {
        use std::net::{Ipv4Addr, TcpStream};
        use std::time::Duration;

        const CROWD: usize = 400;
        let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
        let crowd = CROWD.min(allowed.trim().parse().unwrap());
        let listener = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = listener.local_addr().unwrap();
        // Nobody accepts. A connection beyond the backlog would get no answer at all.
        let connect = |_| TcpStream::connect_timeout(&address, Duration::from_secs(30)).unwrap();
        let waiting: Vec<TcpStream> = (0..crowd).map(connect).collect();
        listener.set_nonblocking(true).unwrap();
        assert_eq!((0..crowd).filter(|_| listener.accept().is_ok()).count(), waiting.len());
    }
}
