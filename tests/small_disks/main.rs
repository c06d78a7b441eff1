//! Starts on disks with 0 to 1,024 KiB free, of several file systems. Each mall starts at least read-only, or
//! names the disk; each sells again after space is freed; and no accepted claim is lost.
//!
//! `MALLBOX_SMALL_DISKS` sets the number of sizes: 257 are all sizes, in steps of 4 KiB.

#[path = "../common/mod.rs"]
mod common;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use mallbox_test_patience as patience;

use common::aftermath;
use common::ballast::Ballast;
use common::dice::number_from;
use common::http;
use common::image::DiskSite;
use common::pending::{Left, Pending};
use common::server::{self, Server};

const LARGEST_KIB: u64 = 1_024;
/// Number of sizes by default.
const SIZES: u64 = 5;
const PEOPLE: usize = 40;
const TIMEOUT: Duration = Duration::from_secs(30);

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn a_start_on_a_small_ext4_spoilt_the_log() -> anyhow::Result<()> {
    let site = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let image = site.format("ext4.img")?;
    let disk = site.mount(&image, "ext4")?;
    try_all("ext4", disk.path(), site.path())
}

#[test]
#[cfg_attr(
    not(feature = "xfs-tests"),
    ignore = "needs root, loop devices and mkfs.xfs; tests/run turns it on where they are there"
)]
fn a_start_on_a_small_xfs_spoilt_the_log() -> anyhow::Result<()> {
    let site = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let image = site.format_xfs("xfs.img")?;
    let disk = site.mount(&image, "xfs")?;
    try_all("xfs", disk.path(), site.path())
}

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn a_start_on_a_small_tmpfs_spoilt_the_log() -> anyhow::Result<()> {
    let site = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let disk = site.mount_memory("tmpfs")?;
    try_all("tmpfs", disk.path(), site.path())
}

/// Tries every size, alternating between a mall that was stopped and one that was killed.
fn try_all(kind: &str, disk: &Path, site: &Path) -> anyhow::Result<()> {
    let sizes = number_from("MALLBOX_SMALL_DISKS").unwrap_or(SIZES).clamp(2, 1 + LARGEST_KIB / 4);
    let mut malls = Vec::new();
    for left in [Left::Stopped, Left::Killed] {
        let template = site.join(format!("{left:?}"));
        malls.push((Pending::make(&template, PEOPLE, left)?, template));
    }
    let (mut started, mut refused) = (0, 0);
    for step in 0..sizes {
        let kib = step * LARGEST_KIB / (sizes - 1) / 4 * 4;
        let (pending, template) = &malls[usize::try_from(step)? % malls.len()];
        let start = Start { pending, template, disk, log: &site.join(format!("{kind}-{kib}.log")) };
        match start
            .on_a_disk_with(kib)
            .with_context(|| format!("{kind}, {kib} KiB free, {}", template.display()))?
        {
            true => started += 1,
            false => refused += 1,
        }
    }
    println!(
        "{kind}: {sizes} sizes up to {LARGEST_KIB} KiB: {started} started, {refused} named the disk, all sold again"
    );
    Ok(())
}

struct Start<'a> {
    pending: &'a Pending,
    template: &'a Path,
    disk: &'a Path,
    log: &'a Path,
}

impl Start<'_> {
    /// Starts a mall with `kib` KiB free. Returns whether the mall started rather than naming the disk.
    /// Afterwards frees space and checks that everything is there.
    fn on_a_disk_with(&self, kib: u64) -> anyhow::Result<bool> {
        let data = aftermath::copy(self.template, self.disk)?;
        let ballast = Ballast::leave(self.disk, kib << 10)?;
        let started = Server::start(data.path(), self.log, "power");
        let is_started = started.is_ok();
        let server = match started {
            Ok(server) => {
                self.is_only_read(&server)?;
                drop(ballast);
                server
            }
            Err(error) => {
                let message = format!("{error:#}");
                ensure!(!message.contains("damaged") && names_the_disk(&message), "{message}");
                drop(ballast);
                Server::start(data.path(), self.log, "power")?
            }
        };
        self.sells_again(&server)?;
        server.stop()?;
        server::verify(data.path())?;
        self.pending.are_kept(data.path())?;
        fs::remove_file(self.log)?;
        Ok(is_started)
    }

    fn is_only_read(&self, server: &Server) -> anyhow::Result<()> {
        self.pending.are_shown(server)?;
        let code = http::ask(server.address, "POST", "/api/user/code?phone=13900000002", "")?;
        for reply in [self.pending.claim(server)?, code] {
            let refusal = (reply.status, reply.code(), reply.retry_after());
            ensure!(refusal == (503, "DISK_FULL", Some(30)), "{reply:?}");
        }
        let ready = http::ask(server.address, "GET", "/readyz", "")?;
        ensure!(ready.status == 503 && ready.text.contains("disk full: "), "{ready:?}");
        Ok(())
    }

    fn sells_again(&self, server: &Server) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            let reply = self.pending.claim(server)?;
            if reply.body["success"] == true {
                return self.pending.are_shown(server);
            }
            ensure!(
                patience::is_within(began.elapsed(), TIMEOUT),
                "with room again: {} {}",
                reply.status,
                reply.text
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn names_the_disk(message: &str) -> bool {
    message.contains("No space left on device") || message.contains("MiB are needed")
}
