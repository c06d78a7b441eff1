//! Keyed hashes of login codes: a back end stores the hash, and nobody who reads the storage can log in.
//!
//! Reasons and figures: `src/decisions/0037-private-data.md`.

use std::fmt;

use mallbox_storage::{CodeHash, Phone, StoreError};
use tokio::sync::OnceCell;

use crate::mall::base::hmac::hmac_sha256;
use crate::mall::base::kept_secret::kept_secret;
use crate::mall::{Context, Random};

/// Name of the setting that holds the key of a mall whose codes are checked by several processes.
const KEY: &str = "login code key";

/// Where a mall keeps the key of its login codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CodeKey {
    /// In the memory of the process only: a restart voids all codes. For a mall in a directory, where the
    /// codes would be beside the key otherwise.
    Process,
    /// In the database, for all processes of the mall. The codes themselves are elsewhere, in Redis.
    #[default]
    Database,
}

/// A keyed short hash of a phone, for logs: equal for equal phones as long as the key of login codes stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PhoneTrace(u64);

/// Bits of a [`PhoneTrace`]: two of a million phones share a trace with a probability of 0.2 %.
const TRACE_BITS: u32 = 48;

impl fmt::Display for PhoneTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:012x}", self.0)
    }
}

/// Hashes login codes.
pub(super) struct CodeHasher {
    context: Context,
    place: CodeKey,
    key: OnceCell<String>,
}

impl CodeHasher {
    pub(super) fn new(context: Context, place: CodeKey) -> Self {
        Self { context, place, key: OnceCell::new() }
    }

    /// Returns the HMAC-SHA-256 of phone and code.
    ///
    /// # Errors
    /// Any [`StoreError`]: the key cannot be read; call again.
    pub(super) async fn hash(&self, phone: &Phone, code: &str) -> Result<CodeHash, StoreError> {
        Ok(keyed_hash(self.key().await?, phone, code))
    }

    /// Returns the trace of a phone.
    ///
    /// # Errors
    /// Any [`StoreError`]: the key cannot be read; call again.
    pub(super) async fn trace(&self, phone: &Phone) -> Result<PhoneTrace, StoreError> {
        Ok(phone_trace(self.key().await?, phone))
    }

    async fn key(&self) -> Result<&str, StoreError> {
        let upkeep = &self.context.storage.base.upkeep;
        // Not from the mall's generator: a test that knows the seed expects the tokens in the same order.
        let made = || Random::system().secret();
        let kept = self.key.get_or_try_init(|| async {
            match self.place {
                CodeKey::Process => Ok(made()),
                CodeKey::Database => kept_secret(&**upkeep, KEY, made).await,
            }
        });
        Ok(kept.await?.as_str())
    }
}

fn keyed_hash(key: &str, phone: &Phone, code: &str) -> CodeHash {
    // A phone has a fixed form, so the border between phone and code is unambiguous.
    CodeHash(hmac_sha256(key.as_bytes(), &[phone.as_str().as_bytes(), code.as_bytes()]))
}

fn phone_trace(key: &str, phone: &Phone) -> PhoneTrace {
    // Phones begin with a digit, so no hash of a code is a trace.
    let hash = hmac_sha256(key.as_bytes(), &[b"trace", phone.as_str().as_bytes()]);
    let bits = hash.iter().take(8).fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    PhoneTrace(bits >> (u64::BITS - TRACE_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_depends_on_key_phone_and_code() {
        let [anne, bob] = ["13900000002", "13900000003"].map(|phone| Phone::parse(phone).unwrap());
        let hash = keyed_hash("key", &anne, "012345");
        assert!(!hash.0.windows(6).any(|part| part == b"012345"), "{hash:?}");
        assert_eq!(keyed_hash("key", &anne, "012345"), hash);
        for other in [
            keyed_hash("another key", &anne, "012345"),
            keyed_hash("key", &bob, "012345"),
            keyed_hash("key", &anne, "012346"),
        ] {
            assert_ne!(other, hash);
        }
    }

    #[test]
    fn a_trace_depends_on_key_and_phone_and_is_short() {
        let [anne, bob] = ["13900000002", "13900000003"].map(|phone| Phone::parse(phone).unwrap());
        let trace = phone_trace("key", &anne);
        assert_eq!(phone_trace("key", &anne), trace);
        assert_ne!(phone_trace("key", &bob), trace);
        assert_ne!(phone_trace("another key", &anne), trace);
        assert_eq!(trace.to_string().len(), 12);
        assert_eq!(PhoneTrace(7).to_string(), "000000000007");
    }
}
