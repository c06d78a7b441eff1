//! `mallbox doctor`: is this machine fit for a mall?

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::{Resource, getrlimit};

use crate::mall::{Clock as _, SystemClock};

/// The flags of `doctor`.
#[derive(Args)]
pub(super) struct Doctor {
    /// The directory in which a mall is, or is to be.
    #[arg(long, env = "MALLBOX_DATA", default_value = ".", value_name = "DIR")]
    data: PathBuf,
}

/// Syncs that are timed.
const SYNCS: usize = 300;
/// The mall refuses claims below this; there has to be room for more.
const LITTLE_SPACE: u64 = 256 << 20;
const FEW_FILES: u64 = 1_024;

/// One line of the table. `Err`: something to look after.
type Finding = (&'static str, Result<String, String>);

/// Prints a table. Answers whether all of it is well.
///
/// # Errors
/// None so far; what is wrong is in the table.
pub(super) fn run(doctor: &Doctor) -> anyhow::Result<bool> {
    let mut findings: Vec<Finding> = vec![("mallbox", Ok(env!("CARGO_PKG_VERSION").to_owned()))];
    findings.extend(mallbox_storage::versions().into_iter().map(|(name, version)| (name, Ok(version))));
    findings.extend([
        ("directory", directory(&doctor.data)),
        ("free space", space(&doctor.data)),
        ("open files", files()),
        ("clock", clock()),
        ("disk sync", sync(&doctor.data)),
    ]);
    let mut table = String::new();
    for (what, found) in &findings {
        let (mark, text) = match found {
            Ok(text) => ("ok ", text),
            Err(text) => ("BAD", text),
        };
        table += &format!("{mark}  {what:<11} {text}\n");
    }
    super::say(&table);
    Ok(findings.iter().all(|(_, found)| found.is_ok()))
}

/// The directory itself, or the nearest one above it that is there.
fn nearest(dir: &Path) -> PathBuf {
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    absolute.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("/")).to_owned()
}

fn directory(dir: &Path) -> Result<String, String> {
    let there = nearest(dir);
    let probe =
        probe_file(&there).map_err(|error| format!("{} cannot be written to: {error}", there.display()))?;
    drop(probe);
    if super::house::is_demo(dir) {
        return Ok(format!("{} holds a demo", dir.display()));
    }
    if super::house::is_mall(dir) {
        return Ok(format!("{} holds a mall", dir.display()));
    }
    super::house::check_dir(dir).map_err(|error| error.to_string())?;
    Ok(format!("{} holds no mall; one can be made there", dir.display()))
}

fn space(dir: &Path) -> Result<String, String> {
    let there = nearest(dir);
    let space = rustix::fs::statvfs(&there).map_err(|error| format!("the system does not say: {error}"))?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    let text = format!("{} MiB", free >> 20);
    if free < LITTLE_SPACE { Err(format!("{text}: claims are refused below 64 MiB")) } else { Ok(text) }
}

fn files() -> Result<String, String> {
    match getrlimit(Resource::Nofile).maximum {
        None => Ok("no limit".to_owned()),
        Some(most) if most < FEW_FILES => {
            Err(format!("{most} at the most: too few for a crowd; raise `ulimit -Hn`"))
        }
        Some(most) => Ok(format!("{most} at the most")),
    }
}

fn clock() -> Result<String, String> {
    let now = SystemClock.now();
    let text =
        jiff::Timestamp::from_millisecond(now.as_millis()).map(|now| now.to_string()).unwrap_or_default();
    // Order ids begin in 2022 and end in 2090.
    if mallbox_storage::OrderId::day(now).is_none() {
        return Err(format!("{text}: the mall sells from 2022 to 2090 only"));
    }
    Ok(text)
}

/// How long it takes until the disk says that it has what was written.
fn sync(dir: &Path) -> Result<String, String> {
    let mut took = timed_syncs(&nearest(dir)).map_err(|error| format!("cannot be measured: {error}"))?;
    took.sort_unstable();
    let at = |percent: usize| took[(took.len() - 1) * percent / 100].as_micros();
    let text = format!("p50 {} µs, p99 {} µs ({SYNCS} × append 4 KiB + fdatasync)", at(50), at(99));
    // No disk, and no cache that outlives a power cut, answers that fast.
    if at(50) < 8 {
        Err(format!("{text}: this is memory, and does not survive a power cut"))
    } else {
        Ok(text)
    }
}

fn timed_syncs(dir: &Path) -> std::io::Result<Vec<Duration>> {
    let mut file = probe_file(dir)?;
    let mut took = Vec::with_capacity(SYNCS);
    for _ in 0..SYNCS {
        let began = Instant::now();
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        took.push(began.elapsed());
    }
    let mut first = [0];
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut first)?;
    Ok(took)
}

/// A file that is gone as soon as it is closed, whatever happens.
fn probe_file(dir: &Path) -> std::io::Result<File> {
    let path = dir.join(format!(".mallbox-doctor-{}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
