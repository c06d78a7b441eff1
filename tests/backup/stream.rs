//! A stream beside a backup: restored to any instant, also after kills, full disks and damage.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use jiff::Timestamp;
use mallbox::mall::{Clock as _, SystemClock};
use mallbox_storage::OrderId;
use mallbox_test_patience::Deadline;

use crate::common::ballast::Ballast;
use crate::common::dice::{Dice, number_from};
use crate::common::image::DiskSite;
use crate::common::server;
use crate::process::mallbox;
use crate::site::{Crowd, PEOPLE, Site};

const TIMEOUT: Duration = Duration::from_secs(60);

/// `mallbox backup --stream`, killed when dropped.
struct Streaming {
    child: Child,
    to: PathBuf,
    said: PathBuf,
}

impl Streaming {
    fn start(site: &Site, to: &Path, more: &[&str]) -> anyhow::Result<Self> {
        let said = site.path("stream.log");
        let (dir, data) = (to.display().to_string(), site.text("mall"));
        let arguments = [&["backup", &*dir, "--data", &*data, "--stream"], more].concat();
        let log = File::options().create(true).append(true).open(&said)?;
        let child = mallbox(&arguments).stdout(log.try_clone()?).stderr(Stdio::from(log)).spawn()?;
        Ok(Self { child, to: to.to_owned(), said })
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.said).unwrap_or_default()
    }

    /// Waits until the output contains `words` so many times.
    fn says(&self, words: &str, times: usize) -> anyhow::Result<()> {
        let deadline = Deadline::after(TIMEOUT);
        while self.said().matches(words).count() < times {
            ensure!(!deadline.is_over(), "{words:?} was not said: {}", self.said());
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Returns the newest stream.
    fn file(&self) -> anyhow::Result<PathBuf> {
        newest(&self.to)
    }

    /// Waits until the newest stream gets a point that was begun after this call.
    fn gets_points(&self, count: u32) -> anyhow::Result<()> {
        let deadline = Deadline::after(TIMEOUT);
        // A point that is being written may have begun before.
        for _ in 0..=count {
            let before = fs::metadata(self.file()?)?.len();
            while fs::metadata(self.file()?)?.len() == before {
                ensure!(!deadline.is_over(), "no further point: {}", self.said());
                thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(())
    }

    fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn newest(dir: &Path) -> anyhow::Result<PathBuf> {
    let paths = fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<std::io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "mallbox-stream"));
    paths.sort();
    paths.pop().context("no stream")
}

/// Returns the time in `restored to the state of TIME, with`.
fn restored_to(said: &str) -> anyhow::Result<Timestamp> {
    let time = said.split("restored to the state of ").nth(1).and_then(|rest| rest.split(',').next());
    Ok(time.with_context(|| format!("no time: {said}"))?.parse()?)
}

/// Waits until the last state of a stream has all of these orders.
fn until_restored(site: &Site, from: &str, all: &[OrderId]) -> anyhow::Result<()> {
    let deadline = Deadline::after(TIMEOUT);
    loop {
        let said = site.done(&["restore", from, "@last"])?;
        let missing = site.missing(&site.path("last"), all)?;
        fs::remove_dir_all(site.path("last"))?;
        if missing.is_empty() {
            return Ok(());
        }
        ensure!(!deadline.is_over(), "{} of {} are missing: {said}", missing.len(), all.len());
    }
}

fn now() -> anyhow::Result<Timestamp> {
    Ok(Timestamp::from_millisecond(SystemClock.now().as_millis())?)
}

/// Samples of how much was acknowledged at a time.
struct Samples(Vec<(Timestamp, usize)>);

impl Samples {
    /// Returns how much was acknowledged at an instant, at least.
    fn at(&self, instant: Timestamp) -> usize {
        self.0.iter().take_while(|(at, _)| *at <= instant).last().map_or(0, |(_, count)| *count)
    }
}

#[test]
fn a_mall_under_load_is_restored_as_it_was_at_any_instant() -> anyhow::Result<()> {
    let restores = number_from("MALLBOX_RESTORES").unwrap_or(3);
    let mut dice = Dice::from_environment("stream");
    let site = Site::make(PEOPLE, 1)?;
    fs::create_dir(site.path("usb"))?;
    fs::create_dir_all(site.data().join("uploads/shops"))?;
    let server = site.serve()?;
    let streaming = Streaming::start(&site, &site.path("usb"), &[])?;
    streaming.says("gets each second what has changed", 1)?;
    let began = now()?;
    fs::write(site.data().join("uploads/shops/面.svg"), "<svg/>")?;
    let crowd = Crowd::start_slowly(
        server.address,
        &site.mall,
        site.mall.sales[0],
        Duration::from_millis(7 * restores),
    );
    let done = AtomicBool::new(false);
    let samples = thread::scope(|scope| {
        let sampler = scope.spawn(|| {
            let mut samples = Vec::new();
            while !done.load(Ordering::Relaxed) {
                let count = crowd.acknowledged().len();
                samples.extend(now().map(|now| (now, count)));
                thread::sleep(Duration::from_millis(20));
            }
            samples
        });
        thread::sleep(Duration::from_millis(750 * restores.max(2)));
        // A newer backup, behind which nothing is recorded: the stream of the one before reaches further.
        let taken = site.done(&["backup", "@usb", "--data", "@mall"]);
        thread::sleep(Duration::from_millis(750 * restores.max(2)));
        done.store(true, Ordering::Relaxed);
        let samples = sampler.join().ok().context("the sampler panicked");
        taken.and(samples)
    })?;
    let (ended, all) = (now()?, crowd.end()?);
    until_restored(&site, "@usb", &all)?;
    server.stop()?;
    streaming.says("the mall is not running", 1)?;
    streaming.says("opened as a trial, the ledger balances", 1)?;
    let samples = Samples(samples);
    let (mut last, mut differ) = (0, 0);
    for number in 0..restores {
        let span = u64::try_from(ended.as_millisecond() - began.as_millisecond())?;
        let at = dice.millis(span * number / restores, span * (number + 1) / restores);
        let at = began + jiff::SignedDuration::try_from(at)?;
        let said = site.done(&["restore", "@usb", "@restored", "--at", &at.to_string()])?;
        let reached = restored_to(&said)?;
        ensure!(said.contains("the ledger balances") && reached <= at, "{at}: {said}");
        let data = site.path("restored");
        let acknowledged = samples.at(reached);
        let missing = site.missing(&data, &all[..acknowledged])?;
        ensure!(missing.is_empty(), "{} of {acknowledged} are missing at {reached}", missing.len());
        let there = all.len() - site.missing(&data, &all)?.len();
        ensure!(there >= last, "{there} at {reached}, and {last} before");
        differ += u64::from(there > last && there < all.len());
        last = there;
        server::verify(&data)?;
        fs::remove_dir_all(&data)?;
    }
    let said = site.done(&["restore", "@usb", "@restored", "--at", "latest"])?;
    ensure!(site.missing(&site.path("restored"), &all)?.is_empty(), "{said}");
    ensure!(fs::read_to_string(site.path("restored/uploads/shops/面.svg"))? == "<svg/>", "the picture");
    println!("stream: {} claims, {differ} of {restores} restores had some of them", all.len());
    ensure!(differ > 0, "the instants do not tell anything");
    Ok(())
}

#[test]
fn a_stream_goes_on_when_the_mall_starts_again_and_survives_kills() -> anyhow::Result<()> {
    let site = Site::make(PEOPLE, 4)?;
    fs::create_dir(site.path("usb"))?;
    let mut all = Vec::new();
    let mut streaming = Streaming::start(&site, &site.path("usb"), &[])?;
    streaming.says("the mall is not running", 1)?;
    for (number, sale) in site.mall.sales.iter().enumerate() {
        let server = site.serve()?;
        streaming.says("gets each second what has changed", number + 1)?;
        let crowd = Crowd::start_slowly(server.address, &site.mall, *sale, Duration::from_millis(10));
        streaming.gets_points(1)?;
        all.extend(crowd.acknowledged());
        streaming.gets_points(1)?;
        if number % 2 == 1 {
            server.kill()?;
            let _ = crowd.end();
        } else {
            crowd.end()?;
            server.stop()?;
        }
        if number == 1 {
            streaming.kill()?;
            streaming = Streaming::start(&site, &site.path("usb"), &[])?;
        }
        let said = site.done(&["restore", "@usb", "@restored"])?;
        let missing = site.missing(&site.path("restored"), &all)?;
        ensure!(missing.is_empty(), "{} of {} are missing: {said}", missing.len(), all.len());
        server::verify(&site.path("restored"))?;
        fs::remove_dir_all(site.path("restored"))?;
    }
    Ok(())
}

#[test]
fn a_damaged_stream_says_how_far_it_is_readable_and_a_torn_end_is_left_out() -> anyhow::Result<()> {
    let site = Site::make(PEOPLE, 1)?;
    fs::create_dir(site.path("usb"))?;
    site.done(&["keygen", "encryption", "@safe"])?;
    site.done(&["keygen", "signature", "@sign"])?;
    let (public, sign) = (site.text("safe.pub"), site.text("sign"));
    let server = site.serve()?;
    let streaming = Streaming::start(&site, &site.path("usb"), &["--encrypt", &public, "--sign", &sign])?;
    streaming.says("gets each second what has changed", 1)?;
    let began = now()?;
    let crowd =
        Crowd::start_slowly(server.address, &site.mall, site.mall.sales[0], Duration::from_millis(20));
    streaming.gets_points(4)?;
    crowd.end()?;
    let file = streaming.file()?;
    streaming.kill()?;
    server.stop()?;
    let whole = fs::read(&file)?;
    let readable = whole.windows(6).any(|window| window == b"SQLite");
    ensure!(!readable && whole.windows(19).any(|window| window == b"age-encryption.org/"), "encrypted");
    let keys = ["--key", &site.text("safe"), "--signed-by", &site.text("sign.pub")];
    let restore =
        |at: &str, dir: &str| site.run(&[&["restore", "@usb", dir, "--at", at], &keys[..]].concat());
    let refused = site.refused(&["restore", "@usb", "@new", "--at", "latest"], 1)?;
    ensure!(refused.contains("it is encrypted"), "{refused}");

    fs::write(&file, &whole[..whole.len() - 10])?;
    let output = restore("latest", "@torn")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success() && said.contains("are no whole point, and were not restored"), "{said}");

    let mut flipped = whole.clone();
    flipped[whole.len() * 2 / 3] ^= 1;
    fs::write(&file, &flipped)?;
    let output = restore("latest", "@flipped")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(1) && !site.path("flipped").exists(), "{said}");
    let reached = said.split("pass --at ").nth(1).and_then(|rest| rest.split(' ').next());
    let reached = reached.with_context(|| format!("no instant to restore: {said}"))?;
    let output = restore(reached, "@flipped")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    ensure!(restored_to(&String::from_utf8_lossy(&output.stdout))?.to_string() == reached);

    // Another stream beside the backup: its points do not follow this backup.
    let mut other = whole.clone();
    other.splice(17.., whole[whole.len() / 2..].iter().copied());
    fs::write(&file, &other)?;
    ensure!(restore("latest", "@other")?.status.code() == Some(1));
    let early = began - jiff::SignedDuration::from_hours(1);
    let backup = file.with_extension("mallbox-backup.age").display().to_string();
    let output =
        site.run(&[&["restore", &*backup, "@early", "--at", &early.to_string()], &keys[..]].concat())?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(2) && said.contains("after the instant of --at"), "{said}");
    let said = site.refused(&["restore", "@usb", "@early", "--at", &early.to_string()], 2)?;
    ensure!(said.contains(&format!("no backup of {early} or before")), "{said}");
    Ok(())
}

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn a_full_disk_ends_a_stream_which_begins_anew_when_there_is_room() -> anyhow::Result<()> {
    let disks = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let disk = disks.mount(&disks.format("ext4.img")?, "ext4")?;
    let site = Site::make(PEOPLE, 1)?;
    let usb = disk.path().join("mall");
    fs::create_dir(&usb)?;
    let server = site.serve()?;
    let streaming = Streaming::start(&site, &usb, &[])?;
    streaming.says("gets each second what has changed", 1)?;
    let ballast = Ballast::leave(disk.path(), 0)?;
    let crowd =
        Crowd::start_slowly(server.address, &site.mall, site.mall.sales[0], Duration::from_millis(10));
    streaming.says("o space left", 1)?;
    drop(ballast);
    streaming.says("gets each second what has changed", 2)?;
    let all = crowd.end()?;
    until_restored(&site, &usb.display().to_string(), &all)?;
    streaming.kill()?;
    server.stop()
}

/// Empties an image under its file system, and tells the kernel: calls fail as those of a disk that was
/// pulled out.
fn unplug(image: &Path) -> anyhow::Result<()> {
    File::options().write(true).open(image)?.set_len(0)?;
    let devices = Command::new("losetup").args(["-n", "-O", "NAME", "-j"]).arg(image).output()?;
    let device = String::from_utf8(devices.stdout)?;
    let told = Command::new("losetup").args(["-c", device.trim()]).status()?;
    ensure!(told.success(), "losetup -c {device}: {told}");
    Ok(())
}

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn an_unplugged_disk_is_reported_and_the_stream_begins_anew_on_the_next_one() -> anyhow::Result<()> {
    let disks = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let image = disks.format("one.img")?;
    let disk = disks.mount(&image, "usb")?;
    let site = Site::make(PEOPLE, 1)?;
    let usb = disk.path().join("mall");
    fs::create_dir(&usb)?;
    let server = site.serve()?;
    let streaming = Streaming::start(&site, &usb, &[])?;
    streaming.says("gets each second what has changed", 1)?;
    let crowd =
        Crowd::start_slowly(server.address, &site.mall, site.mall.sales[0], Duration::from_millis(30));
    streaming.gets_points(1)?;
    unplug(&image)?;
    streaming.says("cannot write to", 1)?;
    drop(disk);
    streaming.says("is not there", 1)?;
    let disk = disks.mount(&disks.format("two.img")?, "usb")?;
    fs::create_dir(disk.path().join("mall"))?;
    streaming.says("gets each second what has changed", 2)?;
    let all = crowd.end()?;
    until_restored(&site, &usb.display().to_string(), &all)?;
    streaming.kill()?;
    server.stop()
}
