//! An external service with its circuit: limited calls, probes in the background, counts and log.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use mallbox_storage::Timestamp;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::circuit::Circuit;
use super::wire::{ServiceFailure, ServiceResponse, Verdict};
use super::{CALL_TIMEOUT, ChallengeService};
use crate::mall::Clock;
use crate::mall::base::sparse_log::SparseLog;
use crate::mall::base::{Failure, Refusal};

/// Verifications at once: a silent service must not take all sockets of the process.
const CALLS_MAX: usize = 256;
/// Longest wait for a turn, which is part of [`CALL_TIMEOUT`].
const TURN_WAIT_MAX: Duration = Duration::from_millis(200);

/// An external service, as a running mall uses it.
pub struct WatchedService {
    service: ChallengeService,
    circuit: Circuit,
    calls: Arc<Semaphore>,
    clock: Arc<dyn Clock>,
    counts: [AtomicU64; 3],
    failures: SparseLog,
    mismatches: SparseLog,
}

/// Verifications since the start, by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServiceCounts {
    /// Visitors who passed.
    pub accepted: u64,
    /// Visitors who did not pass.
    pub refused: u64,
    /// Calls without a verdict.
    pub failed: u64,
}

/// The right to a verification.
pub(in crate::mall::selling) struct Turn {
    _permit: OwnedSemaphorePermit,
    limit: Duration,
}

/// What became of a visitor's response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::mall::selling) enum Verification {
    /// The visitor passed.
    Accepted,
    /// The visitor did not pass.
    Refused,
    /// The service gave no verdict.
    Away,
}

impl WatchedService {
    pub(in crate::mall::selling) fn new(service: ChallengeService, clock: Arc<dyn Clock>) -> Self {
        Self {
            service,
            circuit: Circuit::default(),
            calls: Arc::new(Semaphore::new(CALLS_MAX)),
            clock,
            counts: Default::default(),
            failures: SparseLog::default(),
            mismatches: SparseLog::default(),
        }
    }

    /// Returns the service.
    #[must_use]
    pub fn service(&self) -> &ChallengeService {
        &self.service
    }

    /// Returns whether visitors are sent to the service.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.circuit.is_closed()
    }

    /// Returns the verifications since the start.
    #[must_use]
    pub fn counts(&self) -> ServiceCounts {
        let [accepted, refused, failed] = self.counts.each_ref().map(|count| count.load(Relaxed));
        ServiceCounts { accepted, refused, failed }
    }

    /// Starts a probe in the background, if one is due.
    pub(in crate::mall::selling) fn probe_if_due(self: &Arc<Self>, now: Timestamp) {
        if !self.circuit.takes_probe(now) {
            return;
        }
        let watched = Arc::clone(self);
        tokio::spawn(async move {
            let outcome = watched.service.probe().await;
            watched.circuit.probed(outcome.is_ok(), watched.clock.now());
            match outcome {
                Ok(()) => tracing::info!(service = watched.service.name(), "the challenge service is back"),
                Err(failure) => watched.log(&failure),
            }
        });
    }

    /// Waits for a turn to call the service.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if there is none within 200 ms.
    pub(in crate::mall::selling) async fn turn(&self) -> Result<Turn, Failure> {
        let began = Instant::now();
        match tokio::time::timeout(TURN_WAIT_MAX, Arc::clone(&self.calls).acquire_owned()).await {
            Ok(Ok(permit)) => {
                Ok(Turn { _permit: permit, limit: CALL_TIMEOUT.saturating_sub(began.elapsed()) })
            }
            _ => Err(Refusal::Busy.into()),
        }
    }

    /// Has a visitor's response verified. Takes a second at most, together with the wait for the turn.
    pub(in crate::mall::selling) async fn verify(
        &self,
        response: &ServiceResponse,
        address: Option<IpAddr>,
        turn: Turn,
        now: Timestamp,
    ) -> Verification {
        let outcome = self.service.verify(response, address, turn.limit).await;
        let (count, verification) = match &outcome {
            Ok(Verdict::Accepted) => (0, Verification::Accepted),
            Ok(Verdict::Refused { .. }) => (1, Verification::Refused),
            Err(_) => (2, Verification::Away),
        };
        self.counts[count].fetch_add(1, Relaxed);
        match outcome {
            Ok(Verdict::Accepted) => self.circuit.succeeded(),
            Ok(Verdict::Refused { reason }) => {
                self.circuit.succeeded();
                self.log_mismatch(&reason);
            }
            Err(failure) => {
                if self.circuit.failed(now) {
                    self.log(&failure);
                }
            }
        }
        verification
    }

    fn log(&self, failure: &ServiceFailure) {
        let Some(times) = self.failures.again() else { return };
        let service = self.service.name();
        match failure {
            ServiceFailure::Away(cause) => tracing::warn!(
                service,
                cause,
                times,
                "the challenge service is away: sales use the mall's own challenges"
            ),
            ServiceFailure::BadKeys(cause) => tracing::error!(
                service,
                cause,
                times,
                "the challenge service does not accept the mall's keys: check --challenge-site-key and \
                 --challenge-secret; sales use the mall's own challenges"
            ),
        }
    }

    /// Logs that site key and secret belong to different sites, or that a visitor shows tokens of others.
    fn log_mismatch(&self, reason: &str) {
        if reason.contains("sitekey-secret-mismatch")
            && let Some(times) = self.mismatches.again()
        {
            tracing::warn!(
                service = self.service.name(),
                times,
                "the challenge service refused a response of another site: if nobody passes, check \
                 --challenge-site-key"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mall::base::ManualClock;
    use crate::mall::selling::challenge_service::{ChallengeProvider, ServiceKeys};

    #[tokio::test]
    async fn who_gets_no_turn_is_told_soon() {
        let url = Some("http://127.0.0.1:9/");
        let keys = ServiceKeys { site_key: "site", secret: "s3cr3t", verify_url: url, script_url: url };
        let service = ChallengeService::new(ChallengeProvider::Turnstile, &keys).unwrap();
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_795_262_400_000)));
        let watched = WatchedService::new(service, clock);
        let mut turns = Vec::new();
        for _ in 0..CALLS_MAX {
            turns.push(watched.turn().await.unwrap());
        }
        assert!(turns.iter().all(|turn| turn.limit <= CALL_TIMEOUT));
        assert!(matches!(watched.turn().await, Err(Failure::Refused(Refusal::Busy))));
        turns.pop();
        assert!(watched.turn().await.is_ok());
    }
}
