//! Password hashing with Argon2id on blocking threads, at most two at a time.

mod argon;
mod guessable;

use std::sync::Arc;
use std::time::Duration;

use argon2::password_hash::phc::PasswordHash;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use self::argon::Argon;
use super::salted_md5;
use crate::mall::base::{Failure, InputError, Random, Refusal};

/// Hashes and verifies passwords.
///
/// One hash takes about 15 ms and 19 MiB of reused memory. A bounded number of hashes run at a time, off the
/// request threads. Callers that wait longer than [`PATIENCE`](Self::PATIENCE) are rejected by load shedding.
///
/// Half of the slots are for known callers: a flood of log-ins from elsewhere, from any number of addresses,
/// leaves them a slot, or the next turn where there is one slot. Cheap to clone; clones share the slots.
#[derive(Clone)]
pub struct Passwords {
    turns: Arc<Semaphore>,
    /// Taken before a turn, by strangers only.
    stranger_turns: Arc<Semaphore>,
    argon: Arc<Argon>,
    random: Arc<Random>,
}

/// Whose password is hashed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Priority {
    /// A user with a session, or on a network that the user logged in from before.
    Known,
    /// Anybody else.
    Stranger,
}

/// Dummy hash, compared with when no password is stored, so that the call takes the same time. No password
/// matches: the bytes were never the output of a hash.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bWFsbGJveCBub2JvZHknIQ$bm9ib2R5J3MgcGFzc3dvcmQgaGFzIHRoaXMgaGFzaC4";

impl Passwords {
    /// Longest wait for a free slot. A request must get its response within 1.5 s.
    pub const PATIENCE: Duration = Duration::from_secs(1);
    /// Allowed length of a password, in characters.
    pub const LENGTHS: std::ops::RangeInclusive<usize> = 8..=72;

    /// Creates a hasher that runs at most `at_once` hashes at a time. `random` supplies the salts.
    #[must_use]
    pub fn new(random: Arc<Random>, at_once: usize) -> Self {
        let turns = Arc::new(Semaphore::new(at_once.max(1)));
        let stranger_turns = Arc::new(Semaphore::new((at_once / 2).max(1)));
        Self { turns, stranger_turns, argon: Arc::default(), random }
    }

    /// Checks a new password. `own` are texts that belong to the user and make poor passwords: phone number
    /// and name.
    ///
    /// # Errors
    /// [`InputError::PasswordLength`]; [`InputError::PasswordGuessable`].
    pub async fn check_new(password: &str, own: &[&str]) -> Result<(), Failure> {
        if !Self::LENGTHS.contains(&password.chars().count()) {
            return Err(InputError::PasswordLength.into());
        }
        let (password, own) =
            (password.to_owned(), own.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        // Off the request threads: long passwords take milliseconds.
        let checked = tokio::task::spawn_blocking(move || {
            guessable::check(&password, &own.iter().map(String::as_str).collect::<Vec<_>>())
        });
        let outcome = checked.await;
        Ok(outcome.map_err(|error| Failure::Bug(format!("the check of a password panicked: {error}")))??)
    }

    /// Returns whether [`matches`](Self::matches) can verify a stored text.
    #[must_use]
    pub fn is_hash(stored: &str) -> bool {
        salted_md5::is_one(stored) || PasswordHash::new(stored).is_ok()
    }

    /// Returns whether a stored hash has an outdated format from an imported mall; the next login replaces
    /// it.
    #[must_use]
    pub fn is_outdated(stored: &str) -> bool {
        salted_md5::is_one(stored)
    }

    /// Hashes a password for storage.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if no slot becomes free in time.
    pub async fn hash(&self, password: &str, priority: Priority) -> Result<String, Failure> {
        let (password, salt) = (password.to_owned(), self.random.salt());
        let argon = Arc::clone(&self.argon);
        let work = move || argon.hash(password.as_bytes(), &salt).map(|hash| hash.to_string());
        let hashed = self.in_turn(priority, work);
        hashed.await?.map_err(|error| Failure::Bug(format!("could not hash a password: {error}")))
    }

    /// Derives a key from a secret text at the cost of [`hash`](Self::hash): equal texts have equal keys.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if no slot becomes free in time.
    pub(in crate::mall::people) async fn stretched(
        &self,
        text: [u8; 32],
        salt: [u8; 16],
        priority: Priority,
    ) -> Result<Vec<u8>, Failure> {
        let argon = Arc::clone(&self.argon);
        let work = move || argon.hash(&text, &salt).map(|hash| hash.hash.map(|key| key.as_ref().to_vec()));
        let stretched = self.in_turn(priority, work).await?;
        let key = stretched.map_err(|error| Failure::Bug(format!("could not stretch a text: {error}")))?;
        key.ok_or_else(|| Failure::Bug("a hash has no output".to_owned()))
    }

    /// Verifies a password against a stored hash. Without a stored hash, returns `false` after the same time.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if no slot becomes free in time.
    pub async fn matches(
        &self,
        password: &str,
        stored: Option<String>,
        priority: Priority,
    ) -> Result<bool, Failure> {
        if password.chars().count() > *Self::LENGTHS.end() {
            // Longer than any password; the time that hashing takes would reveal nothing about a user.
            return Ok(false);
        }
        let (password, argon) = (password.to_owned(), Arc::clone(&self.argon));
        self.in_turn(priority, move || {
            // A correct outdated password is hashed anew right afterwards, which makes up for the time saved
            // here.
            if stored.as_deref().is_some_and(|text| salted_md5::matches(text, &password)) {
                return true;
            }
            let stored = stored.as_deref().and_then(|text| PasswordHash::new(text).ok());
            let is_somebodys = stored.is_some();
            let hash = stored.map_or_else(|| PasswordHash::new(DUMMY_HASH), Ok);
            let same = hash.is_ok_and(|hash| argon.is_of(password.as_bytes(), &hash));
            is_somebodys && same
        })
        .await
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        priority: Priority,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = self.turn(priority).await?;
        // The permit moves into the thread. A disconnected client does not stop its hash, so the slot is not
        // free yet.
        tokio::task::spawn_blocking(move || {
            let done = work();
            drop(turn);
            done
        })
        .await
        .map_err(|error| Failure::Bug(format!("the hashing of a password panicked: {error}")))
    }

    /// Waits for a slot. Returns the permits that hold it.
    async fn turn(&self, priority: Priority) -> Result<Turn, Failure> {
        let waiting = async {
            // A stranger waits for a turn only while holding the strangers' permit, so at most one of them
            // stands in front of a known caller.
            let _of_strangers = match priority {
                Priority::Known => None,
                Priority::Stranger => Some(self.stranger_turns.clone().acquire_owned().await?),
            };
            Ok::<_, AcquireError>(Turn { _of_strangers, _turn: self.turns.clone().acquire_owned().await? })
        };
        match tokio::time::timeout(Self::PATIENCE, waiting).await {
            Ok(Ok(turn)) => Ok(turn),
            // The semaphores are never closed, so only the timeout can end the wait.
            Ok(Err(_)) | Err(_) => Err(Refusal::Busy.into()),
        }
    }
}

/// A slot, held until dropped.
struct Turn {
    _turn: OwnedSemaphorePermit,
    _of_strangers: Option<OwnedSemaphorePermit>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passwords() -> Passwords {
        Passwords::new(Arc::new(Random::seeded(1)), 2)
    }

    #[tokio::test]
    async fn a_password_matches_its_hash_and_no_other() {
        let passwords = passwords();
        let stored = passwords.hash("correct horse", Priority::Stranger).await.unwrap();
        assert!(stored.starts_with("$argon2id$"), "{stored}");
        assert!(passwords.matches("correct horse", Some(stored.clone()), Priority::Stranger).await.unwrap());
        assert!(!passwords.matches("correct horsf", Some(stored.clone()), Priority::Stranger).await.unwrap());
        assert_ne!(
            passwords.hash("correct horse", Priority::Stranger).await.unwrap(),
            stored,
            "every hash has a salt of its own"
        );
    }

    #[tokio::test]
    async fn without_a_stored_password_nothing_matches() {
        let passwords = passwords();
        assert!(!passwords.matches("correct horse", None, Priority::Stranger).await.unwrap());
        assert!(
            !passwords
                .matches("", Some("plain text from elsewhere".to_owned()), Priority::Stranger)
                .await
                .unwrap()
        );
        assert!(!passwords.matches(&"x".repeat(100_000), None, Priority::Stranger).await.unwrap());
    }

    #[tokio::test]
    async fn nobodys_hash_costs_what_a_real_one_costs() {
        let real = passwords().hash("correct horse", Priority::Stranger).await.unwrap();
        let cost = |text: &str| {
            let hash = PasswordHash::new(text).unwrap();
            (hash.algorithm, hash.version, hash.params.to_string(), hash.hash.map(|output| output.len()))
        };
        assert_eq!(cost(DUMMY_HASH), cost(&real));
    }

    #[tokio::test]
    async fn who_waits_too_long_for_a_turn_is_sent_away() {
        let passwords = passwords();
        let _all = passwords.turns.clone().acquire_many_owned(2).await.unwrap();
        let refused = passwords.hash("correct horse", Priority::Stranger).await.unwrap_err();
        assert!(matches!(refused, Failure::Refused(Refusal::Busy)), "{refused}");
    }

    #[tokio::test]
    async fn strangers_leave_a_turn_to_known_callers() {
        let passwords = Arc::new(passwords());
        let held = passwords.turn(Priority::Stranger).await.unwrap();
        let mut crowd = tokio::task::JoinSet::new();
        for _ in 0..600 {
            let passwords = Arc::clone(&passwords);
            crowd.spawn(async move { passwords.hash("battery staple", Priority::Stranger).await.is_ok() });
        }
        // The crowd waits first.
        tokio::task::yield_now().await;
        for _ in 0..3 {
            passwords.hash("correct horse", Priority::Known).await.unwrap();
        }
        assert_eq!(crowd.join_all().await, [false; 600], "the strangers' turn was taken all the time");
        drop(held);
        passwords.hash("correct horse", Priority::Stranger).await.unwrap();
    }

    #[tokio::test]
    async fn a_single_turn_is_for_everybody() {
        let passwords = Passwords::new(Arc::new(Random::seeded(1)), 1);
        for priority in [Priority::Stranger, Priority::Known] {
            passwords.hash("correct horse", priority).await.unwrap();
        }
        let _only = passwords.turn(Priority::Stranger).await.unwrap();
        let refused = passwords.hash("correct horse", Priority::Known).await.unwrap_err();
        assert!(matches!(refused, Failure::Refused(Refusal::Busy)), "{refused}");
    }

    #[tokio::test]
    async fn lengths_are_counted_in_characters() {
        let outcome = async |password: &str| match Passwords::check_new(password, &[]).await {
            Ok(()) => None,
            Err(Failure::Refused(Refusal::Mistyped(error))) => Some(error),
            Err(other) => panic!("{other}"),
        };
        for good in ["k7#Vq2!m", "八个汉字也是密码", &"八个汉字也是密码".repeat(9)] {
            assert_eq!(outcome(good).await, None, "{good}");
        }
        for bad in ["", "k7#Vq2!", "七个汉字不够长", &"x".repeat(73)] {
            assert_eq!(outcome(bad).await, Some(InputError::PasswordLength), "{bad}");
        }
    }
}
