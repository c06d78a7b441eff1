//! Wrong passwords: the cost of guessing for the mall.

use std::net::SocketAddr;
use std::ops::Range;
use std::thread;

use anyhow::ensure;

use crate::common::http;
use crate::common::mall::{self, Size};
use crate::common::server::Server;

/// Concurrent attempts; then an equal number from eight threads, and the rest one after the other.
const CONCURRENT_ATTEMPTS: u64 = 64;
const TRIES: u64 = 200;
const MEMORY_MAX_MIB: u64 = 80;

/// Sends one attempt. Each has a different phone number: the first belong to users, the others do not.
fn try_one(address: SocketAddr, number: u64) -> anyhow::Result<()> {
    let body = format!(r#"{{"phone":"19{number:09}","password":"not the password"}}"#);
    let reply = http::send(address, "POST", "/api/user/login", "", &body)?;
    // An attempt that waits too long for a permit is rejected.
    ensure!(matches!(reply.status, 200 | 503) && reply.body["success"] == false, "{reply:?}");
    Ok(())
}

fn try_all(address: SocketAddr, numbers: Range<u64>, threads: usize) -> anyhow::Result<()> {
    thread::scope(|scope| {
        let tries: Vec<_> = (0..threads)
            .map(|thread| {
                let mut numbers = numbers.clone().skip(thread).step_by(threads);
                scope.spawn(move || numbers.try_for_each(|number| try_one(address, number)))
            })
            .collect();
        tries.into_iter().try_for_each(|tried| tried.join().expect("no try panics"))
    })
}

#[test]
fn wrong_passwords_took_hundreds_of_mebibytes_for_ever() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let data = site.path().join("mall");
    mall::make(&data, Size { people: 32, sales: 1, units: 1 })?;
    let server = Server::start(&data, &site.path().join("mallbox.log"), "process")?;
    let (address, before) = (server.address, server.own_mib()?);
    try_all(address, 0..CONCURRENT_ATTEMPTS, 64)?;
    try_all(address, CONCURRENT_ATTEMPTS..2 * CONCURRENT_ATTEMPTS, 8)?;
    try_all(address, 2 * CONCURRENT_ATTEMPTS..TRIES, 1)?;
    let after = server.own_mib()?;
    println!(
        "{before} MiB before, {after} MiB after {TRIES} wrong passwords, {CONCURRENT_ATTEMPTS} of them at once"
    );
    ensure!(after < MEMORY_MAX_MIB, "{before} MiB became {after} MiB");
    server.stop()
}
