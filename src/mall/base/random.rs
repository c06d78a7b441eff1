//! The mall's only source of randomness. Owned by the mall instead of the process, so that a test can seed
//! it.

use hmac::{Hmac, KeyInit as _, Mac as _};
use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use sha2::{Digest as _, Sha256};

/// Generates unguessable values: login codes, tokens, salts; also the nick names of new users.
pub struct Random {
    // ChaCha with 12 rounds: cryptographically secure. The lock is held for less than a microsecond.
    source: Mutex<StdRng>,
    /// Root of [`lasting_secret`](Self::lasting_secret).
    root: Mutex<[u8; 32]>,
}

impl Random {
    /// Creates a generator seeded by the operating system.
    ///
    /// # Panics
    /// If the operating system provides no randomness: a mall must not start without.
    #[must_use]
    pub fn system() -> Self {
        let mut root = [0; 32];
        rand::make_rng::<StdRng>().fill_bytes(&mut root);
        Self { source: Mutex::new(rand::make_rng()), root: Mutex::new(root) }
    }

    /// Creates a deterministic generator, for tests. Anyone who knows the seed knows every token.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { source: Mutex::new(StdRng::seed_from_u64(seed)), root: Mutex::new(root_of(seed)) }
    }

    /// Restarts the generator from a seed.
    pub fn reseed(&self, seed: u64) {
        *self.source.lock() = StdRng::seed_from_u64(seed);
        *self.root.lock() = root_of(seed);
    }

    /// Returns a seed for another generator; deterministic in this generator's seed and position.
    #[must_use]
    pub fn seed(&self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    /// Returns a login code: six digits.
    #[must_use]
    pub fn code(&self) -> String {
        format!("{:06}", self.source.lock().random_range(0..1_000_000_u32))
    }

    /// Returns a PIN for a staff member: eight digits.
    #[must_use]
    pub fn pin(&self) -> String {
        format!("{:08}", self.source.lock().random_range(0..100_000_000_u32))
    }

    /// Number of digits of a login code made at a counter. Codes of text messages have 6, codes of the
    /// machine 16.
    pub const COUNTER_CODE_DIGITS: u32 = 12;

    /// Returns a login code made at a counter: twelve digits, of which nobody finds one in its lifetime.
    #[must_use]
    pub fn counter_code(&self) -> String {
        let code = self.source.lock().random_range(0..10_u64.pow(Self::COUNTER_CODE_DIGITS));
        format!("{code:0width$}", width = Self::COUNTER_CODE_DIGITS as usize)
    }

    /// Returns a login code that no number of attempts finds in its lifetime: 16 digits.
    #[must_use]
    pub fn long_code(&self) -> String {
        format!("{:016}", self.source.lock().random_range(0..10_000_000_000_000_000_u64))
    }

    /// Returns a nick name for a user without a chosen name: `user_` and ten characters of a-z and 0-9.
    #[must_use]
    pub fn nick_name(&self) -> String {
        const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let mut source = self.source.lock();
        let tail = (0..10).map(|_| char::from(LETTERS[source.random_range(0..LETTERS.len())]));
        "user_".chars().chain(tail).collect()
    }

    /// Returns a session token: 24 bytes as 48 hexadecimal digits.
    #[must_use]
    pub fn token(&self) -> String {
        mallbox_storage::hex(&self.bytes::<24>())
    }

    /// Returns a unique, unguessable name: a UUID of version 4.
    #[must_use]
    pub fn uuid(&self) -> String {
        let mut bytes = self.bytes::<16>();
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let hex = mallbox_storage::hex(&bytes);
        [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
    }

    /// Returns `length` random characters of Crockford's Base32, 5 bits each: without I, L, O and U.
    #[must_use]
    pub fn base32(&self, length: usize) -> String {
        const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        let mut source = self.source.lock();
        (0..length).map(|_| char::from(DIGITS[source.random_range(0..DIGITS.len())])).collect()
    }

    /// Returns the seed of a second factor.
    #[must_use]
    pub fn factor_seed(&self) -> [u8; 16] {
        self.bytes()
    }

    /// Returns a secret for the mall itself: 32 bytes as 64 hexadecimal digits.
    #[must_use]
    pub fn secret(&self) -> String {
        mallbox_storage::hex(&self.bytes::<32>())
    }

    /// Returns the secret for `purpose`: 32 bytes as 64 hexadecimal digits, equal at every call. Depends on
    /// the seed and not on the values drawn before, so a test that knows the seed finds later tokens unmoved.
    #[must_use]
    pub fn lasting_secret(&self, purpose: &str) -> String {
        let mac = Hmac::<Sha256>::new_from_slice(&*self.root.lock()).expect("any length will do for a key");
        mallbox_storage::hex(&mac.chain_update(purpose).finalize().into_bytes())
    }

    /// Returns a number that is used once, such as that of a challenge.
    pub(in crate::mall) fn nonce(&self) -> [u8; 16] {
        self.bytes()
    }

    /// Returns a salt for a password.
    #[must_use]
    pub fn salt(&self) -> [u8; 16] {
        self.bytes()
    }

    fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.source.lock().fill_bytes(&mut bytes);
        bytes
    }
}

fn root_of(seed: u64) -> [u8; 32] {
    Sha256::new().chain_update(b"root ").chain_update(seed.to_le_bytes()).finalize().into()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_mall() {
        let (one, other) = (Random::seeded(7), Random::seeded(7));
        assert_eq!(one.token(), other.token());
        assert_eq!(one.code(), other.code());
        assert_eq!(one.nick_name(), other.nick_name());
        assert_ne!(Random::seeded(7).token(), Random::seeded(8).token());
        assert_ne!(Random::system().token(), Random::system().token());
        one.reseed(7);
        other.reseed(7);
        assert_eq!((one.seed(), one.token()), (other.seed(), other.token()));
    }

    #[test]
    fn a_lasting_secret_depends_on_seed_and_purpose_and_moves_no_token() {
        let (one, other) = (Random::seeded(7), Random::seeded(7));
        let secret = one.lasting_secret("ids");
        assert!(secret.len() == 64 && secret.bytes().all(|b| b.is_ascii_hexdigit()), "{secret}");
        assert_eq!(one.token(), other.token());
        assert_eq!(one.lasting_secret("ids"), secret);
        assert_eq!(other.lasting_secret("ids"), secret);
        assert_ne!(one.lasting_secret("other"), secret);
        assert_ne!(Random::seeded(8).lasting_secret("ids"), secret);
        other.reseed(8);
        assert_eq!(other.lasting_secret("ids"), Random::seeded(8).lasting_secret("ids"));
        assert_ne!(Random::system().lasting_secret("ids"), Random::system().lasting_secret("ids"));
    }

    #[test]
    fn what_is_made_has_its_form_and_does_not_repeat() {
        let random = Random::seeded(1);
        let mut tokens = HashSet::new();
        let mut first_digits = HashSet::new();
        for _ in 0..1000 {
            let code = random.code();
            assert!(code.len() == 6 && code.bytes().all(|b| b.is_ascii_digit()), "{code}");
            first_digits.insert(code.as_bytes()[0]);
            let long = random.long_code();
            assert!(long.len() == 16 && long.bytes().all(|b| b.is_ascii_digit()), "{long}");
            let nick = random.nick_name();
            let tail = nick.strip_prefix("user_").unwrap();
            assert!(
                tail.len() == 10 && tail.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()),
                "{nick}"
            );
            let token = random.token();
            assert!(token.len() == 48 && token.bytes().all(|b| b.is_ascii_hexdigit()), "{token}");
            assert!(tokens.insert(token));
            let uuid = random.uuid();
            let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{uuid}");
            assert!(uuid[14..].starts_with('4') && "89ab".contains(&uuid[19..20]), "{uuid}");
            assert!(tokens.insert(uuid));
        }
        assert_eq!(first_digits.len(), 10, "codes may begin with any digit, 0 included");
    }
}
