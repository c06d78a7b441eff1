//! Second factors of users: TOTP (RFC 6238) and recovery codes.

use async_trait::async_trait;

use crate::{StoreError, Timestamp, UserId};

/// Seed of a TOTP secret. The secret is computed from the seed and a key of the mall, and never stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FactorSeed(pub [u8; 16]);

/// SHA-256 hash of a recovery code. The code itself is never stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RecoveryHash(pub [u8; 32]);

/// A factor in force.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ActiveFactor {
    /// The seed.
    pub seed: FactorSeed,
    /// Time of the confirmation.
    pub since: Timestamp,
    /// Latest time step whose code was accepted.
    pub last_step: u64,
    /// Number of unused recovery codes.
    pub recovery_codes: u64,
}

/// An enrolment that waits for its first code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PendingFactor {
    /// The seed.
    pub seed: FactorSeed,
    /// Time at which the enrolment began.
    pub begun: Timestamp,
}

/// The second factor of a user.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SecondFactor {
    /// The factor in force, if any.
    pub active: Option<ActiveFactor>,
    /// The enrolment in progress, if any. Beside a factor in force, the enrolment will replace the factor.
    pub pending: Option<PendingFactor>,
}

/// Second factors in the database.
///
/// - Every call is a transaction of its own, durable when the call returns.
/// - A user has at most one factor in force and one enrolment. Recovery codes belong to the factor in force.
/// - The [deletion](crate::PersonalData::delete) of a user removes factor, enrolment and recovery codes.
#[async_trait]
pub trait SecondFactors: Send + Sync {
    /// Returns the factor and the enrolment of a user; neither for an unknown user.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn get(&self, user: UserId) -> Result<SecondFactor, StoreError>;

    /// Begins an enrolment, and replaces an earlier one. The factor in force stays. Returns `false` for an
    /// unknown or deleted user.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn begin(&self, user: UserId, seed: FactorSeed, now: Timestamp) -> Result<bool, StoreError>;

    /// Puts the enrolment with this seed in force (compare-and-set), with the code of `step` accepted, and
    /// `codes` as the only recovery codes. Returns `false`, without a change, if the user has no such
    /// enrolment.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost.
    async fn confirm(
        &self,
        user: UserId,
        seed: FactorSeed,
        step: u64,
        codes: &[RecoveryHash],
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Accepts the code of a time step, if the factor in force has this seed and no code of this or a later
    /// step was accepted (compare-and-set). Of concurrent calls for one step, one returns `true`.
    ///
    /// # Errors
    /// Any [`StoreError`]: the step may have been accepted.
    async fn accept(&self, user: UserId, seed: FactorSeed, step: u64) -> Result<bool, StoreError>;

    /// Removes a recovery code. Returns whether the user had the code: of concurrent calls, one returns
    /// `true`.
    ///
    /// # Errors
    /// Any [`StoreError`]: the code may be used up.
    async fn use_recovery_code(&self, user: UserId, code: RecoveryHash) -> Result<bool, StoreError>;

    /// Replaces all recovery codes, if the factor in force has this seed. Returns `false`, without a change,
    /// otherwise.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost.
    async fn renew_recovery_codes(
        &self,
        user: UserId,
        seed: FactorSeed,
        codes: &[RecoveryHash],
    ) -> Result<bool, StoreError>;

    /// Removes factor, enrolment and recovery codes of a user. Returns whether a factor was in force.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn remove(&self, user: UserId) -> Result<bool, StoreError>;
}
