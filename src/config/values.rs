//! Values of flags that several commands share.

use clap::ValueEnum;

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
