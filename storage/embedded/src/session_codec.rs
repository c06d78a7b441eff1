//! Encoding of sessions and login codes in the journal's entries.
//!
//! Keys: `s` + the token's hash, `c` + the phone. Values begin with a version byte; numbers are
//! little-endian. Sessions of version 1 have no TTL; codes have version 1.

use std::time::Duration;

use mallbox_storage::{Phone, Timestamp, TokenHash, UserId};

use super::journal::Change;
use super::session_state::{Code, LiveCode, Session};

const VERSION: u8 = 1;
/// Version of a session with a TTL.
const WITH_TTL: u8 = 2;

/// A decoded entry.
#[derive(Debug)]
pub(super) enum Entry {
    Session(TokenHash, Session),
    Code(Phone, Code),
}

pub(super) fn session_key(token: TokenHash) -> Vec<u8> {
    [b"s".as_slice(), &token.0].concat()
}

pub(super) fn code_key(phone: &Phone) -> Vec<u8> {
    [b"c", phone.as_str().as_bytes()].concat()
}

pub(super) fn session_change(token: TokenHash, session: &Session) -> Change {
    let mut value = vec![if session.ttl.is_some() { WITH_TTL } else { VERSION }];
    value.extend(session.user.get().to_le_bytes());
    value.extend(session.expires.as_millis().to_le_bytes());
    if let Some(ttl) = session.ttl {
        value.extend(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX).to_le_bytes());
    }
    Change { key: session_key(token), value: Some(value) }
}

pub(super) fn code_change(phone: &Phone, code: &Code) -> Change {
    let mut value = vec![VERSION];
    value.extend(code.issued.as_millis().to_le_bytes());
    value.extend(code.day_began.as_millis().to_le_bytes());
    value.extend(code.issued_that_day.to_le_bytes());
    if let Some(live) = &code.live {
        value.extend(live.expires.as_millis().to_le_bytes());
        value.extend(live.wrong_tries.to_le_bytes());
        value.extend(live.code.as_bytes());
    }
    Change { key: code_key(phone), value: Some(value) }
}

/// Decodes an entry.
///
/// # Errors
/// Describes an unreadable entry by the lengths of key and value.
pub(super) fn decode(key: &[u8], value: &[u8]) -> Result<Entry, String> {
    let entry = match key.split_first() {
        Some((b's', token)) => session(token, value),
        Some((b'c', phone)) => code(phone, value),
        _ => None,
    };
    entry.ok_or_else(|| format!("unreadable entry of {} and {} bytes", key.len(), value.len()))
}

fn session(token: &[u8], value: &[u8]) -> Option<Entry> {
    let (version, mut rest) = value.split_first()?;
    let user = UserId::new(u64::from_le_bytes(*take(&mut rest)?));
    let expires = instant(&mut rest)?;
    let ttl = match *version {
        VERSION => None,
        WITH_TTL => Some(Duration::from_millis(u64::from_le_bytes(*take(&mut rest)?))),
        _ => return None,
    };
    let token = TokenHash(token.try_into().ok()?);
    rest.is_empty().then_some(Entry::Session(token, Session { user, expires, ttl, written: expires }))
}

fn code(phone: &[u8], value: &[u8]) -> Option<Entry> {
    let phone = Phone::parse(std::str::from_utf8(phone).ok()?)?;
    let mut rest = versioned(value)?;
    let issued = instant(&mut rest)?;
    let day_began = instant(&mut rest)?;
    let issued_that_day = u32::from_le_bytes(*take(&mut rest)?);
    let live = if rest.is_empty() {
        None
    } else {
        let expires = instant(&mut rest)?;
        let wrong_tries = u32::from_le_bytes(*take(&mut rest)?);
        Some(LiveCode { code: String::from_utf8(rest.to_vec()).ok()?, expires, wrong_tries })
    };
    Some(Entry::Code(phone, Code { live, issued, day_began, issued_that_day }))
}

fn versioned(value: &[u8]) -> Option<&[u8]> {
    value.split_first().filter(|(version, _)| **version == VERSION).map(|(_, rest)| rest)
}

fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (taken, left) = rest.split_first_chunk()?;
    *rest = left;
    Some(taken)
}

fn instant(rest: &mut &[u8]) -> Option<Timestamp> {
    Some(Timestamp::from_millis(i64::from_le_bytes(*take(rest)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(1_795_262_400_123);

    fn read_back(change: &Change) -> Result<Entry, String> {
        decode(&change.key, change.value.as_ref().unwrap())
    }

    #[test]
    fn what_is_written_is_read_back() {
        for ttl in [None, Some(Duration::from_secs(1_800)), Some(Duration::from_millis(u64::MAX))] {
            let session = Session { user: UserId::new(7), expires: AT, ttl, written: AT };
            let change = session_change(TokenHash([9; 32]), &session);
            assert!(
                matches!(read_back(&change), Ok(Entry::Session(TokenHash(t), s)) if t == [9; 32] && s == session)
            );
        }

        let phone = Phone::parse("13900000001").unwrap();
        let live = LiveCode { code: "123456".to_owned(), expires: AT, wrong_tries: 4 };
        for live in [None, Some(live)] {
            let code = Code { live, issued: AT, day_began: AT, issued_that_day: 3 };
            let change = code_change(&phone, &code);
            assert!(matches!(read_back(&change), Ok(Entry::Code(p, c)) if p == phone && c == code));
        }
    }

    #[test]
    fn a_session_of_a_version_without_a_ttl_is_read() {
        let value = [&[1][..], &7_u64.to_le_bytes(), &AT.as_millis().to_le_bytes()].concat();
        let read = decode(&session_key(TokenHash([9; 32])), &value);
        let session = Session { user: UserId::new(7), expires: AT, ttl: None, written: AT };
        assert!(matches!(read, Ok(Entry::Session(_, read)) if read == session));
    }

    #[test]
    fn what_was_never_written_is_refused() {
        let ttl = Some(Duration::from_secs(1_800));
        let session = Session { user: UserId::new(7), expires: AT, ttl, written: AT };
        let change = session_change(TokenHash([9; 32]), &session);
        let value = change.value.unwrap();
        for (key, value) in [
            (&b""[..], &value[..]),
            (b"x", &value),
            (b"s short", &value),
            (&change.key, &value[..value.len() - 1]),
            (&change.key, &[2; 17]),
            (&change.key, &[1; 25]),
            (&change.key, &[3; 25]),
            (b"c13900000001", &[1, 2]),
            (b"cnobody", &value),
        ] {
            assert!(decode(key, value).is_err(), "{key:?} {value:?}");
        }
    }
}
