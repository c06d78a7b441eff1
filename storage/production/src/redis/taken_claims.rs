//! Claims in the hands of this process's workers, each with its epoch.
//!
//! After a replacement of Redis, such a claim may exist nowhere else: the buyer was told "success", and the
//! order is not in the database yet. So a new epoch opens only after each instance has written its claims of
//! earlier epochs to the database. A claim whose log is no longer in force cannot be put back into the log.
//! The process strands the claim, and hands the claim out again.

use std::collections::HashMap;
use std::sync::Arc;

use mallbox_storage::{LoggedClaim, OrderId};
use parking_lot::Mutex;

use super::keys::partition_of;
use crate::EpochScope;

/// The claims in hand. Shared by the log and the reporter of settled epochs.
#[derive(Debug, Default)]
pub(super) struct TakenClaims(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    by_worker: HashMap<String, HashMap<OrderId, Held>>,
    stranded: Vec<(LoggedClaim, u64)>,
    /// Number of take calls in flight, by epoch.
    taking: HashMap<(EpochScope, u64), usize>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    logged: LoggedClaim,
    /// Number of the claim's epoch.
    number: u64,
    /// Whether the worker broke off before putting the claim back.
    is_orphan: bool,
}

/// A take call in flight, in one epoch.
#[derive(Debug)]
pub(super) struct TakeGuard {
    in_hand: Arc<TakenClaims>,
    epoch: (EpochScope, u64),
}

fn scope_of(logged: &LoggedClaim) -> EpochScope {
    EpochScope::of(logged.claim.voucher)
}

impl TakenClaims {
    /// Registers a take call. The guard must live from before the call until the reply is noted.
    pub(super) fn taking(self: &Arc<Self>, scope: EpochScope, number: u64) -> TakeGuard {
        *self.0.lock().taking.entry((scope, number)).or_default() += 1;
        TakeGuard { in_hand: Arc::clone(self), epoch: (scope, number) }
    }

    /// Returns the number of the epoch in which the worker took the claim.
    pub(super) fn number(&self, worker: &str, order: OrderId) -> Option<u64> {
        let state = self.0.lock();
        state.by_worker.get(worker)?.get(&order).map(|held| held.number)
    }

    /// Removes settled claims, and claims put back into the log.
    pub(super) fn let_go<'a>(&self, worker: &str, claims: impl IntoIterator<Item = &'a LoggedClaim>) {
        let mut state = self.0.lock();
        if let Some(held) = state.by_worker.get_mut(worker) {
            for logged in claims {
                held.remove(&logged.claim.order);
            }
        }
    }

    /// Moves claims from the worker to the queue of stranded claims.
    pub(super) fn strand(&self, worker: &str, claims: &[&LoggedClaim], was_refused: bool) {
        let mut state = self.0.lock();
        for logged in claims {
            let held = state.by_worker.get_mut(worker).and_then(|held| held.remove(&logged.claim.order));
            if let Some(Held { logged, number, .. }) = held {
                let attempts = logged.attempts.saturating_add(u32::from(was_refused));
                state.stranded.push((LoggedClaim { attempts, ..logged }, number));
            }
        }
    }

    /// Marks all claims of a worker that broke off as orphans. Orphans stay in hand until put back.
    pub(super) fn orphan(&self, worker: &str) {
        let mut state = self.0.lock();
        let held = state.by_worker.get_mut(worker);
        held.into_iter().flat_map(HashMap::values_mut).for_each(|held| held.is_orphan = true);
    }

    /// Returns the orphans of a worker in a partition.
    pub(super) fn orphans(&self, worker: &str, partition: u64) -> Vec<LoggedClaim> {
        let state = self.0.lock();
        let held = state.by_worker.get(worker).into_iter().flat_map(HashMap::values);
        held.filter(|held| held.is_orphan && partition_of(held.logged.claim.voucher) == partition)
            .map(|held| held.logged)
            .collect()
    }

    /// Hands up to `max` stranded claims to a worker.
    pub(super) fn take_stranded(&self, worker: &str, max: usize) -> Vec<LoggedClaim> {
        let mut state = self.0.lock();
        let keep = state.stranded.len().saturating_sub(max);
        let taken = state.stranded.split_off(keep);
        if !taken.is_empty() {
            let held = state.by_worker.entry(worker.to_owned()).or_default();
            for (logged, number) in &taken {
                held.insert(logged.claim.order, Held { logged: *logged, number: *number, is_orphan: false });
            }
        }
        taken.into_iter().map(|(logged, _)| logged).collect()
    }

    /// Returns whether any claim or take call of a finished epoch is left. Strands the orphans of finished
    /// epochs, because no log takes them back.
    pub(super) fn has_older(&self, is_over: impl Fn(EpochScope, u64) -> bool) -> bool {
        let mut state = self.0.lock();
        let State { by_worker, stranded, taking } = &mut *state;
        let mut is_left = taking.keys().any(|(scope, number)| is_over(*scope, *number));
        for held in by_worker.values_mut() {
            let orphans =
                held.extract_if(|_, held| held.is_orphan && is_over(scope_of(&held.logged), held.number));
            stranded.extend(orphans.map(|(_, held)| (held.logged, held.number)));
            is_left |= held.values().any(|held| is_over(scope_of(&held.logged), held.number));
        }
        is_left || stranded.iter().any(|(logged, number)| is_over(scope_of(logged), *number))
    }
}

impl TakeGuard {
    /// Notes the claims in the reply as in the worker's hands.
    pub(super) fn took(self, worker: &str, claims: &[LoggedClaim]) {
        if claims.is_empty() {
            return;
        }
        let mut state = self.in_hand.0.lock();
        let held = state.by_worker.entry(worker.to_owned()).or_default();
        for logged in claims {
            held.insert(logged.claim.order, Held { logged: *logged, number: self.epoch.1, is_orphan: false });
        }
    }
}

impl Drop for TakeGuard {
    fn drop(&mut self) {
        let mut state = self.in_hand.0.lock();
        if let Some(calls) = state.taking.get_mut(&self.epoch) {
            *calls -= 1;
            if *calls == 0 {
                state.taking.remove(&self.epoch);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mallbox_storage::{Claim, LogPosition, Timestamp, UserId, VoucherId};

    fn logged(order: u64) -> LoggedClaim {
        let claim = Claim {
            order: OrderId::new(order),
            voucher: VoucherId::new(3),
            user: UserId::new(order),
            at: Timestamp::from_millis(0),
        };
        LoggedClaim { position: LogPosition { major: order, minor: 0 }, claim, attempts: 0 }
    }

    #[test]
    fn what_is_in_hand_of_an_epoch_that_is_over_is_handed_out_again_until_it_is_settled() {
        let (in_hand, scope) = (Arc::new(TakenClaims::default()), EpochScope::partition(3));
        let is_over = |_: EpochScope, number: u64| number < 2;
        let taking = in_hand.taking(scope, 1);
        assert!(in_hand.has_older(is_over), "nobody knows yet what it hands out");
        taking.took("a", &[logged(1), logged(2)]);
        in_hand.let_go("a", &[logged(1)]);
        assert!(in_hand.has_older(is_over) && in_hand.take_stranded("b", 9).is_empty());
        in_hand.orphan("a");
        assert!(in_hand.has_older(is_over));
        assert_eq!(in_hand.take_stranded("b", 9), [logged(2)]);
        in_hand.strand("b", &[&logged(2)], true);
        assert_eq!(in_hand.take_stranded("a", 9)[0].attempts, 1);
        assert_eq!(in_hand.number("a", OrderId::new(2)), Some(1));
        in_hand.let_go("a", &[logged(2)]);
        assert!(!in_hand.has_older(is_over));
        in_hand.taking(scope, 2).took("a", &[logged(3)]);
        assert!(!in_hand.has_older(is_over));
    }
}
