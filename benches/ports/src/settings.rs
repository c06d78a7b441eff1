//! Settings of a run, which the process of each part gets too.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A side of the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The embedded back end.
    Directory,
    /// Redis and MySQL.
    Servers,
}

impl Side {
    /// Returns the word used on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Servers => "servers",
        }
    }

    /// Returns the name of the back end in a measurement.
    #[must_use]
    pub fn back_end(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Servers => "Redis and MySQL",
        }
    }
}

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Small sizes and short spans: all ports within five minutes.
    Quick,
    /// Up to 10 million buyers and visitors: hours.
    Full,
}

impl Effort {
    /// Chooses by the effort.
    pub fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// Settings of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// How much is measured.
    pub effort: Effort,
    /// Greatest number of concurrent callers.
    pub threads: usize,
    /// The sides, in the order of measuring.
    pub sides: Vec<Side>,
}

impl Settings {
    /// Chooses by the effort.
    pub(crate) fn pick<T>(&self, quick: T, full: T) -> T {
        self.effort.pick(quick, full)
    }

    /// Returns the time of a measurement.
    pub(crate) fn span(&self) -> Duration {
        self.pick(Duration::from_millis(400), Duration::from_secs(4))
    }

    /// Returns the numbers of callers to measure: one, and with a full effort some between, up to the
    /// greatest.
    pub(crate) fn callers(&self) -> Vec<usize> {
        let between = self.pick(vec![], vec![2, 8]);
        let mut callers: Vec<usize> = [1].into_iter().chain(between).chain([self.threads]).collect();
        callers.retain(|callers| *callers <= self.threads);
        callers.sort_unstable();
        callers.dedup();
        callers
    }

    /// Returns whether a side is measured.
    pub(crate) fn has(&self, side: Side) -> bool {
        self.sides.contains(&side)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_go_from_one_to_the_greatest_number() {
        let callers = |effort, threads| Settings { effort, threads, sides: Vec::new() }.callers();
        assert_eq!(callers(Effort::Quick, 64), [1, 64]);
        assert_eq!(callers(Effort::Full, 64), [1, 2, 8, 64]);
        assert_eq!(callers(Effort::Full, 8), [1, 2, 8]);
        assert_eq!(callers(Effort::Full, 4), [1, 2, 4]);
        assert_eq!(callers(Effort::Quick, 1), [1]);
    }
}
