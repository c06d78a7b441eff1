//! Values of flags that several commands share.

use std::fmt;

use clap::ValueEnum;

/// A text that may contain a secret, so `Debug` hides it.
#[derive(Clone)]
pub struct HiddenText(pub String);

impl From<&str> for HiddenText {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for HiddenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HiddenText(..)")
    }
}

/// On or off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Switch {
    /// The limits apply.
    On,
    /// No limit applies.
    Off,
}

/// Parses a number of at least 1: with 0 connections, for example, no client could connect.
pub(crate) fn at_least_one() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}
