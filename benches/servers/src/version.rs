//! The programs, and their versions.

use std::process::Command;

/// The program of Redis.
pub const REDIS: &str = "redis-server";
/// The program of MariaDB.
pub const MARIADB: &str = "mariadbd";

/// Returns the version of an installed program, such as `7.0.15`; `None` if it is not installed.
#[must_use]
pub fn version(program: &str) -> Option<String> {
    let output =
        Command::new(program).arg("--version").output().ok().filter(|output| output.status.success())?;
    in_text(&String::from_utf8_lossy(&output.stdout))
}

/// Finds the first word that begins with a digit, after `v=` or alone.
fn in_text(text: &str) -> Option<String> {
    let words = text.split_whitespace().map(|word| word.strip_prefix("v=").unwrap_or(word));
    words.filter(|word| word.starts_with(|first: char| first.is_ascii_digit())).map(str::to_owned).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_a_program_prints() {
        for (text, want) in [
            ("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64", Some("7.0.15")),
            (
                "mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu",
                Some("10.11.6-MariaDB-0+deb12u1"),
            ),
            ("mysqld", None),
        ] {
            assert_eq!(in_text(text).as_deref(), want);
        }
        assert_eq!(version("a-program-that-nobody-has"), None);
    }
}
