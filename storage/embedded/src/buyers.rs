//! The set of buyers of one sale.
//!
//! User ids are dense, so a bitmap is the smallest representation: less than one byte per buyer, against 15
//! to 19 for a hash set and 29 to 37 for a map from buyer to order (`benches/buyers.rs`). The order of a
//! buyer is looked up among the pending claims and in the database.
//!
//! Reasons and figures: `storage/decisions/0008-buyers-as-bitmaps.md`.

use std::collections::HashMap;

use mallbox_storage::UserId;
use parking_lot::{Mutex, MutexGuard};
use roaring::RoaringTreemap;

/// Shards per sale. Users with neighbouring ids are as likely as any others to buy at the same moment; more
/// shards than cores keep concurrent buyers on different locks.
const SHARDS: u64 = 64;

/// A sharded set of users.
#[derive(Debug)]
pub(crate) struct Buyers {
    shards: Box<[Mutex<Shard>]>,
}

#[derive(Debug, Default)]
struct Shard {
    users: RoaringTreemap,
    /// Units beyond the first, by key. Occurs only if buyers were lost in the middle of a sale and bought
    /// again.
    beyond_one: HashMap<u64, u64>,
    removals: u64,
}

/// One user's shard, locked: no other thread can act between a check and a change.
pub(crate) struct Buyer<'a> {
    shard: MutexGuard<'a, Shard>,
    key: u64,
}

impl Buyers {
    pub(crate) fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    /// Locks the user's shard.
    pub(crate) fn lock(&self, user: UserId) -> Buyer<'_> {
        // The shard is the id modulo the number of shards, the key the quotient: dense ids stay dense
        // within each shard.
        Buyer { shard: self.shards[Self::shard_of(user)].lock(), key: user.get() / SHARDS }
    }

    /// Returns the index of the user's shard.
    pub(crate) fn shard_of(user: UserId) -> usize {
        usize::try_from(user.get() % SHARDS).unwrap_or(0)
    }

    /// Returns the number of buyers in all shards.
    #[cfg(test)]
    pub(crate) fn len(&self) -> u64 {
        self.shards.iter().map(|shard| shard.lock().users.len()).sum()
    }
}

impl Buyer<'_> {
    pub(crate) fn has_bought(&self) -> bool {
        self.shard.users.contains(self.key)
    }

    /// Returns the number of units held by the user.
    pub(crate) fn units(&self) -> u64 {
        u64::from(self.has_bought()) + self.shard.beyond_one.get(&self.key).copied().unwrap_or(0)
    }

    /// Adds one unit to the user's holding.
    pub(crate) fn insert(&mut self) {
        if !self.shard.users.insert(self.key) {
            *self.shard.beyond_one.entry(self.key).or_default() += 1;
        }
    }

    /// Removes one unit from the user's holding. Without a holding, only the removal count changes.
    pub(crate) fn remove(&mut self) {
        self.shard.removals += 1;
        match self.shard.beyond_one.remove(&self.key) {
            Some(beyond @ 2..) => drop(self.shard.beyond_one.insert(self.key, beyond - 1)),
            Some(_) => {}
            None => drop(self.shard.users.remove(self.key)),
        }
    }

    /// Returns the number of removals from the shard so far. If two calls return the same number, a user
    /// present at both was present throughout, by the same purchase.
    pub(crate) fn removals(&self) -> u64 {
        self.shard.removals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_user_is_a_buyer_alone() {
        let buyers = Buyers::new();
        let ids = [0, 1, 63, 64, 65, 127, 1 << 32, u64::MAX];
        for id in ids {
            let mut buyer = buyers.lock(UserId::new(id));
            assert!(!buyer.has_bought(), "{id}");
            buyer.insert();
            assert!(buyer.has_bought(), "{id}");
        }
        assert_eq!(buyers.len(), ids.len() as u64);
        for _ in 0..2 {
            buyers.lock(UserId::new(64)).remove();
            assert_eq!(buyers.lock(UserId::new(64)).units(), 0);
        }
        assert!(buyers.lock(UserId::new(0)).has_bought());
    }

    #[test]
    fn who_holds_several_units_gives_back_one_at_a_time() {
        let buyers = Buyers::new();
        let mut buyer = buyers.lock(UserId::new(7));
        (0..4).for_each(|_| buyer.insert());
        for left in (0..4).rev() {
            assert_eq!((buyer.units(), buyer.has_bought()), (left + 1, true));
            buyer.remove();
            assert_eq!((buyer.units(), buyer.has_bought()), (left, left > 0));
        }
    }
}
