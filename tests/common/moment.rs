//! The moment at which a start is cut off.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::dice::Dice;

/// Changes of files that a start makes at the most, about.
const CHANGES: u64 = 24;
/// Between two readings of a directory.
const PAUSE: Duration = Duration::from_micros(50);

/// A moment of a start.
#[derive(Clone, Copy, Debug)]
pub enum Moment {
    /// So long after it began.
    After(Duration),
    /// When files below the mall's directory have appeared, gone or changed their size this often. Most of what a start
    /// does to files takes microseconds in hundreds of milliseconds: moments by the clock alone miss it.
    Changes(u64),
}

impl Moment {
    /// Any moment of a start that takes about so long, or shortly after it.
    pub fn of_start(about: Duration, dice: &mut Dice) -> Self {
        if dice.chance(50) { Self::After(dice.within(about)) } else { Self::Changes(1 + dice.below(CHANGES)) }
    }

    /// Returns then; after two seconds at the latest, if there are fewer changes.
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

/// The size of each file.
fn sizes(dir: &Path) -> BTreeMap<PathBuf, u64> {
    let mut sizes = BTreeMap::new();
    // A file that goes meanwhile is a change that the next reading sees.
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => sizes.append(&mut self::sizes(&entry.path())),
            Ok(metadata) => drop(sizes.insert(entry.path(), metadata.len())),
            Err(_) => {}
        }
    }
    sizes
}
