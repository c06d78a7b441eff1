//! TOTP secrets (RFC 6238) and recovery codes.
//!
//! A secret is computed from a seed and a key of the mall, as section 7.5 of RFC 4226 allows: the row of a
//! user holds no secret.
//!
//! Reasons and figures: `src/decisions/0051-second-factor.md`.

use mallbox_storage::{FactorSeed, RecoveryHash, StoreError, Timestamp, UserId};
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;
use totp_rs::{Algorithm, Builder, Secret, Totp};

use crate::mall::base::hmac::hmac_sha256;
use crate::mall::{Context, Random};

/// Name of the setting that holds the key.
const KEY: &str = "second factor key";
/// Length of a time step. Authenticator apps support no other.
const STEP_SECONDS: u64 = 30;
/// Digits of a code.
const DIGITS: u8 = 6;
/// Steps before and after the present one whose codes are accepted: for clocks that differ, and for the time
/// to type.
const STEPS_TOLERATED: u16 = 1;
/// Issuer in authenticator apps.
const ISSUER: &str = "mallbox";
/// Characters of a recovery code, without dashes: 120 bits, so that a plain hash is enough.
const RECOVERY_LENGTH: usize = 24;
/// Characters per group of a recovery code, between dashes.
const RECOVERY_GROUP: usize = 4;

/// Computes the TOTP secrets of users.
pub(super) struct FactorSecrets {
    context: Context,
    key: OnceCell<String>,
}

impl FactorSecrets {
    pub(super) fn new(context: Context) -> Self {
        Self { context, key: OnceCell::new() }
    }

    /// Returns the secret of a user's seed.
    ///
    /// # Errors
    /// Any [`StoreError`]: the key cannot be read; call again.
    pub(super) async fn of(&self, user: UserId, seed: FactorSeed) -> Result<FactorSecret, StoreError> {
        let upkeep = &self.context.storage.base.upkeep;
        let kept = self.key.get_or_try_init(|| async {
            match upkeep.setting(KEY).await? {
                Some(kept) => Ok(kept),
                // Not from the mall's generator: a test that knows the seed expects the tokens in order.
                None => upkeep.keep_setting(KEY, &Random::system().secret()).await,
            }
        });
        Ok(FactorSecret::derived(kept.await?, user, seed))
    }
}

/// A TOTP secret.
pub(super) struct FactorSecret(Totp);

impl FactorSecret {
    fn derived(key: &str, user: UserId, seed: FactorSeed) -> Self {
        let hash = hmac_sha256(key.as_bytes(), &[b"totp", &user.get().to_le_bytes(), &seed.0]);
        let (secret, _) = hash.split_first_chunk().expect("20 bytes are in 32");
        Self::new(*secret)
    }

    fn new(secret: [u8; 20]) -> Self {
        let totp = Builder::new()
            .with_algorithm(Algorithm::SHA1)
            .with_digits(DIGITS)
            .with_step_duration(STEP_SECONDS)
            .with_skew(STEPS_TOLERATED)
            .with_secret(Secret::new_stack(secret));
        Self(totp.build().expect("160 bits and six digits meet RFC 4226"))
    }

    /// Returns the time step of a right code: the present step, or one of its neighbours.
    pub(super) fn step_of(&self, code: &str, now: Timestamp) -> Option<u64> {
        let seconds = u64::try_from(now.as_millis()).ok()? / 1_000;
        self.0.check(code, seconds)
    }

    /// Returns the secret as text, for people who type it.
    pub(super) fn text(&self) -> String {
        self.0.secret().to_base32()
    }

    /// Returns the `otpauth://` URI, for the camera of an authenticator app. `account` consists of letters
    /// and digits.
    pub(super) fn uri(&self, account: &str) -> String {
        // Algorithm, digits and period are those that apps assume.
        format!("otpauth://totp/{ISSUER}:{account}?secret={}&issuer={ISSUER}", self.text())
    }
}

/// A code as typed: of the app, or a recovery code.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TypedCode {
    /// Six digits.
    Totp(String),
    /// Anything else.
    Recovery(RecoveryHash),
}

impl TypedCode {
    /// Reads a typed code. Ignores case, spaces and dashes. `None` for an empty text.
    pub(super) fn read(text: &str, user: UserId) -> Option<Self> {
        let plain = plain(text);
        match plain.len() {
            0 => None,
            length if length == usize::from(DIGITS) && plain.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(Self::Totp(plain))
            }
            _ => Some(Self::Recovery(recovery_hash(&plain, user))),
        }
    }
}

/// Makes a recovery code such as `7QX2-…`. Returns the code and its hash.
pub(super) fn recovery_code(random: &Random, user: UserId) -> (String, RecoveryHash) {
    let plain = random.base32(RECOVERY_LENGTH);
    let hash = recovery_hash(&plain, user);
    let groups: Vec<&str> = (0..plain.len())
        .step_by(RECOVERY_GROUP)
        .filter_map(|at| plain.get(at..at + RECOVERY_GROUP))
        .collect();
    (groups.join("-"), hash)
}

fn recovery_hash(plain: &str, user: UserId) -> RecoveryHash {
    let hash = Sha256::new().chain_update(b"recovery code").chain_update(user.get().to_le_bytes());
    RecoveryHash(hash.chain_update(plain).finalize().into())
}

/// Returns the characters that count: capital letters and digits, O read as 0, I and L as 1.
fn plain(text: &str) -> String {
    let typed = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '–' | '—' | '－'));
    let read = typed.map(|c| match c.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        c => c,
    });
    // Longer than any code.
    read.take(2 * RECOVERY_LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: UserId = UserId::new(7);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    /// Appendix B of RFC 6238, SHA-1, with the last six of the eight digits.
    #[test]
    fn codes_are_those_of_rfc_6238() {
        let secret = FactorSecret::new(*b"12345678901234567890");
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            let step = u64::try_from(seconds).unwrap() / 30;
            assert_eq!(secret.step_of(code, at(seconds)), Some(step), "{seconds}");
        }
    }

    #[test]
    fn a_code_is_good_for_its_step_and_one_on_either_side() {
        let secret = FactorSecret::new(*b"12345678901234567890");
        let (code, step) = ("050471", 37_037_037);
        let begin = i64::try_from(step * 30).unwrap();
        for (seconds, is_good) in
            [(begin - 31, false), (begin - 30, true), (begin, true), (begin + 59, true), (begin + 60, false)]
        {
            assert_eq!(secret.step_of(code, at(seconds)), is_good.then_some(step), "{}", seconds - begin);
        }
        for bad in ["", "50471", "0050471", "+50471", "05047１", "050472"] {
            assert_eq!(secret.step_of(bad, at(begin)), None, "{bad}");
        }
        assert_eq!(secret.step_of(code, at(-1)), None, "before 1970");
    }

    #[test]
    fn a_secret_depends_on_key_user_and_seed() {
        let of = |key: &str, user: u64, seed: u8| {
            FactorSecret::derived(key, UserId::new(user), FactorSeed([seed; 16])).text()
        };
        let one = of("key", 1, 1);
        assert_eq!((of("key", 1, 1), one.len()), (one.clone(), 32), "160 bits");
        for other in [of("another key", 1, 1), of("key", 2, 1), of("key", 1, 2)] {
            assert_ne!(other, one);
        }
    }

    #[test]
    fn apps_read_the_uri() {
        let uri = FactorSecret::new(*b"12345678901234567890").uri("13900000001");
        assert_eq!(
            uri,
            "otpauth://totp/mallbox:13900000001?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=mallbox"
        );
    }

    #[test]
    fn a_code_is_read_as_people_type_it() {
        for text in ["050471", " 050 471 ", "050-471"] {
            assert_eq!(TypedCode::read(text, USER), Some(TypedCode::Totp("050471".to_owned())), "{text}");
        }
        for nothing in ["", " ", "--"] {
            assert_eq!(TypedCode::read(nothing, USER), None);
        }
        let (code, hash) = recovery_code(&Random::seeded(7), USER);
        assert_eq!(code.len(), 29, "{code}");
        let lower = code.to_lowercase().replace('-', " ").replace('0', "o").replace('1', "l");
        for text in [&code, &lower, &code.replace('-', "")] {
            assert_eq!(TypedCode::read(text, USER), Some(TypedCode::Recovery(hash)), "{text}");
        }
        for other in [
            TypedCode::read(&code, UserId::new(8)),
            TypedCode::read(&code[1..], USER),
            TypedCode::read(&format!("{code}0"), USER),
            TypedCode::read(&"0".repeat(100_000), USER),
        ] {
            assert!(other.is_some_and(|other| other != TypedCode::Recovery(hash)));
        }
        assert_ne!(recovery_code(&Random::seeded(8), USER).0, code);
    }
}
