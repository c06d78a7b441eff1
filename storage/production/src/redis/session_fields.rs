//! The fields of a session in Redis.

use std::collections::HashMap;
use std::net::IpAddr;

use mallbox_storage::{
    LiveSession, Role, SessionOrigin, SessionRecord, StoreError, Timestamp, TokenHash, UserId,
};

use super::session_look_up::StoredSession;

/// Fields of a session, in the order of [`record`].
pub(super) const RECORD_FIELDS: [&str; 9] =
    ["user", "role", "origin", "created", "expires", "seen", "address", "browser", "factor"];

/// Value of the field `factor` in a session whose user gave a second factor. The field is empty, or missing
/// in a session of an older version, otherwise.
const WITH_SECOND_FACTOR: &str = "1";

pub(super) fn factor_name(has_second_factor: bool) -> &'static str {
    if has_second_factor { WITH_SECOND_FACTOR } else { "" }
}

pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Customer => "customer",
        Role::Operator => "operator",
    }
}

pub(super) fn origin_name(origin: SessionOrigin) -> &'static str {
    match origin {
        SessionOrigin::Code => "code",
        SessionOrigin::Password => "password",
        SessionOrigin::Other => "other",
    }
}

/// Reads a whole session; `None` if there is none.
///
/// # Errors
/// [`StoreError::Corrupt`] for a user or a time that is no number.
pub(super) fn stored(
    op: &'static str,
    mut fields: HashMap<String, String>,
) -> Result<Option<StoredSession>, StoreError> {
    if fields.is_empty() {
        return Ok(None);
    }
    let [user, role, origin, created, factor, expires, ttl, seen] =
        ["user", "role", "origin", "created", "factor", "expires", "ttl", "seen"]
            .map(|name| fields.remove(name).unwrap_or_default());
    let user = UserId::new(number(op, &user)?);
    let session = session(op, user, [&role, &origin, &created, &factor])?;
    let Some(expires) = instant(op, &expires)? else {
        return Err(StoreError::Corrupt { op, key: format!("a session of user {user} without an expiry") });
    };
    let ttl_ms = if ttl.is_empty() { None } else { Some(number(op, &ttl)?) };
    Ok(Some(StoredSession { session, expires, ttl_ms, seen: instant(op, &seen)? }))
}

/// Reads the session of a token; `None` if the session is over, or belongs to another user.
///
/// # Errors
/// [`StoreError::Corrupt`] for a time that is no number.
pub(super) fn record(
    op: &'static str,
    token: &str,
    fields: [Option<String>; 9],
    (user, now): (UserId, Timestamp),
) -> Result<Option<SessionRecord>, StoreError> {
    let [owner, role, origin, created, expires, seen, address, browser, factor] =
        fields.map(Option::unwrap_or_default);
    let is_live = instant(op, &expires)?.is_some_and(|expires| now < expires);
    let Some(token) = token_hash(token).filter(|_| is_live && owner == user.to_string()) else {
        return Ok(None);
    };
    let session = session(op, user, [&role, &origin, &created, &factor])?;
    let (seen, address) = (instant(op, &seen)?, address.parse::<IpAddr>().ok());
    Ok(Some(SessionRecord { token, session, seen, address, browser }))
}

fn session(
    op: &'static str,
    user: UserId,
    [role, origin, created, factor]: [&String; 4],
) -> Result<LiveSession, StoreError> {
    let role = if role == role_name(Role::Operator) { Role::Operator } else { Role::Customer };
    let (created, origin) = (instant(op, created)?, origin_of(origin));
    Ok(LiveSession { user, role, created, origin, has_second_factor: factor == WITH_SECOND_FACTOR })
}

fn origin_of(name: &str) -> SessionOrigin {
    let known = [SessionOrigin::Code, SessionOrigin::Password];
    known.into_iter().find(|origin| origin_name(*origin) == name).unwrap_or(SessionOrigin::Other)
}

fn instant(op: &'static str, text: &str) -> Result<Option<Timestamp>, StoreError> {
    if text.is_empty() {
        return Ok(None);
    }
    let ms = text.parse().map_err(|_| StoreError::Corrupt { op, key: text.to_owned() })?;
    Ok(Some(Timestamp::from_millis(ms)))
}

fn number(op: &'static str, text: &str) -> Result<u64, StoreError> {
    text.parse().map_err(|_| StoreError::Corrupt { op, key: text.to_owned() })
}

/// Reads 64 hexadecimal digits.
pub(super) fn token_hash(text: &str) -> Option<TokenHash> {
    let mut hash = [0; 32];
    if text.len() != 2 * hash.len() {
        return None;
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(TokenHash(hash))
}

#[cfg(test)]
mod tests {
    use mallbox_storage::hex;

    use super::*;

    #[test]
    fn a_hash_is_read_back() {
        let mut hash = [7; 32];
        hash[0] = 0xa9;
        assert_eq!(token_hash(&hex(&hash)), Some(TokenHash(hash)));
        for wrong in [String::new(), hex(&hash[1..]), "é".repeat(32), "x".repeat(64)] {
            assert_eq!(token_hash(&wrong), None, "{wrong}");
        }
    }
}
