//! Sockets that the manager holds: nobody is refused during a restart, and other sockets are named.

use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox_test_patience as patience;

use crate::common::http;
use crate::common::server::Server;

const CLIENTS: usize = 8;
const RESTARTS: usize = 4;

/// A command that executes mallbox with sockets at the places where a manager puts them.
struct Passing {
    command: Vec<String>,
    _sockets: Vec<OwnedFd>,
}

/// Makes such a command.
fn passing(sockets: &[&dyn AsFd]) -> anyhow::Result<Passing> {
    let mut script = format!("export LISTEN_PID=$$ LISTEN_FDS={}; exec \"$@\"", sockets.len());
    let mut passed = Vec::new();
    for (socket, place) in sockets.iter().zip(3..) {
        // Above the places: one redirection does not overwrite what the next one copies.
        let high = rustix::io::fcntl_dupfd_cloexec(socket.as_fd(), 100)?;
        rustix::io::fcntl_setfd(&high, rustix::io::FdFlags::empty())?;
        script += &format!(" {place}<&{0} {0}<&-", high.as_raw_fd());
        passed.push(high);
    }
    Ok(Passing { command: ["bash", "-c", &script, "bash"].map(str::to_owned).to_vec(), _sockets: passed })
}

fn start(sockets: &[&dyn AsFd], site: &std::path::Path) -> anyhow::Result<Server> {
    let passing = passing(sockets)?;
    let under: Vec<&str> = passing.command.iter().map(String::as_str).collect();
    Server::start_under(&under, &site.join("mall"), &site.join("mallbox.log"), "power")
}

#[test]
fn nobody_is_refused_while_a_mall_is_started_again() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let (is_over, served) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (is_over, served) = (Arc::clone(&is_over), Arc::clone(&served));
            thread::spawn(move || -> anyhow::Result<()> {
                while !is_over.load(Ordering::Relaxed) {
                    let reply = http::ask(address, "GET", "/api/shop-type/list", "")?;
                    ensure!(reply.status == 200, "{} {}", reply.status, reply.text);
                    served.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            })
        })
        .collect();
    for _ in 0..RESTARTS {
        let server = start(&[&listener], site.path())?;
        ensure!(server.address == address, "{} instead of {address}", server.address);
        let before = served.load(Ordering::Relaxed);
        let deadline = patience::Deadline::after(Duration::from_secs(30));
        while served.load(Ordering::Relaxed) < before + 200 && !deadline.is_over() {
            thread::sleep(Duration::from_millis(5));
        }
        ensure!(served.load(Ordering::Relaxed) >= before + 200, "clients stopped");
        server.stop()?;
    }
    is_over.store(true, Ordering::Relaxed);
    // The last ones wait for a mall that will answer them.
    let server = start(&[&listener], site.path())?;
    for client in clients {
        client.join().ok().context("a client panicked")??;
    }
    server.stop()
}

#[test]
fn the_second_socket_is_for_operators_alone() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let [main, operators] =
        [TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?, TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?];
    let server = start(&[&main, &operators], site.path())?;
    let status = |listener: &TcpListener, path| -> anyhow::Result<u16> {
        Ok(http::ask(listener.local_addr()?, "GET", path, "")?.status)
    };
    ensure!(status(&main, "/metrics")? == 404 && status(&operators, "/metrics")? == 200);
    ensure!(status(&main, "/healthz")? == 200);
    server.stop()
}

#[test]
fn other_sockets_are_refused_by_their_position() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let tcp = [(); 3].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let [first, second, third] = tcp;
    let (first, second, third) = (first?, second?, third?);
    let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let cases: [(&[&dyn AsFd], &str); 2] = [
        (&[&first, &second, &third], "the service manager passed 3 sockets; a mall takes two at most"),
        (&[&first, &udp], "socket 2 from the service manager is no listening TCP socket"),
    ];
    for (sockets, complaint) in cases {
        let passing = passing(sockets)?;
        let under = &passing.command;
        let data = site.path().join("mall");
        let refused = Command::new(&under[0])
            .args(&under[1..])
            .args([env!("CARGO_BIN_EXE_mallbox"), "serve", "--lang", "en", "--data"])
            .arg(&data)
            .stdin(Stdio::null())
            .output()?;
        let words = String::from_utf8_lossy(&refused.stderr);
        ensure!(refused.status.code() == Some(2) && words.contains(complaint), "{}: {words}", refused.status);
        ensure!(!data.exists(), "a refused start made {}", data.display());
    }
    Ok(())
}

#[test]
#[cfg_attr(
    not(feature = "systemd-tests"),
    ignore = "needs systemd-socket-activate; tests/run turns it on where systemd is installed"
)]
fn the_first_connection_starts_a_mall_by_systemds_own_tool() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let address = free_address()?;
    let mut command = Command::new("systemd-socket-activate");
    command.args(["--listen", &address.to_string(), env!("CARGO_BIN_EXE_mallbox"), "serve", "--lang", "en"]);
    command.arg("--data").arg(site.path().join("mall")).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut activation = Killed(command.spawn().context("systemd-socket-activate")?);
    let limit = Duration::from_secs(30);
    // It says on its standard error when it listens; a client that comes too early is refused.
    let stream = patience::until_ok(limit, || TcpStream::connect(address))?;
    let reply = http::read(&http::exchange(stream, b"GET /healthz HTTP/1.0\r\nhost: localhost\r\n\r\n")?)?;
    ensure!(reply.status == 200, "{}", reply.head);
    let mut banner = String::new();
    BufReader::new(activation.0.stdout.take().context("no output")?).read_line(&mut banner)?;
    ensure!(banner.contains(&format!("http://{address}/")), "{banner}");
    // It has become the mall.
    let stopped = Command::new("kill").args(["-s", "TERM", &activation.0.id().to_string()]).status()?;
    ensure!(stopped.success() && activation.0.wait()?.success());
    Ok(())
}

/// A process that ends with its value.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
