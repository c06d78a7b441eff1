//! Who has bought in one sale.
//!
//! User ids are dense, so a bitmap is the smallest set there is: below a byte a buyer, where a hash set takes 15 to 19 and
//! a map that remembers the order too 29 to 37 (`benches/buyers.rs`). The order itself is found among the
//! pending claims and in the record.

use std::collections::HashMap;

use parking_lot::{Mutex, MutexGuard};
use roaring::RoaringTreemap;

use crate::UserId;

/// Users of neighbouring ids buy at the same moment as likely as any others: more shards than cores keep them apart.
const SHARDS: u64 = 64;

/// A set of users in shards.
#[derive(Debug)]
pub(crate) struct Buyers {
    shards: Box<[Mutex<Shard>]>,
}

#[derive(Debug, Default)]
struct Shard {
    users: RoaringTreemap,
    /// Units beyond the first: only where buyers were lost in the middle of a sale, and bought again.
    beyond_one: HashMap<u64, u64>,
    removals: u64,
}

/// One user's shard, locked: nobody can come between a look and a change.
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
        // Ids go round the shards and are divided by their number, so that what is dense stays dense in each shard.
        Buyer { shard: self.shards[Self::shard_of(user)].lock(), key: user.get() / SHARDS }
    }

    /// Which shard a user is in.
    pub(crate) fn shard_of(user: UserId) -> usize {
        usize::try_from(user.get() % SHARDS).unwrap_or(0)
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> u64 {
        self.shards.iter().map(|shard| shard.lock().users.len()).sum()
    }
}

impl Buyer<'_> {
    pub(crate) fn has_bought(&self) -> bool {
        self.shard.users.contains(self.key)
    }

    /// How many units the user holds.
    pub(crate) fn units(&self) -> u64 {
        u64::from(self.has_bought()) + self.shard.beyond_one.get(&self.key).copied().unwrap_or(0)
    }

    /// The user holds one unit more.
    pub(crate) fn insert(&mut self) {
        if !self.shard.users.insert(self.key) {
            *self.shard.beyond_one.entry(self.key).or_default() += 1;
        }
    }

    /// The user holds one unit less; none, if it was none.
    pub(crate) fn remove(&mut self) {
        self.shard.removals += 1;
        match self.shard.beyond_one.remove(&self.key) {
            Some(beyond @ 2..) => drop(self.shard.beyond_one.insert(self.key, beyond - 1)),
            Some(_) => {}
            None => drop(self.shard.users.remove(self.key)),
        }
    }

    /// Rises with every removal from the shard: the same number twice means that a user who is in it both times was in
    /// it throughout, by one and the same purchase.
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
