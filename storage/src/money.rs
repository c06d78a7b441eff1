//! Amounts of money.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An amount of money in cents (分), never a float.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Cents(i64);

impl Cents {
    /// Wraps the number of cents.
    #[must_use]
    pub const fn new(cents: i64) -> Self {
        Self(cents)
    }

    /// Returns the number of cents.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Formats the amount in yuan with two decimals, such as `-12.05`.
    #[must_use]
    pub fn yuan(self) -> String {
        yuan(self.0.into())
    }
}

/// Formats a sum of amounts, in cents, in yuan with two decimals, such as `-12.05`.
#[must_use]
pub fn yuan(cents: i128) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    let cents = cents.unsigned_abs();
    format!("{sign}{}.{:02}", cents / 100, cents % 100)
}

impl fmt::Display for Cents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cents_are_yuan_with_two_digits() {
        for (cents, want) in [
            (0, "0.00"),
            (5, "0.05"),
            (-5, "-0.05"),
            (1_205, "12.05"),
            (-120_000, "-1200.00"),
            (i128::from(i64::MIN), "-92233720368547758.08"),
        ] {
            assert_eq!(yuan(cents), want);
        }
    }
}
