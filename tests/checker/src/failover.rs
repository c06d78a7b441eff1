//! Orders acknowledged by a Redis master and lost in its failure.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::history::{Call, History, Request, Response};
use crate::state::State;

/// Orders excused after a failover: no promise covers them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lost {
    pub(crate) orders: BTreeSet<u64>,
    /// Time after the master's death; lost orders hold no unit afterwards.
    pub(crate) dead: u64,
}

impl History {
    /// Excuses the orders lost by a killed master, and returns the ids. `kill` spans the kill:
    /// [`now`](History::now) before and after. Must be called once every surviving claim is in the database.
    ///
    /// In one pass of the event loop a master writes to replicas and clients, and a replica reads data
    /// already written even after the master's death. A kill therefore loses acknowledgements of the last
    /// pass alone. An order may be missing under two conditions. Its claim was sent before the master was
    /// dead. And no response named the order before another claim was sent and then accepted by the dying
    /// master: the other claim belongs to a later pass. At most one claim per connection meets both
    /// conditions. Any other missing order remains a violation.
    pub fn excuse_lost(&mut self, kill: &RangeInclusive<u64>, state: &State) -> Vec<u64> {
        let last_accepted = self.claims().filter(|call| matches!(call.response, Response::Accepted(_)));
        let last_sent = last_accepted
            .filter(|call| call.responded <= *kill.start())
            .map(|call| call.invoked)
            .max()
            .unwrap_or(0);
        let is_of_last_pass = |call: &Call| call.invoked <= *kill.end() && call.responded > last_sent;
        let there = orders_of(state);
        let (mut missing, mut earlier) = (BTreeSet::new(), BTreeSet::new());
        for call in self.calls() {
            for order in call.response.orders().into_iter().filter(|order| !there.contains(order)) {
                missing.insert(order);
                if !is_of_last_pass(call) {
                    earlier.insert(order);
                }
            }
        }
        self.lost = Lost { orders: &missing - &earlier, dead: *kill.end() };
        self.lost.orders.iter().copied().collect()
    }

    pub(crate) fn is_lost(&self, order: u64) -> bool {
        self.lost.orders.contains(&order)
    }

    fn claims(&self) -> impl Iterator<Item = &Call> {
        self.calls().iter().filter(|call| matches!(call.request, Request::Claim { .. }))
    }
}

fn orders_of(state: &State) -> BTreeSet<u64> {
    let clients = state.clients.values();
    let own = clients.clone().flat_map(|client| client.orders.iter().map(|view| view.id));
    let by_id = clients.flat_map(|client| client.by_id.values().flatten().map(|view| view.id));
    own.chain(by_id).chain(state.orders.iter().map(|(_, view)| view.id)).collect()
}
