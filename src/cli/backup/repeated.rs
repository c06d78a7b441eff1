//! Backups one after the other, into a directory that may come and go.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use jiff::Timestamp;

use super::directory::Form;
use super::naming::stream_of;
use super::naming::time_in;
use super::take::{Taken, Target};
use crate::backup::retention::Retention;
use crate::cli::messages::{CommandFailure, render_error};
use crate::cli::output::{print, warn};
use crate::language::{Language, sentence};

/// Interval of checks for a directory that is away.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Longest pause after a failed backup.
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Takes backups until the process is stopped.
pub(super) fn run(
    target: &Target<'_>,
    to: &Path,
    every: Duration,
    keep: Option<&Retention>,
) -> anyhow::Result<()> {
    let l = target.l;
    let mut is_away = false;
    loop {
        let began = Instant::now();
        if !to.is_dir() {
            if !std::mem::replace(&mut is_away, true) {
                let to = to.display();
                warn(&sentence!(
                    l,
                    "{to}现在不在；等它出现就立即备份",
                    "{to} is not there; a backup follows as soon as it is"
                ));
            }
            thread::sleep(CHECK_INTERVAL);
            continue;
        }
        is_away = false;
        let pause = match target.take(to, Form::Whole) {
            Ok(taken) => {
                keep.inspect(|keep| remove_superfluous(to, keep, &taken, l));
                every.saturating_sub(began.elapsed())
            }
            Err(error) => {
                warn(&render_error(&error, l));
                every.min(RETRY_MAX)
            }
        };
        thread::sleep(pause);
    }
}

/// Removes the backups that need not be kept, after one was `taken`. Other files in the directory stay, and
/// so does everything if the trial of the new backup leaves a doubt: an earlier one may be needed. What
/// cannot be removed is reported.
pub(super) fn remove_superfluous(dir: &Path, keep: &Retention, taken: &Taken, l: Language) {
    if taken.is_doubtful {
        return;
    }
    let cannot_write = |error| {
        let error = CommandFailure::CannotWrite(dir.to_owned()).with_cause(error);
        warn(&render_error(&error, l));
    };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => return cannot_write(error),
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let timed = names.filter_map(|name| Some((time_in(&name.to_string_lossy())?, name)));
    // Later ones were named by a clock that ran ahead.
    let timed: Vec<(Timestamp, OsString)> = timed.filter(|(time, _)| *time <= taken.at).collect();
    let times: Vec<Timestamp> = timed.iter().map(|(time, _)| *time).collect();
    let superfluous = keep.superfluous(&times);
    for (_, name) in timed.iter().filter(|(time, _)| superfluous.contains(time)) {
        let path = dir.join(name);
        // Its stream first: without the backup it would be of no use, and would stay.
        if let Err(error) = fs::remove_file(stream_of(&path))
            && error.kind() != io::ErrorKind::NotFound
        {
            cannot_write(error);
            continue;
        }
        match fs::remove_file(&path) {
            Ok(()) => {
                let path = path.display();
                print(&sentence!(l, "{path}：不再需要，已删除\n", "{path}: no longer needed, removed\n"));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => cannot_write(error),
        }
    }
}
