//! Encoding of sessions in the journal's entries.
//!
//! Key: `s` + the token's hash. Values begin with a version byte; numbers are little-endian. Sessions of
//! version 1 have no TTL, sessions of version 2 only user, expiry and TTL. A session is written in the oldest
//! version that holds all of its data.

use std::net::IpAddr;
use std::time::Duration;

use mallbox_storage::backend::BROWSER_MAX_BYTES;
use mallbox_storage::{Role, SessionOrigin, Timestamp, TokenHash, UserId};

use super::journal::Change;
use super::session_state::{Session, SessionTimes};

const VERSION: u8 = 1;
/// Version of a session with a TTL.
const WITH_TTL: u8 = 2;
/// Version of a session with times, role, origin, address and browser.
const WITH_TIMES: u8 = 3;
/// Version of such a session whose user gave a second factor.
const WITH_SECOND_FACTOR: u8 = 4;

pub(super) fn session_key(token: TokenHash) -> Vec<u8> {
    [b"s".as_slice(), &token.0].concat()
}

pub(super) fn session_change(token: TokenHash, session: &Session) -> Change {
    let version = match (session.ttl, session.times) {
        (None, _) => VERSION,
        (Some(_), None) => WITH_TTL,
        (Some(_), Some(_)) if session.has_second_factor => WITH_SECOND_FACTOR,
        (Some(_), Some(_)) => WITH_TIMES,
    };
    let mut value = vec![version];
    value.extend(session.user.get().to_le_bytes());
    value.extend(session.expires.as_millis().to_le_bytes());
    if let Some(ttl) = session.ttl {
        value.extend(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX).to_le_bytes());
        if let Some(times) = session.times {
            write_details(&mut value, session, times);
        }
    }
    Change { key: session_key(token), value: Some(value) }
}

fn write_details(value: &mut Vec<u8>, session: &Session, times: SessionTimes) {
    value.extend(times.created.as_millis().to_le_bytes());
    value.extend(times.seen.as_millis().to_le_bytes());
    value.push(match session.role {
        Role::Customer => 0,
        Role::Operator => 1,
    });
    value.push(match session.origin {
        SessionOrigin::Other => 0,
        SessionOrigin::Code => 1,
        SessionOrigin::Password => 2,
    });
    match session.address {
        None => value.push(0),
        Some(IpAddr::V4(address)) => {
            value.push(4);
            value.extend(address.octets());
        }
        Some(IpAddr::V6(address)) => {
            value.push(16);
            value.extend(address.octets());
        }
    }
    value.extend(session.browser.as_bytes());
}

/// Decodes an entry.
///
/// # Errors
/// Describes an unreadable entry by the lengths of key and value.
pub(super) fn decode(key: &[u8], value: &[u8]) -> Result<(TokenHash, Session), String> {
    let entry = match key.split_first() {
        Some((b's', token)) => session(token, value),
        _ => None,
    };
    entry.ok_or_else(|| format!("unreadable entry of {} and {} bytes", key.len(), value.len()))
}

fn session(token: &[u8], value: &[u8]) -> Option<(TokenHash, Session)> {
    let (version, mut rest) = value.split_first()?;
    let user = UserId::new(u64::from_le_bytes(*take(&mut rest)?));
    let expires = instant(&mut rest)?;
    let ttl = match *version {
        VERSION => None,
        WITH_TTL | WITH_TIMES | WITH_SECOND_FACTOR => {
            Some(Duration::from_millis(u64::from_le_bytes(*take(&mut rest)?)))
        }
        _ => return None,
    };
    let mut session = Session {
        user,
        expires,
        ttl,
        written: expires,
        times: None,
        role: Role::Customer,
        origin: SessionOrigin::Other,
        address: None,
        browser: Box::default(),
        has_second_factor: *version == WITH_SECOND_FACTOR,
    };
    if *version >= WITH_TIMES {
        read_details(&mut rest, &mut session)?;
    }
    let token = TokenHash(token.try_into().ok()?);
    rest.is_empty().then_some((token, session))
}

fn read_details(rest: &mut &[u8], session: &mut Session) -> Option<()> {
    session.times = Some(SessionTimes::new(instant(rest)?, instant(rest)?));
    session.role = match take(rest)? {
        [0] => Role::Customer,
        [1] => Role::Operator,
        _ => return None,
    };
    session.origin = match take(rest)? {
        [0] => SessionOrigin::Other,
        [1] => SessionOrigin::Code,
        [2] => SessionOrigin::Password,
        _ => return None,
    };
    session.address = match take(rest)? {
        [0] => None,
        [4] => Some(IpAddr::from(*take::<4>(rest)?)),
        [16] => Some(IpAddr::from(*take::<16>(rest)?)),
        _ => return None,
    };
    let browser = std::str::from_utf8(std::mem::take(rest)).ok()?;
    session.browser = (browser.len() <= BROWSER_MAX_BYTES).then(|| browser.into())?;
    Some(())
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

    fn stored(ttl: Option<Duration>, times: Option<SessionTimes>) -> Session {
        Session {
            user: UserId::new(7),
            expires: AT,
            ttl,
            written: AT,
            times,
            role: Role::Customer,
            origin: SessionOrigin::Other,
            address: None,
            browser: Box::default(),
            has_second_factor: false,
        }
    }

    fn read_back(change: &Change) -> Result<(TokenHash, Session), String> {
        decode(&change.key, change.value.as_ref().unwrap())
    }

    #[test]
    fn what_is_written_is_read_back() {
        let ttl = Some(Duration::from_secs(1_800));
        let mut sessions = vec![stored(None, None), stored(ttl, None)];
        sessions.push(stored(Some(Duration::from_millis(u64::MAX)), None));
        let times = Some(SessionTimes::new(AT - Duration::from_secs(60), AT));
        for (role, origin, address, browser) in [
            (Role::Customer, SessionOrigin::Other, None, ""),
            (Role::Operator, SessionOrigin::Code, Some("203.0.113.7"), "Chrome · Android"),
            (Role::Customer, SessionOrigin::Password, Some("2001:db8::7"), "微信"),
        ] {
            let address = address.map(|text| text.parse().unwrap());
            for has_second_factor in [false, true] {
                let browser = browser.into();
                let session = stored(ttl, times);
                sessions.push(Session { role, origin, address, browser, has_second_factor, ..session });
            }
        }
        for session in sessions {
            let change = session_change(TokenHash([9; 32]), &session);
            assert!(matches!(read_back(&change), Ok((TokenHash(t), s)) if t == [9; 32] && s == session));
        }
    }

    #[test]
    fn a_session_of_a_version_without_a_ttl_is_read() {
        let value = [&[1][..], &7_u64.to_le_bytes(), &AT.as_millis().to_le_bytes()].concat();
        let read = decode(&session_key(TokenHash([9; 32])), &value);
        assert!(matches!(read, Ok((_, read)) if read == stored(None, None)));
    }

    #[test]
    fn a_session_of_a_version_without_times_is_read() {
        let ttl = Duration::from_secs(1_800);
        let value =
            [&[2][..], &7_u64.to_le_bytes(), &AT.as_millis().to_le_bytes(), &1_800_000_u64.to_le_bytes()];
        let read = decode(&session_key(TokenHash([9; 32])), &value.concat());
        assert!(matches!(read, Ok((_, read)) if read == stored(Some(ttl), None)));
    }

    #[test]
    fn what_was_never_written_is_refused() {
        let ttl = Some(Duration::from_secs(1_800));
        let change = session_change(TokenHash([9; 32]), &stored(ttl, None));
        let value = change.value.unwrap();
        let times = Some(SessionTimes::new(AT, AT));
        let whole = session_change(TokenHash([9; 32]), &stored(ttl, times)).value.unwrap();
        let with = |at: usize, byte: u8| {
            let mut value = whole.clone();
            value[at] = byte;
            value
        };
        // Role, origin, length of the address.
        for wrong in [with(41, 2), with(42, 3), with(43, 5), with(43, 4)] {
            assert!(decode(&change.key, &wrong).is_err(), "{wrong:?}");
        }
        let browser = [&whole[..], &[b'x'; BROWSER_MAX_BYTES]].concat();
        assert!(decode(&change.key, &browser).is_ok());
        assert!(decode(&change.key, &[&browser[..], b"x"].concat()).is_err(), "too long a browser");
        for (key, value) in [
            (&b""[..], &value[..]),
            (b"x", &value),
            (b"s short", &value),
            (&change.key, &value[..value.len() - 1]),
            (&change.key, &[2; 17]),
            (&change.key, &[1; 25]),
            (&change.key, &[3; 25]),
            (&change.key, &[4; 25]),
            (&change.key, &with(0, 5)),
            (b"c13900000001", &value),
        ] {
            assert!(decode(key, value).is_err(), "{key:?} {value:?}");
        }
    }
}
