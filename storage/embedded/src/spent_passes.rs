//! Passes spent in this process, until they expire.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use mallbox_storage::{Pass, Timestamp, UserId, VoucherId};
use parking_lot::{Mutex, MutexGuard};

/// Shards by user: claims of different users rarely meet.
const SHARDS: u64 = 64;
/// Number of spent passes in a shard below which expired passes are not looked for.
const SWEEP_FROM: usize = 256;

/// Spent passes in memory. A new process has a new epoch, in which no earlier pass is taken, so nothing has
/// to be remembered on disk.
#[derive(Debug)]
pub(crate) struct SpentPasses {
    epoch: u64,
    shards: Box<[Mutex<Shard>]>,
}

#[derive(Debug)]
struct Shard {
    expiries: HashMap<(VoucherId, u64), Timestamp, RandomState>,
    /// Number of passes at which expired passes are removed.
    sweep_at: usize,
}

impl Default for Shard {
    fn default() -> Self {
        Self { expiries: HashMap::default(), sweep_at: SWEEP_FROM }
    }
}

/// A pass that is not spent, with its shard locked: no other thread can spend the pass meanwhile.
pub(crate) struct UnspentPass<'a> {
    shard: MutexGuard<'a, Shard>,
    key: (VoucherId, u64),
    expires: Timestamp,
    now: Timestamp,
}

impl SpentPasses {
    /// Creates an empty set in an epoch of its own.
    pub(crate) fn new() -> Self {
        Self { epoch: crate::random::random_id(), shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    /// Returns the epoch of this process.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Looks a pass of a user up at `now`. `None` if the pass is spent, expired or of another epoch.
    pub(crate) fn unspent(
        &self,
        (voucher, user): (VoucherId, UserId),
        pass: Pass,
        now: Timestamp,
    ) -> Option<UnspentPass<'_>> {
        if pass.epoch != self.epoch || now >= pass.expires {
            return None;
        }
        let shard = self.shards[usize::try_from(user.get() % SHARDS).unwrap_or(0)].lock();
        let key = (voucher, pass.nonce);
        (!shard.expiries.contains_key(&key)).then_some(UnspentPass { shard, key, expires: pass.expires, now })
    }
}

impl UnspentPass<'_> {
    /// Spends the pass.
    pub(crate) fn spend(mut self) {
        if self.shard.expiries.len() >= self.shard.sweep_at {
            let now = self.now;
            self.shard.expiries.retain(|_, expires| now < *expires);
            self.shard.sweep_at = SWEEP_FROM.max(2 * self.shard.expiries.len());
        }
        self.shard.expiries.insert(self.key, self.expires);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALE: VoucherId = VoucherId::new(7);
    const USER: UserId = UserId::new(1);

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn a_pass_is_spent_once_and_is_void_after_its_expiry_and_in_another_epoch() {
        let passes = SpentPasses::new();
        let pass = Pass { nonce: 1, epoch: passes.epoch(), expires: at(100) };
        let is_open = |pass, now| passes.unspent((SALE, USER), pass, at(now)).is_some();
        assert!(is_open(pass, 0) && is_open(pass, 99), "a look spends nothing");
        assert!(!is_open(pass, 100));
        assert!(!is_open(Pass { epoch: pass.epoch ^ 1, ..pass }, 0));
        passes.unspent((SALE, USER), pass, at(0)).unwrap().spend();
        assert!(!is_open(pass, 0));
        assert!(is_open(Pass { nonce: 2, ..pass }, 0));
        assert!(passes.unspent((VoucherId::new(8), USER), pass, at(0)).is_some());
    }

    #[test]
    fn expired_passes_leave_memory_and_others_stay() {
        let passes = SpentPasses::new();
        let spend = |nonce, now: i64, expires: i64| {
            let pass = Pass { nonce, epoch: passes.epoch(), expires: at(expires) };
            passes.unspent((SALE, USER), pass, at(now)).unwrap().spend();
        };
        (0..SWEEP_FROM as u64 - 1).for_each(|nonce| spend(nonce, 0, 100));
        spend(9_999, 0, 1_000);
        spend(10_000, 100, 1_000);
        let held = passes.shards.iter().map(|shard| shard.lock().expiries.len()).sum::<usize>();
        assert_eq!(held, 2);
        let late = Pass { nonce: 9_999, epoch: passes.epoch(), expires: at(1_000) };
        assert!(passes.unspent((SALE, USER), late, at(100)).is_none(), "forgotten before its expiry");
    }
}
