//! Challenges by the external service of the mall, and the kinds of challenges that stand in for it.

use std::sync::Arc;

use mallbox_storage::{ChallengeKind, ChallengeKinds, Guard, Timestamp};

use super::challenge::{self, Answer, Puzzle, Riddle, STAND_IN, accepted_kinds};
use super::{Guards, Visitor};
use crate::mall::base::{Failure, GuardRefusal};
use crate::mall::selling::challenge_service::watched::{Turn, Verification};
use crate::mall::selling::challenge_service::{ChallengeService, WatchedService};

impl Guards {
    /// Sets the external service, before the first call.
    pub(in crate::mall::selling) fn use_service(&self, service: ChallengeService) {
        let watched = WatchedService::new(service, Arc::clone(&self.context.clock));
        // The first one stays.
        let _ = self.service.set(Arc::new(watched));
    }

    /// Returns the external service, if the mall has one.
    pub(in crate::mall::selling) fn service(&self) -> Option<&Arc<WatchedService>> {
        self.service.get()
    }

    /// Returns the kinds of challenges that are given now: those of the guard, the service only while it is
    /// available. Starts a probe of a service that is away, if one is due.
    pub(super) fn given_kinds(&self, guard: &Guard, now: Timestamp) -> ChallengeKinds {
        let kinds = accepted_kinds(guard);
        if !kinds.contains(ChallengeKind::Service) {
            return kinds;
        }
        if let Some(service) = self.service() {
            service.probe_if_due(now);
            if service.is_available() {
                return kinds;
            }
        }
        let own: Vec<_> = kinds.iter().filter(|kind| *kind != ChallengeKind::Service).collect();
        ChallengeKinds::new(&own).unwrap_or(ChallengeKinds::one(STAND_IN))
    }

    /// Returns what the visitor has to solve.
    pub(super) async fn puzzle(&self, kind: ChallengeKind, riddle: Riddle) -> Result<Puzzle, Failure> {
        match self.service() {
            Some(service) if kind == ChallengeKind::Service => {
                Ok(Puzzle::Service(service.service().widget()))
            }
            _ => challenge::draw(&self.drawing, riddle).await,
        }
    }

    /// Waits for a turn to call the service, if the challenge is the service's.
    ///
    /// # Errors
    /// [`GuardRefusal::ServiceAway`] at once while the service is away: the challenge may be answered later.
    pub(super) async fn turn(&self, kind: ChallengeKind) -> Result<Option<Turn>, Failure> {
        match self.service() {
            Some(service) if kind == ChallengeKind::Service => {
                if service.is_available() {
                    service.turn().await.map(Some)
                } else {
                    Err(GuardRefusal::ServiceAway.into())
                }
            }
            _ => Ok(None),
        }
    }

    /// Checks an answer.
    ///
    /// # Errors
    /// [`GuardRefusal::ChallengeFailed`]; [`GuardRefusal::ServiceAway`] without a verdict of the service.
    pub(super) async fn judge(
        &self,
        riddle: &Riddle,
        answer: &Answer,
        (visitor, turn): (&Visitor<'_>, Option<Turn>),
        now: Timestamp,
    ) -> Result<(), GuardRefusal> {
        let (Answer::Service(response), Some(service), Some(turn)) = (answer, self.service(), turn) else {
            return if riddle.is_solved_by(answer) { Ok(()) } else { Err(GuardRefusal::ChallengeFailed) };
        };
        match service.verify(response, visitor.address, turn, now).await {
            Verification::Accepted => Ok(()),
            Verification::Refused => Err(GuardRefusal::ChallengeFailed),
            Verification::Away => Err(GuardRefusal::ServiceAway),
        }
    }
}
