//! A scripted server: the test chooses the reaction to each request.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};

/// Reaction to one request.
pub struct Action {
    pause: Duration,
    bytes: Vec<u8>,
    piece: usize,
    then: Then,
}

enum Then {
    Go,
    Close,
    Hang,
}

impl Action {
    pub fn send(bytes: &[u8]) -> Self {
        Self { pause: Duration::ZERO, bytes: bytes.to_vec(), piece: usize::MAX, then: Then::Go }
    }

    /// Sends in writes of `piece` bytes, far enough apart to arrive separately.
    pub fn pieces(bytes: &[u8], piece: usize) -> Self {
        Self { piece, ..Self::send(bytes) }
    }

    pub fn after(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Keeps the connection open without reading from it.
    pub fn then_hang(self) -> Self {
        Self { then: Then::Hang, ..self }
    }

    pub fn then_close(self) -> Self {
        Self { then: Then::Close, ..self }
    }
}

/// Listens on a free port until dropped.
pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Seen>,
    _runtime: Runtime,
}

#[derive(Default)]
struct Seen {
    requests: AtomicU64,
    connections: AtomicU64,
}

impl Server {
    /// Calls `action` for every request, numbered from 1 over all connections.
    pub fn start(action: impl Fn(u64) -> Action + Send + Sync + 'static) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Seen>::default();
        let (action, counted) = (Arc::new(action), Arc::clone(&seen));
        runtime.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                counted.connections.fetch_add(1, Ordering::Relaxed);
                let (action, counted) = (Arc::clone(&action), Arc::clone(&counted));
                // An error means that the client hung up, for example after a timeout.
                tokio::spawn(async move { serve(stream, &*action, &counted).await.ok() });
            }
        });
        Self { address, seen, _runtime: runtime }
    }

    /// Returns an address without a listener.
    pub fn nobody() -> SocketAddr {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
    }

    pub fn requests(&self) -> u64 {
        self.seen.requests.load(Ordering::Relaxed)
    }

    pub fn connections(&self) -> u64 {
        self.seen.connections.load(Ordering::Relaxed)
    }
}

async fn serve(
    mut stream: TcpStream,
    action: &(dyn Fn(u64) -> Action + Send + Sync),
    seen: &Seen,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = Vec::new();
    loop {
        request.clear();
        let mut looked_at = 0;
        // A request ends at the first empty line: no case here sends a body.
        while !request[looked_at..].windows(4).any(|four| four == b"\r\n\r\n") {
            looked_at = request.len().saturating_sub(3);
            if stream.read_buf(&mut request).await? == 0 {
                return Ok(());
            }
        }
        let action = action(seen.requests.fetch_add(1, Ordering::Relaxed) + 1);
        tokio::time::sleep(action.pause).await;
        for piece in action.bytes.chunks(action.piece) {
            stream.write_all(piece).await?;
            if action.piece < action.bytes.len() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
        match action.then {
            Then::Go => {}
            Then::Close => return Ok(()),
            Then::Hang => std::future::pending().await,
        }
    }
}
