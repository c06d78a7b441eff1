//! Tokens that the mall hands out and later believes: fixed fields under a MAC, as URL-safe text.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::keys::GuardKey;
use crate::mall::base::hmac::{hmac_sha256, is_hmac_sha256};

/// Bytes of the key's id at the start of a token.
const ID_BYTES: usize = 4;
/// Bytes of the MAC at the end.
const MAC_BYTES: usize = 32;

/// What a token is for. No token of one purpose is taken for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    Device,
    Challenge,
    Pass,
    RoomTicket,
    Admission,
}

impl Purpose {
    /// Returns the start of the MAC's message: texts of one length.
    fn mark(self) -> &'static [u8] {
        match self {
            Self::Device => b"device ticket",
            Self::Challenge => b"challenge    ",
            Self::Pass => b"pass         ",
            Self::RoomTicket => b"room ticket  ",
            Self::Admission => b"admission    ",
        }
    }
}

/// A token as presented by a client, with `N` bytes of fields, not verified yet.
#[derive(Debug)]
pub(super) struct Token<const N: usize> {
    key: u32,
    fields: [u8; N],
    mac: Vec<u8>,
}

impl<const N: usize> Token<N> {
    /// Writes a token. `bound` is what the token is bound to without naming it: the client has to show the
    /// same again.
    pub(super) fn seal(key: &GuardKey, purpose: Purpose, fields: &[u8; N], bound: &[u8]) -> String {
        let id = key.id().to_be_bytes();
        let mac = hmac_sha256(key.secret(), &[purpose.mark(), &id, fields, bound]);
        URL_SAFE_NO_PAD.encode([&id[..], fields, &mac].concat())
    }

    /// Reads a token. `None` for a text that is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        // Base64 takes four characters for three bytes.
        if text.len() > (ID_BYTES + N + MAC_BYTES) * 4 / 3 + 2 {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (id, rest) = bytes.split_first_chunk::<ID_BYTES>()?;
        let (fields, mac) = rest.split_first_chunk::<N>()?;
        let key = u32::from_be_bytes(*id);
        (mac.len() == MAC_BYTES).then(|| Self { key, fields: *fields, mac: mac.to_vec() })
    }

    /// Returns the id of the key that the token claims to be signed with.
    pub(super) fn key(&self) -> u32 {
        self.key
    }

    /// Returns the fields, if the token was sealed with `key` for this purpose and bound to the same.
    pub(super) fn open(&self, key: &GuardKey, purpose: Purpose, bound: &[u8]) -> Option<&[u8; N]> {
        let message: [&[u8]; 4] = [purpose.mark(), &self.key.to_be_bytes(), &self.fields, bound];
        (self.key == key.id() && is_hmac_sha256(&self.mac, key.secret(), &message)).then_some(&self.fields)
    }
}

/// Reads fixed fields one after another. A token has as many bytes as its fields, so nothing is missing.
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the next `N` bytes.
    pub(super) fn next<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (next, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: u32, secret: &str) -> GuardKey {
        GuardKey::new(id, secret.as_bytes())
    }

    #[test]
    fn a_token_opens_with_its_key_purpose_and_binding_alone() {
        let signed_with = key(7, "secret");
        let text = Token::seal(&signed_with, Purpose::Pass, b"fields", b"bound");
        let token = Token::<6>::parse(&text).unwrap();
        assert_eq!(token.key(), 7);
        assert_eq!(token.open(&signed_with, Purpose::Pass, b"bound"), Some(b"fields"));
        for (key, purpose, bound) in [
            (key(7, "other"), Purpose::Pass, &b"bound"[..]),
            (key(8, "secret"), Purpose::Pass, b"bound"),
            (key(7, "secret"), Purpose::Challenge, b"bound"),
            (key(7, "secret"), Purpose::Device, b"bound"),
            (key(7, "secret"), Purpose::Pass, b"bounds"),
            (key(7, "secret"), Purpose::Pass, b""),
        ] {
            assert_eq!(token.open(&key, purpose, bound), None, "{purpose:?} {bound:?}");
        }
    }

    #[test]
    fn each_changed_bit_voids_a_token() {
        let signed_with = key(7, "secret");
        let text = Token::seal(&signed_with, Purpose::Pass, b"fields", b"");
        let bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                let token = Token::<6>::parse(&URL_SAFE_NO_PAD.encode(changed)).unwrap();
                assert_eq!(token.open(&signed_with, Purpose::Pass, b""), None, "byte {at}, bit {bit}");
            }
        }
    }

    #[test]
    fn what_is_no_token_is_not_read() {
        let text = Token::seal(&key(7, "secret"), Purpose::Pass, b"fields", b"");
        assert!(Token::<5>::parse(&text).is_none() && Token::<7>::parse(&text).is_none());
        for end in 0..text.len() {
            assert!(Token::<6>::parse(&text[..end]).is_none(), "{end}");
        }
        for wrong in ["验证", &format!("{text}A"), &text.replace(&text[..2], "+/"), &"A".repeat(100_000)] {
            assert!(Token::<6>::parse(wrong).is_none(), "{wrong}");
        }
    }
}
