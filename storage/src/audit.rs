//! Audit log: append-only, each entry chained to the previous entry by hash.
//!
//! Reasons and figures: `storage/decisions/0027-audit-chain.md`.

use std::fmt;

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};

use crate::{StoreError, Timestamp, UserId};

/// Author of an audited action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Actor {
    /// An operator who was logged in.
    User(UserId),
    /// A command, run by anyone with access to the data directory.
    CommandLine,
}

/// One entry of the audit log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditEntry {
    /// Sequence number: 1, 2, 3 and so on, without a gap.
    pub number: u64,
    /// Time of the action on the mall's clock. Sequence numbers, not times, define the order: a clock may be
    /// set back.
    pub at: Timestamp,
    /// Author of the action.
    pub actor: Actor,
    /// Name of the action, in one word.
    pub action: String,
    /// Object of the action.
    pub subject: String,
    /// Details of the action, as JSON.
    pub detail: String,
    /// Hash of all fields above and of the previous entry's hash: see [`AuditEntry::hash_after`].
    pub hash: [u8; 32],
}

impl AuditEntry {
    /// Hash before the first entry (all zeros).
    pub const GENESIS_HASH: [u8; 32] = [0; 32];

    /// Computes the hash of this entry after an entry with the hash `previous`.
    ///
    /// The hash is SHA-256 over `mallbox audit 1`, the previous hash, number, time (milliseconds since 1970),
    /// actor (1 and the user's id, or 0 and 0 for the command line), action, subject and detail. Numbers are
    /// 8 bytes, big-endian. Texts are length-prefixed: the length in bytes, as an 8-byte number, then the
    /// bytes. No two different entries have the same encoding.
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

/// Result of verifying the chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditCheck {
    /// Number of valid entries, counted from the first.
    pub entries: u64,
    /// Hash of the last valid entry. An operator who stores the hash elsewhere can later detect a rewritten
    /// log.
    pub head: [u8; 32],
    /// The first invalid entry; `None` if the whole chain is valid.
    pub fault: Option<AuditFault>,
}

/// Verifier of the chain: reads entries one by one from the first.
#[derive(Debug)]
pub struct ChainVerifier {
    check: AuditCheck,
}

impl Default for ChainVerifier {
    fn default() -> Self {
        Self::new()
    }
}

impl ChainVerifier {
    /// Starts before the first entry.
    #[must_use]
    pub fn new() -> Self {
        Self { check: AuditCheck { entries: 0, head: AuditEntry::GENESIS_HASH, fault: None } }
    }

    /// Returns the sequence number expected next.
    pub fn next(&self) -> u64 {
        self.check.entries + 1
    }

    /// Checks the next entry; `None` for an unreadable entry, which no mall writes. Returns `false` if the
    /// entry is invalid and verification is over.
    pub fn meets(&mut self, number: u64, entry: Option<&AuditEntry>) -> bool {
        let fits =
            entry.filter(|entry| number == self.next() && entry.hash == entry.hash_after(&self.check.head));
        match fits {
            Some(entry) => self.check = AuditCheck { entries: number, head: entry.hash, fault: None },
            None if number > self.next() => self.stumble(AuditFaultKind::Missing),
            None => self.stumble(AuditFaultKind::Changed),
        }
        self.check.fault.is_none()
    }

    /// Finishes after the last entry. `head` is the separately stored number and hash of the last entry.
    pub fn end(mut self, head: (u64, [u8; 32])) -> AuditCheck {
        if self.check.fault.is_some() {
            return self.check;
        }
        if head.0 > self.check.entries {
            self.stumble(AuditFaultKind::CutOff);
        } else if head != (self.check.entries, self.check.head) {
            self.check.entries = self.check.entries.saturating_sub(1);
            self.stumble(AuditFaultKind::NotTheHead);
        }
        self.check
    }

    /// Records the entry after the last valid one as the fault.
    fn stumble(&mut self, what: AuditFaultKind) {
        self.check.fault = Some(AuditFault { number: self.next(), what });
    }
}

/// The first invalid entry, and what is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuditFault {
    /// Sequence number of the invalid entry.
    pub number: u64,
    /// Kind of the fault.
    pub what: AuditFaultKind,
}

/// Kind of fault in the chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AuditFaultKind {
    /// The hash does not match the content and the previous hash: the entry or its predecessor was changed.
    Changed,
    /// The entry is missing, although a later entry exists.
    Missing,
    /// The entry and all later ones are missing, although the separately stored head proves that they
    /// existed.
    CutOff,
    /// The last entry is unknown to the separately stored head, or has another hash there.
    NotTheHead,
}

impl fmt::Display for AuditFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, what } = self;
        match what {
            AuditFaultKind::Changed => {
                write!(f, "entry {number} does not match its hash: it or the previous entry was changed")
            }
            AuditFaultKind::Missing => write!(f, "entry {number} is missing"),
            AuditFaultKind::CutOff => {
                write!(f, "entry {number} is missing: the end of the log was truncated")
            }
            AuditFaultKind::NotTheHead => {
                write!(f, "entry {number} is not the last entry written: the end of the log was changed")
            }
        }
    }
}

/// Audit log of operators' actions, append-only.
///
/// - Entries are numbered from 1 without a gap, in the order of their appends. Concurrent appends all
///   succeed.
/// - An entry's hash covers its content and the previous entry's hash. Number and hash of the last entry (the
///   head) are also stored separately, in the same transaction as the entry.
/// - No call changes or removes an entry, and the database itself refuses such changes as far as possible.
/// - The chain detects changed, removed, inserted and truncated entries. The chain cannot detect an attacker
///   with write access to the database who rewrites every entry from some point on, and the head. Against
///   such an attacker, store number and hash of an entry elsewhere.
/// - A log that was tampered with still accepts appends, and [`verify`](Audit::verify) still finds the place.
#[async_trait]
pub trait Audit: Send + Sync {
    /// Appends an entry; the entry is durable when the call returns. A repeated call appends another entry.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing was appended, or the response was lost. The action to be audited must not
    /// be performed.
    async fn append(
        &self,
        at: Timestamp,
        actor: Actor,
        action: &str,
        subject: &str,
        detail: &str,
    ) -> Result<AuditEntry, StoreError>;

    /// Returns up to `max` entries, newest first; only entries numbered below `before`, if given.
    ///
    /// # Errors
    /// - [`StoreError::Corrupt`]: an entry cannot be read.
    /// - Any other [`StoreError`]: call again.
    async fn page(&self, before: Option<u64>, max: u32) -> Result<Vec<AuditEntry>, StoreError>;

    /// Verifies the chain from the first entry; reads every entry. An unreadable entry is reported as a fault
    /// in the result, not as an error.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
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

    /// Computed by an independent program from the description alone: a chain outlives the program that wrote
    /// it.
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
