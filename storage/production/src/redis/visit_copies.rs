//! The keys that a restored mall needs and no database can fill again: visitors and views of days, and the
//! salts of anonymous visitors. They are copied as they are, without the mall's prefix.

use std::io;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use mallbox_storage::{StoreError, Timestamp};
use redis::Cmd;
use serde::{Deserialize, Serialize};

use super::keys::Keys;
use super::link::Link;
use super::scan::{keys_of, of_key};
use crate::copy_error::CopyError;

const OP: &str = "copy visits";
/// How the keys begin, behind prefix and brace.
const BEGINNING: &str = "visits:";
/// Lines written at once.
const LINES_AT_ONCE: usize = 500;

/// A key in a backup.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct VisitLine {
    /// The key without the mall's prefix, such as `{visits:7}:20450`.
    key: String,
    base64: String,
    /// When Redis forgets the key, in ms since 1970.
    expires_ms: i64,
}

/// Copies the keys to `out`, a line each.
pub(super) async fn copy(
    link: &Link,
    prefix: &str,
    now: Timestamp,
    mut out: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), CopyError> {
    let mut scan = keys_of(link, OP, prefix).await?;
    while let Some(keys) = scan.next().await? {
        let named: Vec<(String, String)> = keys
            .into_iter()
            .filter_map(|key| Some((without_prefix(&key, prefix)?, key)))
            .filter(|(name, _)| is_of_visits(name))
            .collect();
        let gets: Vec<Cmd> = named.iter().map(|(_, key)| of_key("GET", key)).collect();
        let lives: Vec<Cmd> = named.iter().map(|(_, key)| of_key("PTTL", key)).collect();
        let values: Vec<Option<Vec<u8>>> = link.query_all(OP, &gets).await?;
        let lives: Vec<i64> = link.query_all(OP, &lives).await?;
        for (((name, _), value), life) in named.into_iter().zip(values).zip(lives) {
            // A key that has expired meanwhile. Every key of visits expires.
            let (Some(value), 0..) = (value, life) else { continue };
            let expires_ms = now.as_millis().saturating_add(life);
            let line = VisitLine { key: name, base64: BASE64_STANDARD.encode(value), expires_ms };
            let mut line = serde_json::to_vec(&line).map_err(io::Error::from)?;
            line.push(b'\n');
            out(&line)?;
        }
    }
    Ok(())
}

/// Writes copied keys, after the removal of any that are there. Keys that have expired since are left out.
pub(super) async fn replace(
    link: &Link,
    (keys, prefix): (&Keys, &str),
    lines: impl io::BufRead,
    now: Timestamp,
) -> Result<(), CopyError> {
    // Of a restore that was cut short.
    let mut scan = keys_of(link, OP, prefix).await?;
    while let Some(found) = scan.next().await? {
        let is_visit = |key: &&String| without_prefix(key, prefix).is_some_and(|name| is_of_visits(&name));
        let commands: Vec<Cmd> = found.iter().filter(is_visit).map(|key| of_key("UNLINK", key)).collect();
        link.query_all::<u64>(OP, &commands).await?;
    }
    let mut sets = Vec::new();
    for (number, line) in (1..).zip(lines.lines()) {
        let bad = || CopyError::Input { table: "visits".to_owned(), line: number };
        let line: VisitLine = serde_json::from_str(&line?).map_err(|_| bad())?;
        let value = BASE64_STANDARD.decode(&line.base64).map_err(|_| bad())?;
        if !is_of_visits(&line.key) {
            return Err(bad());
        }
        if line.expires_ms > now.as_millis() {
            let mut set = redis::cmd("SET");
            set.arg(keys.with_prefix(&line.key)).arg(value).arg("PXAT").arg(line.expires_ms);
            sets.push(set);
        }
        if sets.len() == LINES_AT_ONCE {
            link.query_all::<()>(OP, &std::mem::take(&mut sets)).await?;
        }
    }
    link.query_all::<()>(OP, &sets).await?;
    Ok(())
}

/// Returns whether there are keys of the mall other than those of visits.
pub(super) async fn has_other_keys(link: &Link, prefix: &str) -> Result<bool, StoreError> {
    let mut scan = keys_of(link, OP, prefix).await?;
    while let Some(keys) = scan.next().await? {
        let other = |key: &String| without_prefix(key, prefix).is_some_and(|name| !is_of_visits(&name));
        if keys.iter().any(other) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_of_visits(name: &str) -> bool {
    name.strip_prefix('{').unwrap_or(name).starts_with(BEGINNING)
}

fn without_prefix(key: &str, prefix: &str) -> Option<String> {
    let (brace, rest) = key.strip_prefix('{').map_or(("", key), |rest| ("{", rest));
    let name = rest.strip_prefix(prefix)?.strip_prefix(':')?;
    Some(format!("{brace}{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_loses_its_prefix_and_gets_another() {
        let keys = Keys::new("other").unwrap();
        for (key, name, renamed) in [
            ("{mall:visits:7}:20450", "{visits:7}:20450", "{other:visits:7}:20450"),
            ("mall:visits:salt:20450", "visits:salt:20450", "other:visits:salt:20450"),
        ] {
            assert_eq!(without_prefix(key, "mall").as_deref(), Some(name));
            assert_eq!(keys.with_prefix(name), renamed);
            assert!(is_of_visits(name));
        }
        assert_eq!(without_prefix("mallbox:visits:7", "mall"), None);
        assert!(!is_of_visits("{03}:sale:7"));
    }
}
