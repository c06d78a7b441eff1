//! Accepted claims that are not settled yet, by order and by user.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::RandomState;
use parking_lot::Mutex;

use crate::{Claim, OrderId, UserId, VoucherId};

const SHARDS: u64 = 64;

/// What a claim in flight is found by. A claim is here from the moment its unit is taken until it is settled.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    by_order: Shards<OrderId, Claim>,
    by_user: Shards<UserId, Vec<OrderId>>,
    count: AtomicU64,
}

#[derive(Debug)]
struct Shards<K, V>(Box<[Mutex<HashMap<K, V, RandomState>>]>);

impl<K, V> Default for Shards<K, V> {
    fn default() -> Self {
        Self((0..SHARDS).map(|_| Mutex::default()).collect())
    }
}

impl<K, V> Shards<K, V> {
    fn of(&self, number: u64) -> &Mutex<HashMap<K, V, RandomState>> {
        // Order ids of one partition agree in their low four bits.
        &self.0[usize::try_from((number ^ number >> 4) % SHARDS).unwrap_or(0)]
    }
}

impl Pending {
    /// Adds a claim; one that is there already stays as it is.
    pub(crate) fn insert(&self, claim: Claim) {
        let added = self.by_order.of(claim.order.get()).lock().insert(claim.order, claim).is_none();
        if added {
            self.by_user.of(claim.user.get()).lock().entry(claim.user).or_default().push(claim.order);
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Removes a claim that is settled.
    pub(crate) fn remove(&self, order: OrderId) {
        let Some(claim) = self.by_order.of(order.get()).lock().remove(&order) else { return };
        let mut users = self.by_user.of(claim.user.get()).lock();
        if let Some(orders) = users.get_mut(&claim.user) {
            orders.retain(|held| *held != order);
            if orders.is_empty() {
                users.remove(&claim.user);
            }
        }
        self.count.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn find(&self, order: OrderId) -> Option<Claim> {
        self.by_order.of(order.get()).lock().get(&order).copied()
    }

    /// Newest first, by their orders: a claim that was refused at first may have been accepted later.
    pub(crate) fn of_user(&self, user: UserId) -> Vec<Claim> {
        let mut orders = self.by_user.of(user.get()).lock().get(&user).cloned().unwrap_or_default();
        orders.sort_unstable();
        orders.into_iter().rev().filter_map(|order| self.find(order)).collect()
    }

    /// The orders by which a user holds units of a sale, as far as they are still pending: hardly ever more than one.
    pub(crate) fn holdings(&self, voucher: VoucherId, user: UserId) -> Vec<OrderId> {
        let claims = self.of_user(user).into_iter().filter(|claim| claim.voucher == voucher);
        claims.map(|claim| claim.order).collect()
    }

    /// All claims of a sale. Looks at every pending claim: for a sale that is being loaded.
    pub(crate) fn of_voucher(&self, voucher: VoucherId) -> Vec<Claim> {
        let claims = self.by_order.0.iter().flat_map(|shard| {
            shard.lock().values().filter(|claim| claim.voucher == voucher).copied().collect::<Vec<_>>()
        });
        claims.collect()
    }

    /// How many claims a sale has. Looks at every pending claim.
    pub(crate) fn count(&self, voucher: VoucherId) -> u64 {
        let of_shard = |shard: &Mutex<HashMap<OrderId, Claim, RandomState>>| {
            shard.lock().values().filter(|claim| claim.voucher == voucher).count() as u64
        };
        self.by_order.0.iter().map(of_shard).sum()
    }

    pub(crate) fn len(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    fn claim(order: u64, voucher: u64, user: u64) -> Claim {
        Claim {
            order: OrderId::new(order),
            voucher: VoucherId::new(voucher),
            user: UserId::new(user),
            at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn a_claim_is_found_by_order_user_and_sale_until_it_is_settled() {
        let pending = Pending::default();
        for claim in [claim(16, 1, 7), claim(32, 2, 7), claim(48, 1, 8), claim(16, 1, 7)] {
            pending.insert(claim);
        }
        assert_eq!(pending.len(), 3, "a repeat adds nothing");
        assert_eq!(pending.of_user(UserId::new(7)), [claim(32, 2, 7), claim(16, 1, 7)]);
        assert_eq!(pending.holdings(VoucherId::new(1), UserId::new(7)), [OrderId::new(16)]);
        assert_eq!((pending.of_voucher(VoucherId::new(1)).len(), pending.count(VoucherId::new(1))), (2, 2));
        pending.remove(OrderId::new(16));
        pending.remove(OrderId::new(16));
        assert_eq!(pending.find(OrderId::new(16)), None);
        assert_eq!(pending.holdings(VoucherId::new(1), UserId::new(7)), []);
        assert_eq!(pending.len(), 2);
    }
}
