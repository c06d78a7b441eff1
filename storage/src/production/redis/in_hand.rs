//! Claims that this process's workers have in hand, with the epochs they were taken in.
//!
//! When Redis is replaced, such a claim may be known to nobody else: it was answered "success", and is not in the database
//! yet. So a new epoch is not opened before each instance has written to the database what it has in hand of earlier
//! ones. A claim that cannot be put back into its log, since that log is no longer the one in force, is stranded: it is
//! handed out again by this process.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::keys::partition_of;
use crate::production::EpochScope;
use crate::{Logged, OrderId};

/// The claims in hand. Shared by the log, and by whoever reports that nothing of an earlier epoch is left.
#[derive(Debug, Default)]
pub(super) struct InHand(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    by_worker: HashMap<String, HashMap<OrderId, Held>>,
    stranded: Vec<(Logged, u64)>,
    /// Calls that hand out claims and were not answered yet, by epoch.
    taking: HashMap<(EpochScope, u64), usize>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    logged: Logged,
    /// The number of the epoch in which it was taken.
    number: u64,
    /// Whether the worker broke off, and the claim was not put back yet.
    is_orphan: bool,
}

/// A call under way that hands out claims of one epoch.
#[derive(Debug)]
pub(super) struct Taking {
    in_hand: Arc<InHand>,
    epoch: (EpochScope, u64),
}

fn scope_of(logged: &Logged) -> EpochScope {
    EpochScope::of(logged.claim.voucher)
}

impl InHand {
    /// To be held from before the call until its answer is noted.
    pub(super) fn taking(self: &Arc<Self>, scope: EpochScope, number: u64) -> Taking {
        *self.0.lock().taking.entry((scope, number)).or_default() += 1;
        Taking { in_hand: Arc::clone(self), epoch: (scope, number) }
    }

    /// The number of the epoch in which the worker took this claim.
    pub(super) fn number(&self, worker: &str, order: OrderId) -> Option<u64> {
        let state = self.0.lock();
        state.by_worker.get(worker)?.get(&order).map(|held| held.number)
    }

    /// The worker lets go of these: they are settled, or back in the log.
    pub(super) fn let_go<'a>(&self, worker: &str, claims: impl IntoIterator<Item = &'a Logged>) {
        let mut state = self.0.lock();
        if let Some(held) = state.by_worker.get_mut(worker) {
            for logged in claims {
                held.remove(&logged.claim.order);
            }
        }
    }

    /// The worker lets go of these, and this process hands them out again.
    pub(super) fn strand(&self, worker: &str, claims: &[&Logged], was_refused: bool) {
        let mut state = self.0.lock();
        for logged in claims {
            let held = state.by_worker.get_mut(worker).and_then(|held| held.remove(&logged.claim.order));
            if let Some(Held { logged, number, .. }) = held {
                let attempts = logged.attempts.saturating_add(u32::from(was_refused));
                state.stranded.push((Logged { attempts, ..logged }, number));
            }
        }
    }

    /// The worker broke off. What it has in hand stays until it is put back.
    pub(super) fn orphan(&self, worker: &str) {
        let mut state = self.0.lock();
        let held = state.by_worker.get_mut(worker);
        held.into_iter().flat_map(HashMap::values_mut).for_each(|held| held.is_orphan = true);
    }

    /// The orphans of a worker in a partition.
    pub(super) fn orphans(&self, worker: &str, partition: u64) -> Vec<Logged> {
        let state = self.0.lock();
        let held = state.by_worker.get(worker).into_iter().flat_map(HashMap::values);
        held.filter(|held| held.is_orphan && partition_of(held.logged.claim.voucher) == partition)
            .map(|held| held.logged)
            .collect()
    }

    /// Hands stranded claims to a worker.
    pub(super) fn take_stranded(&self, worker: &str, max: usize) -> Vec<Logged> {
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

    /// Whether anything is left of epochs that are over. Orphans of such are stranded: no log takes them back.
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

impl Taking {
    /// The answer has come: the worker has these in hand.
    pub(super) fn took(self, worker: &str, claims: &[Logged]) {
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

impl Drop for Taking {
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
    use crate::{Claim, LogPosition, Timestamp, UserId, VoucherId};

    fn logged(order: u64) -> Logged {
        let claim = Claim {
            order: OrderId::new(order),
            voucher: VoucherId::new(3),
            user: UserId::new(order),
            at: Timestamp::from_millis(0),
        };
        Logged { position: LogPosition { major: order, minor: 0 }, claim, attempts: 0 }
    }

    #[test]
    fn what_is_in_hand_of_an_epoch_that_is_over_is_handed_out_again_until_it_is_settled() {
        let (in_hand, scope) = (Arc::new(InHand::default()), EpochScope::partition(3));
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
