//! Versions of servers, compared with the oldest that a mall can use.

/// How a version of a server relates to those that a mall can use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Support {
    /// A mall is known to work with this version, or with an earlier one.
    Supported,
    /// Another product with the same protocol: intended to work, and not tested.
    Untested,
    /// Older than a mall needs; the oldest version that suffices.
    TooOld(&'static str),
}

/// Compares a version such as `10.11.6-MariaDB` with the oldest one that suffices.
pub(in super::super) fn support(version: &str, oldest: &'static str, is_tested: bool) -> Support {
    if numbers(version) < numbers(oldest) {
        Support::TooOld(oldest)
    } else if is_tested {
        Support::Supported
    } else {
        Support::Untested
    }
}

/// Returns the first three numbers of a version; 0 for a missing one.
fn numbers(version: &str) -> [u32; 3] {
    let mut parts = version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    [(); 3].map(|()| parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, oldest, expected) in [
            ("7.0.15", "6.2", Support::Supported),
            ("6.2.0", "6.2", Support::Supported),
            ("6.0.16", "6.2", Support::TooOld("6.2")),
            ("10.11.6-MariaDB-0+deb12u1", "10.6", Support::Supported),
            ("10.5.23-MariaDB", "10.6", Support::TooOld("10.6")),
            ("8.0.0-dmr", "8.0.1", Support::TooOld("8.0.1")),
            ("", "6.2", Support::TooOld("6.2")),
        ] {
            assert_eq!(support(version, oldest, true), expected, "{version}");
        }
        assert_eq!(support("8.4.1", "8.0.1", false), Support::Untested);
        assert_eq!(support("5.7.44", "8.0.1", false), Support::TooOld("8.0.1"));
    }
}
