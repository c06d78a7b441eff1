//! What operators did: a log that only grows, each entry chained to the last by hash.

use std::fmt;

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};

use crate::{StoreError, Timestamp, UserId};

/// Who did something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Actor {
    /// An operator who was logged in.
    User(UserId),
    /// Whoever may open the data directory, with a command.
    CommandLine,
}

/// One line of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditEntry {
    /// Its place: 1, 2, 3 and so on, without a gap.
    pub number: u64,
    /// The mall's time. Numbers and not times say what came first: a clock may have been set back.
    pub at: Timestamp,
    /// Who.
    pub actor: Actor,
    /// What was done, in a word.
    pub action: String,
    /// To what.
    pub subject: String,
    /// How, as JSON.
    pub detail: String,
    /// Over all of the above and the hash of the entry before: see [`AuditEntry::hash_after`].
    pub hash: [u8; 32],
}

impl AuditEntry {
    /// The hash before the first entry.
    pub const BEGINNING: [u8; 32] = [0; 32];

    /// The hash that this entry must have behind an entry with the hash `previous`.
    ///
    /// SHA-256 over `mallbox audit 1`, the previous hash, number, time (milliseconds since 1970), actor (1 and the user's
    /// id, or 0 and 0 for the command line), action, subject and detail. Numbers are 8 bytes, the largest first; a text
    /// is its length in bytes, as such a number, and its bytes, so that no two entries are written alike.
    #[must_use]
    pub fn hash_after(&self, previous: &[u8; 32]) -> [u8; 32] {
        let (kind, user) = match self.actor {
            Actor::CommandLine => (0_u64, 0),
            Actor::User(user) => (1, user.get()),
        };
        let mut hash = Sha256::new_with_prefix(b"mallbox audit 1");
        hash.update(previous);
        for bytes in [
            self.number.to_be_bytes(),
            self.at.as_millis().to_be_bytes(),
            kind.to_be_bytes(),
            user.to_be_bytes(),
        ] {
            hash.update(bytes);
        }
        for text in [&self.action, &self.subject, &self.detail] {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
        hash.finalize().into()
    }
}

/// What a walk along the chain found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditCheck {
    /// Entries that fit, from the first on.
    pub entries: u64,
    /// The hash of the last of them. Who notes it elsewhere can tell later whether the log was written anew.
    pub head: [u8; 32],
    /// The first that does not fit.
    pub fault: Option<AuditFault>,
}

/// A walk along the chain, entry by entry from the first on.
pub(crate) struct ChainWalk {
    check: AuditCheck,
}

impl ChainWalk {
    pub(crate) fn new() -> Self {
        Self { check: AuditCheck { entries: 0, head: AuditEntry::BEGINNING, fault: None } }
    }

    /// The number that the next entry has to have.
    pub(crate) fn next(&self) -> u64 {
        self.check.entries + 1
    }

    /// Meets the next entry there is; `None` for one that cannot be read, which no mall wrote. `false` if it does not fit:
    /// then the walk is over.
    pub(crate) fn meets(&mut self, number: u64, entry: Option<&AuditEntry>) -> bool {
        let fits =
            entry.filter(|entry| number == self.next() && entry.hash == entry.hash_after(&self.check.head));
        match fits {
            Some(entry) => self.check = AuditCheck { entries: number, head: entry.hash, fault: None },
            None if number > self.next() => self.stumble(AuditWrong::Missing),
            None => self.stumble(AuditWrong::Changed),
        }
        self.check.fault.is_none()
    }

    /// The last entry was met. `head` is what is kept apart of it: number and hash.
    pub(crate) fn end(mut self, head: (u64, [u8; 32])) -> AuditCheck {
        if self.check.fault.is_some() {
            return self.check;
        }
        if head.0 > self.check.entries {
            self.stumble(AuditWrong::CutOff);
        } else if head != (self.check.entries, self.check.head) {
            self.check.entries = self.check.entries.saturating_sub(1);
            self.stumble(AuditWrong::NotTheHead);
        }
        self.check
    }

    /// The entry after those that fit is the first that does not.
    fn stumble(&mut self, what: AuditWrong) {
        self.check.fault = Some(AuditFault { number: self.next(), what });
    }
}

/// The first entry that does not fit, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuditFault {
    /// Which.
    pub number: u64,
    /// What is wrong with it.
    pub what: AuditWrong,
}

/// What can be wrong with an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AuditWrong {
    /// Its hash is not that of its content behind the entry before: one of the two was changed.
    Changed,
    /// It is not there, though a later one is.
    Missing,
    /// It is not there, nor is any later one, and the head that is kept apart says that there was.
    CutOff,
    /// It is the last one, and the head that is kept apart knows nothing of it, or has another hash for it.
    NotTheHead,
}

impl fmt::Display for AuditFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, what } = self;
        match what {
            AuditWrong::Changed => {
                write!(f, "entry {number} does not fit: it, or the one before it, was changed")
            }
            AuditWrong::Missing => write!(f, "entry {number} is missing"),
            AuditWrong::CutOff => write!(f, "entry {number} is missing: the end of the log was cut off"),
            AuditWrong::NotTheHead => {
                write!(
                    f,
                    "entry {number} is not the one that was written last: the end of the log was changed"
                )
            }
        }
    }
}

/// What operators did: a log that only grows.
///
/// - Entries are numbered from 1 without a gap, in the order in which they were appended; concurrent appends all get in.
/// - An entry's hash covers its content and the hash of the entry before. Number and hash of the last entry are also
///   kept apart, and written together with the entry.
/// - There is no call that changes or removes an entry, and the store itself refuses it as far as it can.
/// - What the chain shows: that somebody changed, took out, put in, or cut off entries. What it cannot show: that
///   somebody who may write to the store rewrote every entry from some place on, and the head. For that, number and hash
///   of an entry have to be known elsewhere.
/// - A log that was tampered with can still be appended to, and [`verify`](Audit::verify) goes on to find the place.
#[async_trait]
pub trait Audit: Send + Sync {
    /// Appends an entry; it is durable when this answers. A repeat is another entry.
    ///
    /// # Errors
    /// [`StoreError`]: nothing was appended, or the answer was lost; what was to be recorded must not be done.
    async fn append(
        &self,
        at: Timestamp,
        actor: Actor,
        action: &str,
        subject: &str,
        detail: &str,
    ) -> Result<AuditEntry, StoreError>;

    /// The newest entries, or those numbered below `before`; the newest first, at most `max`.
    ///
    /// # Errors
    /// [`StoreError`]: call again; [`StoreError::Corrupt`] for an entry that cannot be read.
    async fn page(&self, before: Option<u64>, max: u32) -> Result<Vec<AuditEntry>, StoreError>;

    /// Walks the chain from its beginning; reads every entry. One that cannot be read does not fit, which is an answer
    /// and no error.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn verify(&self) -> Result<AuditCheck, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> AuditEntry {
        AuditEntry {
            number: 2,
            at: Timestamp::from_millis(1_795_262_400_000),
            actor: Actor::User(UserId::new(7)),
            action: "pause".into(),
            subject: "sale 3".into(),
            detail: "{}".into(),
            hash: [0; 32],
        }
    }

    /// Computed by another program from the description alone: a chain outlives the program that wrote it.
    #[test]
    fn the_encoding_stays_as_it_is_described() {
        let hex = entry().hash_after(&[1; 32]).map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(hex, "8e49b49fd1041da7c1e914f61f9dcf0c4a65e337681c834a7fde91fbe636f107");
    }

    #[test]
    fn every_field_counts_and_none_runs_into_the_next() {
        let is = entry().hash_after(&[1; 32]);
        let changes: [fn(&mut AuditEntry); 8] = [
            |e| e.number = 3,
            |e| e.at = e.at + std::time::Duration::from_millis(1),
            |e| e.actor = Actor::User(UserId::new(8)),
            |e| e.actor = Actor::CommandLine,
            |e| e.action = "pauses".into(),
            |e| e.subject = "sale 4".into(),
            |e| e.detail = "{ }".into(),
            |e| (e.action, e.subject) = ("pauses".into(), "ale 3".into()),
        ];
        for (row, change) in changes.iter().enumerate() {
            let mut other = entry();
            change(&mut other);
            assert_ne!(other.hash_after(&[1; 32]), is, "row {row}");
        }
        assert_ne!(entry().hash_after(&[2; 32]), is, "the entry before counts");
        let nobody = AuditEntry { actor: Actor::User(UserId::new(0)), ..entry() };
        let command_line = AuditEntry { actor: Actor::CommandLine, ..entry() };
        assert_ne!(nobody.hash_after(&[1; 32]), command_line.hash_after(&[1; 32]));
    }
}
