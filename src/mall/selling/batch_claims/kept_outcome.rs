//! The outcomes of a batch as stored: language-neutral, so that a repeat may be in another language.

use std::num::NonZeroU8;
use std::time::Duration;

use mallbox_storage::OrderId;
use serde::{Deserialize, Serialize};

use super::claim::BatchOutcome;
use crate::mall::base::{ClaimGatewayRefusal, ClockRefusal, Failure, GuardRefusal, Refusal};

/// The outcome of a claim of a stored batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeptOutcome {
    /// The claim is about to be made under this order id, or was made.
    Reserved(OrderId),
    /// The claim was accepted.
    Accepted(OrderId),
    /// The claim was refused.
    Refused(KeptRefusal),
}

/// A refusal of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeptRefusal {
    SoldOut,
    SoldOutUntil { wave_in: Duration, units: u64 },
    AlreadyBought(OrderId),
    LimitReached(NonZeroU8),
    NotOpen,
    Ended,
    Paused,
    UnknownSale,
    LevelTooLow,
    AccountTooNew { old_enough_in: Duration },
    SmsCodeNeeded,
    RateLimited { retry_after: Duration },
    Crowded { retry_after: Duration },
    Busy,
    ClockUnsure,
    Blocked,
    LooksAutomated,
    PassRequired,
    ChallengeAgain,
    AdmissionRequired,
    SaleNotNamed,
    UnknownUser,
    DuplicateClaim,
}

/// Returns the stored form.
pub(super) fn to_text(outcomes: &[KeptOutcome]) -> Result<String, Failure> {
    serde_json::to_string(outcomes).map_err(|error| Failure::Bug(format!("outcomes of a batch: {error}")))
}

/// Reads the stored form of `count` outcomes.
pub(super) fn from_text(text: &str, count: usize) -> Result<Vec<KeptOutcome>, Failure> {
    let outcomes: Vec<KeptOutcome> = serde_json::from_str(text)
        .map_err(|error| Failure::Bug(format!("a stored batch is unknown to this version: {error}")))?;
    if outcomes.len() != count {
        return Err(Failure::Bug(format!("a stored batch has {} outcomes, not {count}", outcomes.len())));
    }
    Ok(outcomes)
}

impl KeptOutcome {
    /// Returns the stored form of an outcome.
    pub(super) fn of(outcome: &BatchOutcome) -> Result<Self, Failure> {
        Ok(match outcome {
            BatchOutcome::Accepted(order) => Self::Accepted(*order),
            BatchOutcome::Refused(refusal) => Self::Refused(KeptRefusal::of(refusal).ok_or_else(|| {
                Failure::Bug(format!("a batch cannot store the refusal {refusal:?} of a claim"))
            })?),
        })
    }

    /// Returns the final outcome; `None` for a reserved order id.
    pub(super) fn outcome(self) -> Option<BatchOutcome> {
        match self {
            Self::Reserved(_) => None,
            Self::Accepted(order) => Some(BatchOutcome::Accepted(order)),
            Self::Refused(refusal) => Some(BatchOutcome::Refused(refusal.into())),
        }
    }
}

impl KeptRefusal {
    /// Returns the stored form of a refusal; `None` for a refusal that no claim gets.
    fn of(refusal: &Refusal) -> Option<Self> {
        Some(match *refusal {
            Refusal::SoldOut => Self::SoldOut,
            Refusal::SoldOutUntil { wave_in, units } => Self::SoldOutUntil { wave_in, units },
            Refusal::AlreadyBought(order) => Self::AlreadyBought(order),
            Refusal::LimitReached(units) => Self::LimitReached(units),
            Refusal::NotOpen => Self::NotOpen,
            Refusal::Ended => Self::Ended,
            Refusal::Paused => Self::Paused,
            Refusal::UnknownSale => Self::UnknownSale,
            Refusal::LevelTooLow => Self::LevelTooLow,
            Refusal::AccountTooNew { old_enough_in } => Self::AccountTooNew { old_enough_in },
            Refusal::SmsCodeNeeded => Self::SmsCodeNeeded,
            Refusal::RateLimited { retry_after } => Self::RateLimited { retry_after },
            Refusal::Crowded { retry_after } => Self::Crowded { retry_after },
            Refusal::Busy => Self::Busy,
            Refusal::Clock(ClockRefusal::Unsure) => Self::ClockUnsure,
            Refusal::Blocked => Self::Blocked,
            Refusal::LooksAutomated => Self::LooksAutomated,
            Refusal::Guard(GuardRefusal::PassRequired) => Self::PassRequired,
            Refusal::Guard(GuardRefusal::ChallengeAgain) => Self::ChallengeAgain,
            Refusal::Guard(GuardRefusal::AdmissionRequired) => Self::AdmissionRequired,
            Refusal::ClaimGateway(ClaimGatewayRefusal::SaleNotNamed) => Self::SaleNotNamed,
            Refusal::ClaimGateway(ClaimGatewayRefusal::UnknownUser) => Self::UnknownUser,
            Refusal::ClaimGateway(ClaimGatewayRefusal::DuplicateClaim) => Self::DuplicateClaim,
            _ => return None,
        })
    }
}

impl From<KeptRefusal> for Refusal {
    fn from(kept: KeptRefusal) -> Self {
        match kept {
            KeptRefusal::SoldOut => Self::SoldOut,
            KeptRefusal::SoldOutUntil { wave_in, units } => Self::SoldOutUntil { wave_in, units },
            KeptRefusal::AlreadyBought(order) => Self::AlreadyBought(order),
            KeptRefusal::LimitReached(units) => Self::LimitReached(units),
            KeptRefusal::NotOpen => Self::NotOpen,
            KeptRefusal::Ended => Self::Ended,
            KeptRefusal::Paused => Self::Paused,
            KeptRefusal::UnknownSale => Self::UnknownSale,
            KeptRefusal::LevelTooLow => Self::LevelTooLow,
            KeptRefusal::AccountTooNew { old_enough_in } => Self::AccountTooNew { old_enough_in },
            KeptRefusal::SmsCodeNeeded => Self::SmsCodeNeeded,
            KeptRefusal::RateLimited { retry_after } => Self::RateLimited { retry_after },
            KeptRefusal::Crowded { retry_after } => Self::Crowded { retry_after },
            KeptRefusal::Busy => Self::Busy,
            KeptRefusal::ClockUnsure => Self::Clock(ClockRefusal::Unsure),
            KeptRefusal::Blocked => Self::Blocked,
            KeptRefusal::LooksAutomated => Self::LooksAutomated,
            KeptRefusal::PassRequired => Self::Guard(GuardRefusal::PassRequired),
            KeptRefusal::ChallengeAgain => Self::Guard(GuardRefusal::ChallengeAgain),
            KeptRefusal::AdmissionRequired => Self::Guard(GuardRefusal::AdmissionRequired),
            KeptRefusal::SaleNotNamed => Self::ClaimGateway(ClaimGatewayRefusal::SaleNotNamed),
            KeptRefusal::UnknownUser => Self::ClaimGateway(ClaimGatewayRefusal::UnknownUser),
            KeptRefusal::DuplicateClaim => Self::ClaimGateway(ClaimGatewayRefusal::DuplicateClaim),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_is_read_as_it_was_stored() {
        let second = Duration::from_millis(1_001);
        let order = OrderId::new(u64::MAX >> 1);
        let refusals = [
            KeptRefusal::SoldOut,
            KeptRefusal::SoldOutUntil { wave_in: second, units: 9 },
            KeptRefusal::AlreadyBought(order),
            KeptRefusal::LimitReached(NonZeroU8::MAX),
            KeptRefusal::NotOpen,
            KeptRefusal::Ended,
            KeptRefusal::Paused,
            KeptRefusal::UnknownSale,
            KeptRefusal::LevelTooLow,
            KeptRefusal::AccountTooNew { old_enough_in: second },
            KeptRefusal::SmsCodeNeeded,
            KeptRefusal::RateLimited { retry_after: second },
            KeptRefusal::Crowded { retry_after: second },
            KeptRefusal::Busy,
            KeptRefusal::ClockUnsure,
            KeptRefusal::Blocked,
            KeptRefusal::LooksAutomated,
            KeptRefusal::PassRequired,
            KeptRefusal::ChallengeAgain,
            KeptRefusal::AdmissionRequired,
            KeptRefusal::SaleNotNamed,
            KeptRefusal::UnknownUser,
            KeptRefusal::DuplicateClaim,
        ];
        let outcomes: Vec<BatchOutcome> = refusals
            .iter()
            .map(|refusal| BatchOutcome::Refused((*refusal).into()))
            .chain([BatchOutcome::Accepted(order)])
            .collect();
        let kept: Vec<KeptOutcome> =
            outcomes.iter().map(|outcome| KeptOutcome::of(outcome).unwrap()).collect();
        let text = to_text(&kept).unwrap();
        let read = from_text(&text, kept.len()).unwrap();
        let again: Vec<BatchOutcome> = read.into_iter().filter_map(KeptOutcome::outcome).collect();
        assert_eq!(again, outcomes);
        assert!(from_text(&text, 1).is_err() && from_text("[", 0).is_err());
        assert_eq!(KeptOutcome::Reserved(order).outcome(), None);
    }

    #[test]
    fn the_stored_form_is_short_and_stays_readable() {
        let text =
            r#"[{"reserved":7},{"accepted":8},{"refused":"sold_out"},{"refused":{"already_bought":9}}]"#;
        let outcomes = [
            KeptOutcome::Reserved(OrderId::new(7)),
            KeptOutcome::Accepted(OrderId::new(8)),
            KeptOutcome::Refused(KeptRefusal::SoldOut),
            KeptOutcome::Refused(KeptRefusal::AlreadyBought(OrderId::new(9))),
        ];
        assert_eq!(to_text(&outcomes).unwrap(), text);
        assert_eq!(from_text(text, 4).unwrap(), outcomes);
        let other = BatchOutcome::Refused(Refusal::LastOperator);
        assert!(KeptOutcome::of(&other).is_err(), "no claim is refused so");
    }
}
