//! Backups one after the other, into a directory that may come and go.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use jiff::Timestamp;

use super::super::messages::{CommandFailure, render_error};
use super::super::output::{print, warn};
use super::take::{Target, file_name, time_in};
use crate::backup::retention::Retention;
use crate::language::{Language, sentence};

/// Interval at which a directory that is away is looked for.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
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
            thread::sleep(LOOK_INTERVAL);
            continue;
        }
        is_away = false;
        let taken = target.take(to).and_then(|_| keep.map_or(Ok(()), |keep| remove_superfluous(to, keep, l)));
        let pause = match taken {
            Ok(()) => every.saturating_sub(began.elapsed()),
            Err(error) => {
                warn(&render_error(&error, l));
                every.min(RETRY_MAX)
            }
        };
        thread::sleep(pause);
    }
}

/// Removes the backups that need not be kept. Other files in the directory stay.
pub(super) fn remove_superfluous(dir: &Path, keep: &Retention, l: Language) -> anyhow::Result<()> {
    let cannot_write = |error| CommandFailure::CannotWrite(dir.to_owned()).with_cause(error);
    let mut times: Vec<Timestamp> = Vec::new();
    for entry in fs::read_dir(dir).map_err(cannot_write)? {
        let name = entry.map_err(cannot_write)?.file_name();
        times.extend(time_in(&name.to_string_lossy()));
    }
    for time in keep.superfluous(&times) {
        let path = dir.join(file_name(time));
        fs::remove_file(&path).map_err(cannot_write)?;
        let path = path.display();
        print(&sentence!(l, "{path}：不再需要，已删除\n", "{path}: no longer needed, removed\n"));
    }
    Ok(())
}
