//! A mall with 100,000 users, 30,000 of them logged in, in 128 MiB of memory, in a control group that kills
//! what takes more: a rush, large pictures, passwords and idle connections at once.
//!
//! `MALLBOX_SMALL_MEMORY_USERS` sets the number of users.

#[path = "../common/mod.rs"]
mod common;

use std::io::{Cursor, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use image::{ImageFormat, Rgb, RgbImage};
use mallbox_test_patience::Deadline;

use common::control_group::ControlGroup;
use common::dice::{Dice, number_from};
use common::http;
use common::inspection;
use common::mall::{self, Mall, Size};
use common::rush::Rush;
use common::server::{self, Server};
use common::shoppers::{self, Behaviour, ShopperScript};

const MEMORY_BYTES: u64 = 128 << 20;
const USERS: u64 = 100_000;
/// Users with a live session.
const LOGGED_IN: usize = 30_000;
/// Responses of the rush, beside all other requests.
const REQUESTS: u64 = 30_000;
/// Connections of the rush.
const CONNECTIONS: usize = 100;
/// Connections without a request.
const IDLE: usize = 400;
/// Passwords tried at once.
const PASSWORDS: u64 = 64;
/// Pictures uploaded at once, of a size that the budget permits.
const PICTURES: usize = 8;
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(60);
const UPLOAD_PAUSE: Duration = Duration::from_millis(300);

#[test]
#[cfg_attr(
    not(feature = "cgroup-tests"),
    ignore = "needs root and a control group for memory; tests/run turns it on where they are there"
)]
fn a_mall_of_100_000_users_goes_on_in_128_mib() -> anyhow::Result<()> {
    let users = usize::try_from(number_from("MALLBOX_SMALL_MEMORY_USERS").unwrap_or(USERS))?;
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let began = Instant::now();
    let mall = mall::make(&data, Size { people: users, sales: 1, units: REQUESTS / 3 })?;
    let mall = mall::log_out_beyond(&data, mall, LOGGED_IN)?;
    let operator = mall::appoint_operator(&data, &mall)?;
    let (made, began) = (began.elapsed(), Instant::now());

    let group = ControlGroup::with_memory("small-memory", MEMORY_BYTES)?;
    let entry = group.entry();
    // As the manual says for a binary that links glibc.
    let under: Vec<&str> = entry.iter().map(String::as_str).chain(["env", "MALLOC_ARENA_MAX=1"]).collect();
    server::allow_files(4_096)?;
    let mut server = Server::start_under(&under, &data, &log, "power")?;
    let at_start = server.own_mib()?;
    ensure!(std::fs::read_to_string(&log)?.contains("budget_mib=128"), "the mall did not see its limit");

    let mut dice = Dice::from_environment("small memory");
    let history = shoppers::history(&mall, &mall.sales);
    let script = ShopperScript::new(&history, mall.sales[0], Behaviour::Live, CONNECTIONS, dice.split());
    let rush = Rush::start(server.address, CONNECTIONS, script);
    let beside = beside_the_rush(server.address, &mall);
    rush.wait_for(REQUESTS);
    let (report, is_alive) = (rush.report(), server.is_alive());
    ensure!(is_alive, "the mall died, {} kills; {}", group.kills()?, server.stderr_tail());
    let (report, idle) = (report?, beside?);
    ensure!(report.errors.total() == 0, "answers were lost: {:?}", report.errors);
    let at_end = server.own_mib()?;
    drop(idle);
    inspection::finish(server, &data, &history, mall.sales[0], &operator, &mut dice)
        .with_context(|| format!("{} kills", group.kills().unwrap_or_default()))?;
    ensure!(group.kills()? == 0, "the kernel killed the mall");
    println!(
        "{users} users made in {made:?}; {} answers, then checked, in {:?}; own memory {at_start} MiB at the start, \
         {at_end} MiB after the rush; {} MiB at most with pages of files",
        report.answered,
        began.elapsed(),
        group.peak_bytes()? >> 20,
    );
    Ok(())
}

/// Does what takes memory, all at once. Returns idle connections, which stay open.
fn beside_the_rush(address: SocketAddr, mall: &Mall) -> anyhow::Result<Vec<TcpStream>> {
    let picture = photograph()?;
    thread::scope(|scope| {
        let passwords = scope.spawn(|| (0..PASSWORDS).try_for_each(|number| try_password(address, number)));
        let uploads: Vec<_> = (0..PICTURES)
            .map(|at| (&mall.people[at].token, &picture))
            .map(|(token, picture)| scope.spawn(move || upload(address, token, picture)))
            .collect();
        let idle = (0..IDLE).map(|_| idle_connection(address)).collect::<anyhow::Result<Vec<_>>>()?;
        passwords.join().ok().context("a password panicked")??;
        for upload in uploads {
            upload.join().ok().context("an upload panicked")??;
        }
        Ok(idle)
    })
}

fn try_password(address: SocketAddr, number: u64) -> anyhow::Result<()> {
    let body = format!(r#"{{"phone":"19{number:09}","password":"not the password"}}"#);
    let reply = http::send(address, "POST", "/api/user/login", "", &body)?;
    ensure!(matches!(reply.status, 200 | 503) && reply.body["success"] == false, "{reply:?}");
    Ok(())
}

/// Makes a picture of 5 million pixels that compresses well, as PNG: a small file, and much memory.
fn photograph() -> anyhow::Result<Vec<u8>> {
    let picture = RgbImage::from_fn(2_500, 2_000, |x, y| {
        Rgb([x, y, x ^ y].map(|part| u8::try_from(part / 8 % 256).unwrap_or_default()))
    });
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, ImageFormat::Png)?;
    Ok(file.into_inner())
}

/// Uploads a picture; again while the mall has no place for it.
fn upload(address: SocketAddr, token: &str, picture: &[u8]) -> anyhow::Result<()> {
    let mut body =
        b"--mallbox\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\r\n".to_vec();
    body.extend_from_slice(picture);
    body.extend_from_slice(b"\r\n--mallbox--\r\n");
    let form = ("content-type", "multipart/form-data; boundary=mallbox");
    let headers = [("authorization", token), form];
    let deadline = Deadline::after(UPLOAD_TIMEOUT);
    loop {
        let reply = http::send_with(address, "POST", "/api/upload/blog", &headers, &body)?;
        if reply.body["success"] == true {
            return Ok(());
        }
        ensure!(reply.status == 503 && !deadline.is_over(), "{reply:?}");
        thread::sleep(UPLOAD_PAUSE);
    }
}

fn idle_connection(address: SocketAddr) -> anyhow::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")?;
    Ok(stream)
}
