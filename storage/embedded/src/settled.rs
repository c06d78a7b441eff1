//! Tracking of completely settled commits of the order log.

use std::collections::{BTreeMap, HashMap};

use mallbox_storage::LoggedClaim;
use parking_lot::Mutex;

/// Counts, per commit, the claims that are neither orders nor dead letters.
///
/// The mark is the highest commit N such that every claim of every commit ≤ N is settled. The database
/// stores the mark in the settling transaction (`log_applied`), and with each checkpoint of the log. The mark
/// in the database can lag behind, since two concurrent workers each write a mark without the other worker's
/// claims.
#[derive(Debug)]
pub(crate) struct Settled {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    open: BTreeMap<u64, usize>,
    /// The highest commit so far.
    last: u64,
}

impl Settled {
    /// Makes a tracker without open commits: everything up to `mark` is settled.
    pub(crate) fn new(mark: u64) -> Self {
        Self { inner: Mutex::new(Inner { open: BTreeMap::new(), last: mark }) }
    }

    /// Adds a durable commit with `claims` claims.
    pub(crate) fn opened(&self, commit: u64, claims: usize) {
        let mut inner = self.inner.lock();
        inner.last = inner.last.max(commit);
        if claims > 0 {
            inner.open.insert(commit, claims);
        }
    }

    /// Returns the mark after settling `claims` as well. `claims` must be free of duplicates.
    pub(crate) fn mark_with(&self, claims: &[LoggedClaim]) -> u64 {
        let inner = self.inner.lock();
        let settled = per_commit(claims);
        inner
            .open
            .iter()
            .find(|(commit, open)| settled.get(commit).is_none_or(|settled| settled < open))
            .map_or(inner.last, |(commit, _)| commit - 1)
    }

    /// Settles `claims`. Returns the new mark.
    pub(crate) fn settle(&self, claims: &[LoggedClaim]) -> u64 {
        {
            let mut inner = self.inner.lock();
            for (commit, settled) in per_commit(claims) {
                if let Some(open) = inner.open.get_mut(&commit) {
                    *open = open.saturating_sub(settled);
                    if *open == 0 {
                        inner.open.remove(&commit);
                    }
                }
            }
        }
        self.mark_with(&[])
    }
}

fn per_commit(claims: &[LoggedClaim]) -> HashMap<u64, usize> {
    let mut counts = HashMap::new();
    for claim in claims {
        *counts.entry(claim.position.major).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use mallbox_storage::{Claim, LogPosition, OrderId, Timestamp, UserId, VoucherId};

    fn logged(commit: u64, index: u64) -> LoggedClaim {
        let claim = Claim {
            order: OrderId::new(commit * 100 + index),
            voucher: VoucherId::new(1),
            user: UserId::new(index),
            at: Timestamp::from_millis(0),
        };
        LoggedClaim { position: LogPosition { major: commit, minor: index }, claim, attempts: 0 }
    }

    #[test]
    fn two_workers_side_by_side_each_write_a_mark_without_the_others_claims() {
        let settled = Settled::new(4);
        settled.opened(5, 1);
        settled.opened(6, 1);
        let marks = [settled.mark_with(&[logged(5, 0)]), settled.mark_with(&[logged(6, 0)])];
        assert_eq!(marks, [5, 4]);
        assert_eq!(settled.settle(&[logged(5, 0), logged(6, 0)]), 6);
        assert_eq!(settled.mark_with(&[]), 6, "the next mark has both");
    }

    #[test]
    fn mark_stops_below_the_first_commit_that_is_not_whole() {
        let settled = Settled::new(4);
        settled.opened(5, 2);
        settled.opened(6, 0);
        settled.opened(7, 1);
        assert_eq!(settled.mark_with(&[]), 4);
        assert_eq!(settled.mark_with(&[logged(5, 0), logged(7, 0)]), 4);
        assert_eq!(settled.mark_with(&[logged(5, 0), logged(5, 1)]), 6);
        assert_eq!(settled.settle(&[logged(7, 0), logged(5, 1)]), 4);
        assert_eq!(settled.settle(&[logged(5, 0)]), 7);
    }
}
