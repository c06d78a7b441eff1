//! Sessions as the mall passes them on: tokens, their hashes, and public ids.

use mallbox_storage::{LiveSession, SessionOrigin, SessionRecord, Timestamp, TokenHash, User, UserId, hex};
use sha2::{Digest, Sha256};

use crate::mall::base::Random;

/// A session just begun.
pub(super) struct BegunSession {
    /// The token, which nobody has yet.
    pub(super) token: String,
    /// The user as read after the begin.
    pub(super) user: User,
}

/// The session of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CurrentSession {
    pub(super) token: TokenHash,
    pub(super) live: LiveSession,
    pub(super) kiosk: Option<u32>,
}

impl CurrentSession {
    /// Returns the number of the kiosk at which a session of staff began; `None` for any other session.
    #[must_use]
    pub fn kiosk(&self) -> Option<u32> {
        self.kiosk.filter(|_| self.user().staff_number().is_some())
    }

    /// Returns the time of the begin, if known.
    #[must_use]
    pub fn begun(&self) -> Option<Timestamp> {
        self.live.created
    }

    /// Returns the user.
    #[must_use]
    pub fn user(&self) -> UserId {
        self.live.user
    }

    /// Returns whether the session began without a proof of identity: by a code of a counter, for example.
    pub(super) fn is_without_proof(&self) -> bool {
        self.live.origin == SessionOrigin::Other
    }

    /// Returns whether the session began with a login code.
    #[must_use]
    pub fn is_by_code(&self) -> bool {
        self.live.origin == SessionOrigin::Code
    }
}

/// A session in the user's own list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnSession {
    /// Public id: 32 hexadecimal digits, from which nobody can compute the token.
    pub id: String,
    /// Whether the session made this request.
    pub is_current: bool,
    /// Times, origin and client.
    pub record: SessionRecord,
}

/// Returns the public id of a session: a hash of the token's hash, so that sessions need no stored id.
pub(super) fn public_id(token: TokenHash) -> String {
    let digest = Sha256::new().chain_update(b"public id of a session").chain_update(token.0).finalize();
    hex(&digest[..16])
}

/// Digits of a token.
const DIGITS: usize = 48;
/// First character of the tokens of staff. Tells the lifetime of a session before the session is looked up.
const STAFF_MARK: char = 's';

/// Digits of the kiosk's number in the tokens of staff.
const KIOSK_DIGITS: usize = 8;

/// Makes the token of a session of staff: the mark, the number of its kiosk, and the digits of a token.
pub(in crate::mall::people) fn staff_token(random: &Random, kiosk: u32) -> String {
    format!("{STAFF_MARK}{kiosk:0KIOSK_DIGITS$x}{}", random.token())
}

/// Returns the number of the kiosk in a token of staff. Nobody can change the number: another text is the
/// token of no session.
pub(super) fn kiosk_in(token: &str) -> Option<u32> {
    let digits = token.strip_prefix(STAFF_MARK)?;
    u32::from_str_radix(digits.get(..KIOSK_DIGITS)?, 16).ok()
}

/// Returns the storage key of a session just begun.
pub(in crate::mall::people) fn staff_session_key(token: &str) -> TokenHash {
    hash_of(token)
}

/// Returns whether `text` is formed like a token of staff.
pub(super) fn is_staff_token(text: &str) -> bool {
    let digits = text.strip_prefix(STAFF_MARK);
    digits.is_some_and(|digits| digits.len() == KIOSK_DIGITS + DIGITS && is_digits(digits))
}

/// Returns whether `text` is formed like a token: lower-case hexadecimal digits, 48 of a user, and more after
/// a mark of staff.
pub(super) fn is_token(text: &str) -> bool {
    (text.len() == DIGITS && is_digits(text)) || is_staff_token(text)
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

pub(super) fn hash_of(token: &str) -> TokenHash {
    TokenHash(Sha256::digest(token.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_one_form() {
        let token = Random::seeded(3).token();
        let of_staff = staff_token(&Random::seeded(3), u32::MAX);
        assert!(is_token(&token) && !is_staff_token(&token));
        assert!(is_token(&of_staff) && is_staff_token(&of_staff));
        assert_eq!((kiosk_in(&of_staff), kiosk_in(&token)), (Some(u32::MAX), None));
        assert_eq!(kiosk_in(&staff_token(&Random::seeded(3), 7)), Some(7));
        for bad in [
            "",
            "x",
            &token[1..],
            &format!("{token}0"),
            &format!("s{token}"),
            &format!("s{of_staff}"),
            &format!("S{token}"),
            &token.replace(char::is_alphanumeric, "A"),
            &"é".repeat(24),
        ] {
            assert!(!is_token(bad), "{bad}");
        }
    }

    #[test]
    fn a_public_id_differs_per_session_and_has_nothing_of_the_hash() {
        let token = hash_of("a");
        let id = public_id(token);
        assert_eq!(id.len(), 32);
        assert_ne!(id, public_id(hash_of("b")));
        assert!(!hex(&token.0).contains(&id[..8]));
    }
}
