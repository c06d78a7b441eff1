//! Signatures of requests between the mall and services that share a secret with it.

use std::fmt;

use mallbox_storage::{Timestamp, hex, unhex};

use super::hmac::{hmac_sha256, is_hmac_sha256};

/// Header with the sender's time of a signed request, in seconds since 1970.
pub const TIMESTAMP: &str = "x-mallbox-timestamp";
/// Header with the signature: `sha256=` and an HMAC-SHA-256 in hexadecimal.
pub const SIGNATURE: &str = "x-mallbox-signature";

/// A secret shared with a service. `Debug` hides the secret.
#[derive(Clone)]
pub(in crate::mall) struct SharedSecret(String);

impl fmt::Debug for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedSecret(..)")
    }
}

impl SharedSecret {
    /// Wraps a secret of any length.
    pub(in crate::mall) fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// Returns the value of [`SIGNATURE`] for a message in parts, one after another. The borders between the
    /// parts are no part of the message: callers put a separator between them.
    pub(in crate::mall) fn signature(&self, parts: &[&[u8]]) -> String {
        format!("sha256={}", hex(&hmac_sha256(self.0.as_bytes(), parts)))
    }

    /// Returns whether `value` is the signature of the message, compared in constant time.
    pub(in crate::mall) fn has_signed(&self, value: &str, parts: &[&[u8]]) -> bool {
        let code = value.strip_prefix("sha256=").and_then(unhex);
        code.is_some_and(|code| is_hmac_sha256(&code, self.0.as_bytes(), parts))
    }
}

/// Returns the value of [`TIMESTAMP`] for a request sent `now`.
pub(in crate::mall) fn timestamp(now: Timestamp) -> String {
    now.as_millis().div_euclid(1_000).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_its_message_and_secret_alone() {
        let parts: [&[u8]; 2] = [b"1795262400", b"{}"];
        let secret = SharedSecret::new("s3cr3t");
        let value = secret.signature(&parts);
        assert!(secret.has_signed(&value, &parts));
        assert!(!SharedSecret::new("s3cr3T").has_signed(&value, &parts));
        assert!(!secret.has_signed(&value, &[b"1795262401", b"{}"]));
        let cut = [&value[1..], &value[..value.len() - 1], &value[..value.len() - 2]];
        for wrong in ["", "sha256=", "sha256=zz", "sha256=é"].into_iter().chain(cut) {
            assert!(!secret.has_signed(wrong, &parts), "{wrong}");
        }
        assert_eq!(format!("{secret:?}"), "SharedSecret(..)");
    }
}
