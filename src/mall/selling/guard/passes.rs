//! Passes as text.

use mallbox_storage::{Pass, Timestamp};

use super::evidence::{self, Evidence};
use super::keys::GuardKey;
use super::token::{Fields, Purpose, Token};

const BYTES: usize = 24 + evidence::BYTES;

/// A pass with its evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SignedPass {
    pub(super) pass: Pass,
    pub(super) evidence: Evidence,
}

/// A pass read from a request.
pub(super) struct PassToken(Token<BYTES>);

/// Writes a pass for a [holder](super::holder::Holder).
pub(super) fn pass_text(key: &GuardKey, SignedPass { pass, evidence }: SignedPass, holder: &[u8]) -> String {
    let mut fields = [0; BYTES];
    fields[..8].copy_from_slice(&pass.nonce.to_be_bytes());
    fields[8..16].copy_from_slice(&pass.epoch.to_be_bytes());
    fields[16..24].copy_from_slice(&pass.expires.as_millis().to_be_bytes());
    fields[24..].copy_from_slice(&evidence.bytes());
    Token::seal(key, Purpose::Pass, &fields, holder)
}

impl PassToken {
    /// Reads a pass. `None` for a text that is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Token::parse(text).map(Self)
    }

    /// Returns the id of the pass's key.
    pub(super) fn key(&self) -> u32 {
        self.0.key()
    }

    /// Returns the pass, if it is genuine and was issued to this holder. It may have expired.
    pub(super) fn pass(&self, key: &GuardKey, holder: &[u8]) -> Option<SignedPass> {
        let mut fields = Fields::of(self.0.open(key, Purpose::Pass, holder)?);
        let (nonce, epoch) = (u64::from_be_bytes(fields.next()?), u64::from_be_bytes(fields.next()?));
        let expires = Timestamp::from_millis(i64::from_be_bytes(fields.next()?));
        let evidence = Evidence::of_bytes(fields.next()?);
        Some(SignedPass { pass: Pass { nonce, epoch, expires }, evidence })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_read_as_it_was_written_by_its_holder_alone() {
        let key = GuardKey::new(7, b"secret");
        for pass in [
            Pass { nonce: 1, epoch: 2, expires: Timestamp::from_millis(3) },
            Pass { nonce: u64::MAX, epoch: u64::MAX, expires: Timestamp::MAX },
        ] {
            let signed = SignedPass { pass, evidence: Evidence::GRANTED };
            let text = pass_text(&key, signed, b"holder");
            let token = PassToken::parse(&text).unwrap();
            assert_eq!((token.key(), token.pass(&key, b"holder")), (7, Some(signed)));
            assert_eq!(token.pass(&key, b"another"), None);
            assert_eq!(token.pass(&GuardKey::new(7, b"other"), b"holder"), None);
        }
    }
}
