//! The decision log: attempts to claim in judged sales.
//!
//! Reasons: `src/decisions/0061-judgement.md`.

use async_trait::async_trait;

use crate::{Signals, StoreError, Timestamp, UserId, VoucherId};

/// How an attempt ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AttemptOutcome {
    /// The user got a unit.
    Accepted,
    /// The user has a unit already.
    AlreadyBought,
    /// No unit is left.
    SoldOut,
    /// The sale has not begun, has ended, or is paused.
    Closed,
    /// The user is below the level or a threshold of the sale.
    NotEligible,
    /// A limit was exceeded.
    RateLimited,
    /// The waiting room has not admitted the user.
    NotAdmitted,
    /// The pass was missing, expired, spent or forged.
    PassRequired,
    /// The attempt looked automated, and a second challenge was demanded.
    ChallengeAgain,
    /// The attempt looked automated and was refused.
    LooksAutomated,
    /// The mall failed; the user may or may not have a unit.
    Failed,
}

impl AttemptOutcome {
    /// All outcomes.
    pub const ALL: [Self; 11] = [
        Self::Accepted,
        Self::AlreadyBought,
        Self::SoldOut,
        Self::Closed,
        Self::NotEligible,
        Self::RateLimited,
        Self::NotAdmitted,
        Self::PassRequired,
        Self::ChallengeAgain,
        Self::LooksAutomated,
        Self::Failed,
    ];

    /// Returns the API's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Accepted => "ACCEPTED",
            Self::AlreadyBought => "ALREADY_BOUGHT",
            Self::SoldOut => "SOLD_OUT",
            Self::Closed => "CLOSED",
            Self::NotEligible => "NOT_ELIGIBLE",
            Self::RateLimited => "RATE_LIMITED",
            Self::NotAdmitted => "NOT_ADMITTED",
            Self::PassRequired => "PASS_REQUIRED",
            Self::ChallengeAgain => "CHALLENGE_AGAIN",
            Self::LooksAutomated => "LOOKS_AUTOMATED",
            Self::Failed => "FAILED",
        }
    }
}

/// An attempt to claim a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Time of the attempt.
    pub at: Timestamp,
    /// The sale.
    pub voucher: VoucherId,
    /// The user.
    pub user: UserId,
    /// Keyed hash of the client's address, if known.
    pub address: Option<u64>,
    /// Keyed hash of the device ticket, if shown.
    pub device: Option<u64>,
    /// How the attempt ended.
    pub outcome: AttemptOutcome,
    /// Score by the rules of that time.
    pub score: u32,
    /// Signals of the attempt.
    pub signals: Signals,
}

/// An attempt in the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoredAttempt {
    /// Number of the attempt. Ascending in the order of storing, unique in the mall.
    pub number: u64,
    /// The attempt.
    pub attempt: Attempt,
}

/// The decision log, in the database.
///
/// A log for people who look at an attack, not a ledger: no claim waits for it, and it may lack attempts.
#[async_trait]
pub trait Attempts: Send + Sync {
    /// Adds attempts, all or none, in their order. A repeated call adds them again.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing was added, or the response was lost.
    async fn append(&self, attempts: &[Attempt]) -> Result<(), StoreError>;

    /// Returns up to `max` attempts of a sale with numbers below `before`, newest first.
    ///
    /// # Errors
    /// Any [`StoreError`].
    async fn of_sale(
        &self,
        voucher: VoucherId,
        before: Option<u64>,
        max: u32,
    ) -> Result<Vec<StoredAttempt>, StoreError>;

    /// Returns up to `max` attempts of a user with numbers above `after`, oldest first.
    ///
    /// # Errors
    /// Any [`StoreError`].
    async fn of_user(&self, user: UserId, after: u64, max: u32) -> Result<Vec<StoredAttempt>, StoreError>;

    /// Deletes attempts earlier than `before`, and the oldest beyond the newest `keep`: up to
    /// [`ATTEMPTS_SWEEP_MAX`] per call. Returns the number of deleted attempts.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn sweep(&self, before: Timestamp, keep: u64) -> Result<u64, StoreError>;
}

/// Attempts deleted by a call of [`Attempts::sweep`] at most: a longer transaction would keep orders waiting.
pub const ATTEMPTS_SWEEP_MAX: u32 = 5_000;
