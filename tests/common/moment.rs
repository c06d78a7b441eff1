//! The instant at which a start is interrupted.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::dice::Dice;

/// Approximate maximum of file changes during a start.
const CHANGES: u64 = 24;
/// Pause between two scans of a directory.
const PAUSE: Duration = Duration::from_micros(50);

/// An instant during a start.
#[derive(Clone, Copy, Debug)]
pub enum Moment {
    /// A time after the beginning.
    After(Duration),
    /// The time at which files below the mall's directory have appeared, disappeared or changed size this
    /// many times. Most file operations of a start take microseconds out of hundreds of milliseconds:
    /// instants chosen by the clock alone miss them.
    Changes(u64),
}

impl Moment {
    /// Returns a random instant of a start that takes about `about`, or shortly after.
    pub fn of_start(about: Duration, dice: &mut Dice) -> Self {
        if dice.chance(50) { Self::After(dice.within(about)) } else { Self::Changes(1 + dice.below(CHANGES)) }
    }

    /// Waits for the instant; two seconds at most, in case there are fewer changes.
    pub fn wait(self, data: &Path) {
        const LATEST: Duration = Duration::from_secs(2);
        match self {
            Self::After(span) => std::thread::sleep(span),
            Self::Changes(changes) => {
                let until = Instant::now() + LATEST;
                let (mut seen, mut count) = (sizes(data), 0);
                while count < changes && Instant::now() < until {
                    std::thread::sleep(PAUSE);
                    let now = sizes(data);
                    count += u64::from(now != seen);
                    seen = now;
                }
            }
        }
    }
}

/// Returns the size of each file.
fn sizes(dir: &Path) -> BTreeMap<PathBuf, u64> {
    let mut sizes = BTreeMap::new();
    // A file removed meanwhile counts as a change in the next scan.
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => sizes.append(&mut self::sizes(&entry.path())),
            Ok(metadata) => drop(sizes.insert(entry.path(), metadata.len())),
            Err(_) => {}
        }
    }
    sizes
}
