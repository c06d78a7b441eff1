//! Passwords: hashed with Argon2id, on threads of their own, two at a time.

mod argon;

use std::sync::Arc;
use std::time::Duration;

use argon2::password_hash::phc::PasswordHash;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::argon::Argon;
use super::{Failure, Mistake, Random, Refusal, salted_md5};

/// Hashes and compares passwords.
///
/// One hash takes some 15 ms and 19 MiB, which are reused. At most [`AT_ONCE`](Self::AT_ONCE) run at a time, off the request threads;
/// who has waited [`PATIENCE`](Self::PATIENCE) for a turn is told to come again.
pub struct Passwords {
    turns: Arc<Semaphore>,
    argon: Arc<Argon>,
    random: Arc<Random>,
}

/// What is compared with when there is no password to compare with, so that it takes just as long.
/// It is nobody's: these are not the bytes of any hash that was made.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bWFsbGJveCBub2JvZHknIQ$bm9ib2R5J3MgcGFzc3dvcmQgaGFzIHRoaXMgaGFzaC4";

impl Passwords {
    /// So many run at a time: what a small box has cores, and 38 MiB.
    pub const AT_ONCE: usize = 2;
    /// A request has to be answered within 1.5 s.
    pub const PATIENCE: Duration = Duration::from_secs(1);
    /// The fewest and the most characters of a password.
    pub const LENGTHS: std::ops::RangeInclusive<usize> = 8..=72;

    /// With the mall's randomness for the salts.
    #[must_use]
    pub fn new(random: Arc<Random>) -> Self {
        Self { turns: Arc::new(Semaphore::new(Self::AT_ONCE)), argon: Arc::default(), random }
    }

    /// Whether a new password is of an allowed length.
    ///
    /// # Errors
    /// [`Mistake::PasswordLength`].
    pub fn check_length(password: &str) -> Result<(), Mistake> {
        if Self::LENGTHS.contains(&password.chars().count()) { Ok(()) } else { Err(Mistake::PasswordLength) }
    }

    /// Whether a stored text is a hash that [`matches`](Self::matches) can compare with.
    #[must_use]
    pub fn is_hash(stored: &str) -> bool {
        salted_md5::is_one(stored) || PasswordHash::new(stored).is_ok()
    }

    /// Whether a stored hash is of a kind that is no longer made: it came with a mall that moved in, and whoever logs in
    /// with it is to get a new one.
    #[must_use]
    pub fn is_outdated(stored: &str) -> bool {
        salted_md5::is_one(stored)
    }

    /// The text to store for a password.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if no turn comes.
    pub async fn hash(&self, password: &str) -> Result<String, Failure> {
        let (password, salt) = (password.to_owned(), self.random.salt());
        let argon = Arc::clone(&self.argon);
        let hashed =
            self.in_turn(move || argon.hash(password.as_bytes(), &salt).map(|hash| hash.to_string()));
        hashed.await?.map_err(|error| Failure::Bug(format!("a password could not be hashed: {error}")))
    }

    /// Whether this is the password that was stored. Without a stored hash the answer is `false`, and takes as long.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if no turn comes.
    pub async fn matches(&self, password: &str, stored: Option<String>) -> Result<bool, Failure> {
        if password.chars().count() > *Self::LENGTHS.end() {
            // Nobody's password; how long hashing it takes says nothing about anybody.
            return Ok(false);
        }
        let (password, argon) = (password.to_owned(), Arc::clone(&self.argon));
        self.in_turn(move || {
            // A right one of the outdated kind is hashed anew at once, which takes the time that this one saves.
            if stored.as_deref().is_some_and(|text| salted_md5::matches(text, &password)) {
                return true;
            }
            let stored = stored.as_deref().and_then(|text| PasswordHash::new(text).ok());
            let is_somebodys = stored.is_some();
            let hash = stored.map_or_else(|| PasswordHash::new(NOBODYS), Ok);
            let same = hash.is_ok_and(|hash| argon.is_of(password.as_bytes(), &hash));
            is_somebodys && same
        })
        .await
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = self.turn().await?;
        // The turn moves into the thread: a client that goes away does not end its hash, so the turn is not free yet.
        tokio::task::spawn_blocking(move || {
            let done = work();
            drop(turn);
            done
        })
        .await
        .map_err(|error| Failure::Bug(format!("hashing a password did not end: {error}")))
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, Failure> {
        match tokio::time::timeout(Self::PATIENCE, self.turns.clone().acquire_owned()).await {
            Ok(Ok(turn)) => Ok(turn),
            // The semaphore is never closed, so this is the patience that ended.
            Ok(Err(_)) | Err(_) => Err(Refusal::Busy.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passwords() -> Passwords {
        Passwords::new(Arc::new(Random::seeded(1)))
    }

    #[tokio::test]
    async fn a_password_matches_its_hash_and_no_other() {
        let passwords = passwords();
        let stored = passwords.hash("correct horse").await.unwrap();
        assert!(stored.starts_with("$argon2id$"), "{stored}");
        assert!(passwords.matches("correct horse", Some(stored.clone())).await.unwrap());
        assert!(!passwords.matches("correct horsf", Some(stored.clone())).await.unwrap());
        assert_ne!(
            passwords.hash("correct horse").await.unwrap(),
            stored,
            "every hash has a salt of its own"
        );
    }

    #[tokio::test]
    async fn without_a_stored_password_nothing_matches() {
        let passwords = passwords();
        assert!(!passwords.matches("correct horse", None).await.unwrap());
        assert!(!passwords.matches("", Some("plain text from elsewhere".to_owned())).await.unwrap());
        assert!(!passwords.matches(&"x".repeat(100_000), None).await.unwrap());
    }

    #[tokio::test]
    async fn nobodys_hash_costs_what_a_real_one_costs() {
        let real = passwords().hash("correct horse").await.unwrap();
        let cost = |text: &str| {
            let hash = PasswordHash::new(text).unwrap();
            (hash.algorithm, hash.version, hash.params.to_string(), hash.hash.map(|output| output.len()))
        };
        assert_eq!(cost(NOBODYS), cost(&real));
    }

    #[tokio::test]
    async fn who_waits_too_long_for_a_turn_is_sent_away() {
        let passwords = passwords();
        let _all = passwords.turns.clone().acquire_many_owned(2).await.unwrap();
        let refused = passwords.hash("correct horse").await.unwrap_err();
        assert!(matches!(refused, Failure::Refused(Refusal::Busy)), "{refused}");
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        for good in ["12345678", "八个汉字也是密码", &"x".repeat(72)] {
            assert_eq!(Passwords::check_length(good), Ok(()), "{good}");
        }
        for bad in ["", "1234567", "七个汉字不够长", &"x".repeat(73)] {
            assert_eq!(Passwords::check_length(bad), Err(Mistake::PasswordLength), "{bad}");
        }
    }
}
