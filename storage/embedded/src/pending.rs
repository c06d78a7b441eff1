//! Unsettled claims, indexed by order and by user, each with the number of its group commit.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::RandomState;
use mallbox_storage::{Claim, OrderId, PendingClaims, UserId, VoucherId};
use parking_lot::Mutex;

const SHARDS: u64 = 64;

/// A claim in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct InFlight {
    pub(crate) claim: Claim,
    /// Group commit of the claim. No client may learn of the claim before
    /// [`Journal::until_durable`](super::journal::Journal::until_durable).
    pub(crate) group: u64,
}

/// Index of claims in flight: a claim is present from the reservation of its unit until settled.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    by_order: Shards<OrderId, InFlight>,
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
    /// Adds a claim of group commit `group`. A repeated call for the claim changes only its group.
    pub(crate) fn insert(&self, claim: Claim, group: u64) {
        let in_flight = InFlight { claim, group };
        let added = self.by_order.of(claim.order.get()).lock().insert(claim.order, in_flight).is_none();
        if added {
            self.by_user.of(claim.user.get()).lock().entry(claim.user).or_default().push(claim.order);
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Removes a settled claim. No effect if absent.
    pub(crate) fn remove(&self, order: OrderId) {
        let Some(InFlight { claim, .. }) = self.by_order.of(order.get()).lock().remove(&order) else {
            return;
        };
        let mut users = self.by_user.of(claim.user.get()).lock();
        if let Some(orders) = users.get_mut(&claim.user) {
            orders.retain(|held| *held != order);
            if orders.is_empty() {
                users.remove(&claim.user);
            }
        }
        self.count.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn find(&self, order: OrderId) -> Option<InFlight> {
        self.by_order.of(order.get()).lock().get(&order).copied()
    }

    /// Returns a user's claims, newest order first: a claim refused at first may have been accepted later.
    pub(crate) fn of_user(&self, user: UserId) -> Vec<InFlight> {
        let mut orders = self.by_user.of(user.get()).lock().get(&user).cloned().unwrap_or_default();
        orders.sort_unstable();
        orders.into_iter().rev().filter_map(|order| self.find(order)).collect()
    }

    /// Returns the pending claims of a user in one sale: hardly ever more than one.
    pub(crate) fn holdings(&self, voucher: VoucherId, user: UserId) -> Vec<InFlight> {
        self.of_user(user).into_iter().filter(|in_flight| in_flight.claim.voucher == voucher).collect()
    }

    /// Returns all claims of a sale. Reads every pending claim; meant for loading a sale.
    pub(crate) fn of_voucher(&self, voucher: VoucherId) -> Vec<InFlight> {
        self.select(|in_flight| in_flight.claim.voucher == voucher)
    }

    /// Returns all claims.
    pub(crate) fn all(&self) -> Vec<InFlight> {
        self.select(|_| true)
    }

    fn select(&self, is_wanted: impl Fn(&InFlight) -> bool) -> Vec<InFlight> {
        let wanted = |in_flight: &&InFlight| is_wanted(in_flight);
        let shards = self.by_order.0.iter();
        shards.flat_map(|shard| shard.lock().values().filter(wanted).copied().collect::<Vec<_>>()).collect()
    }

    /// Counts the claims of a sale, durable and in doubt. Reads every pending claim.
    pub(crate) fn count(&self, voucher: VoucherId, is_durable: impl Fn(u64) -> bool) -> PendingClaims {
        let mut count = PendingClaims::default();
        for shard in &self.by_order.0 {
            for in_flight in shard.lock().values().filter(|in_flight| in_flight.claim.voucher == voucher) {
                if is_durable(in_flight.group) { count.durable += 1 } else { count.in_doubt += 1 }
            }
        }
        count
    }

    pub(crate) fn len(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mallbox_storage::Timestamp;

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
        let all = [claim(16, 1, 7), claim(32, 2, 7), claim(48, 1, 8)];
        for (claim, group) in all.into_iter().zip(3..).chain([(claim(16, 1, 7), 3)]) {
            pending.insert(claim, group);
        }
        assert_eq!(pending.len(), 3, "a repeat adds nothing");
        let [first, second, _] = all;
        let in_flight = |claim, group| InFlight { claim, group };
        assert_eq!(pending.of_user(UserId::new(7)), [in_flight(second, 4), in_flight(first, 3)]);
        let sale = VoucherId::new(1);
        assert_eq!(pending.holdings(sale, UserId::new(7)), [in_flight(first, 3)]);
        assert_eq!(pending.of_voucher(sale).len(), 2);
        assert_eq!(pending.count(sale, |group| group <= 3), PendingClaims { durable: 1, in_doubt: 1 });
        pending.remove(OrderId::new(16));
        pending.remove(OrderId::new(16));
        assert_eq!(pending.find(OrderId::new(16)), None);
        assert_eq!(pending.holdings(sale, UserId::new(7)), []);
        assert_eq!(pending.len(), 2);
    }
}
