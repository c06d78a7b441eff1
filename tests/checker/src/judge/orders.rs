//! Checks of orders: an order named in a response exists as shown, and every existing order was requested.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{Call, History, OrderView, Request, Response};
use crate::state::{ClientState, State};

use super::{Promise, Verdict};

/// Stage of an order as clients see it. Pending and unpaid are a single stage, since only internal work lies
/// in between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Open,
    Paid,
    Used,
    Cancelled,
    Refunding,
    Refunded,
}

impl Stage {
    fn of(status: u8) -> Self {
        match status {
            0 | 1 => Self::Open,
            2 => Self::Paid,
            3 => Self::Used,
            4 => Self::Cancelled,
            5 => Self::Refunding,
            _ => Self::Refunded,
        }
    }

    /// Returns whether an order may later reach stage `later`.
    fn leads_to(self, later: Self) -> bool {
        use Stage::{Cancelled, Open, Paid, Refunded, Refunding, Used};
        self == later
            || match self {
                Open => true,
                Paid => matches!(later, Used | Refunding | Refunded),
                Refunding => later == Refunded,
                Used | Cancelled | Refunded => false,
            }
    }
}

/// Returns whether an order holds a unit of its sale.
pub(super) fn is_live(status: u8) -> bool {
    matches!(status, 0..=3 | 5)
}

pub(super) fn judge(history: &History, state: &State, verdict: &mut Verdict) {
    for (client, found) in &state.clients {
        if !found.is_logged_in {
            let user = history.clients[*client].user;
            verdict.add(Promise::SessionsLast, format!("the session of user {user} is unknown"));
            continue;
        }
        Case { history, client: *client, found, verdict }.judge();
    }
    what_operators_see(history, state, verdict);
}

/// The orders of a client.
struct Case<'a> {
    history: &'a History,
    client: usize,
    found: &'a ClientState,
    verdict: &'a mut Verdict,
}

/// Statements about an order in responses.
#[derive(Default)]
struct Statements {
    /// Stages with the times of request and response.
    stages: Vec<(u64, u64, u8)>,
    /// Named by a claim, not only in a list.
    by_claim: bool,
}

impl Case<'_> {
    fn judge(&mut self) {
        let there: BTreeMap<u64, OrderView> =
            self.found.orders.iter().map(|order| (order.id, *order)).collect();
        if there.len() != self.found.orders.len() {
            self.broken(Promise::OrdersAreConsistent, "an order is in the list twice");
        }
        let statements = self.statements();
        for (order, statements) in statements.iter().filter(|(order, _)| !self.history.is_lost(**order)) {
            match there.get(order) {
                None => self.missing(*order, statements),
                Some(view) => self.advanced(view, statements),
            }
            if self.found.by_id.get(order).copied().flatten().map(|view| Stage::of(view.status))
                != there.get(order).map(|view| Stage::of(view.status))
            {
                let by_id = self.found.by_id.get(order);
                let detail =
                    format!("order {order} is {:?} in the list and {by_id:?} by its id", there.get(order));
                self.broken(Promise::OrdersAreConsistent, &detail);
            }
        }
        for view in there.values() {
            self.was_asked(view);
        }
        for sale in self.history.sales.keys() {
            self.is_explained(*sale, &there, &statements);
        }
    }

    fn broken(&mut self, promise: Promise, detail: &str) {
        let user = self.history.clients[self.client].user;
        self.verdict.add(promise, format!("user {user}: {detail}"));
    }

    fn statements(&self) -> BTreeMap<u64, Statements> {
        let mut orders = BTreeMap::<u64, Statements>::new();
        for call in self.history.calls_of(self.client) {
            let Call { request, response, invoked, responded, .. } = call;
            let of_watched = |view: &&OrderView| self.history.sales.contains_key(&view.sale);
            let views = match response {
                Response::Accepted(order) | Response::AlreadyBought(order) => {
                    let watched =
                        matches!(request, Request::Claim { sale } if self.history.sales.contains_key(sale));
                    if watched {
                        orders.entry(*order).or_default().by_claim = true;
                    }
                    continue;
                }
                Response::Order(view) => std::slice::from_ref(view),
                Response::Orders(views) => views,
                _ => continue,
            };
            for view in views.iter().filter(of_watched) {
                orders.entry(view.id).or_default().stages.push((*invoked, *responded, view.status));
            }
        }
        orders
    }

    fn missing(&mut self, order: u64, statements: &Statements) {
        let (of, as_what) = match statements.stages.last() {
            Some((_, _, status)) => ("shown with status", status.to_string()),
            None => ("named by a claim", String::new()),
        };
        self.broken(Promise::OrdersExist, &format!("order {order}, {of} {as_what}, does not exist"));
    }

    /// Checks the order of all stages shown, including the final stage.
    fn advanced(&mut self, view: &OrderView, statements: &Statements) {
        let last = (u64::MAX, u64::MAX, view.status);
        let later: Vec<_> = statements.stages.iter().chain([&last]).collect();
        for (_, responded, earlier) in &statements.stages {
            let wrong = later.iter().find(|(invoked, _, status)| {
                invoked > responded && !Stage::of(*earlier).leads_to(Stage::of(*status))
            });
            if let Some((_, _, status)) = wrong {
                let detail =
                    format!("order {} was shown with status {earlier} and then with {status}", view.id);
                self.broken(Promise::StatusesAdvance, &detail);
                return;
            }
        }
    }

    /// Checks for payments and cancellations by the client only: no order expires during a test.
    fn was_asked(&mut self, view: &OrderView) {
        let asked = |wanted: &Request| self.history.calls_of(self.client).any(|call| call.request == *wanted);
        let is_asked = match Stage::of(view.status) {
            Stage::Open => true,
            Stage::Paid => asked(&Request::Pay { order: view.id }),
            Stage::Cancelled => asked(&Request::Cancel { order: view.id }),
            Stage::Used | Stage::Refunding | Stage::Refunded => false,
        };
        if !is_asked {
            let detail = format!("order {} has status {}, which nobody asked for", view.id, view.status);
            self.broken(Promise::NothingIsInvented, &detail);
        }
    }

    /// Matches an order unknown to all claim responses with a claim without a response. At most one order may
    /// be live.
    fn is_explained(
        &mut self,
        sale: u64,
        there: &BTreeMap<u64, OrderView>,
        statements: &BTreeMap<u64, Statements>,
    ) {
        let of_sale: Vec<_> = there.values().filter(|view| view.sale == sale).collect();
        let live: Vec<_> = of_sale.iter().filter(|view| is_live(view.status)).map(|view| view.id).collect();
        if live.len() > 1 {
            self.broken(Promise::OneUnitPerClient, &format!("orders {live:?} of sale {sale} are live"));
        }
        let claims = || {
            let of_sale =
                move |call: &&Call| matches!(call.request, Request::Claim { sale: of } if of == sale);
            self.history.calls_of(self.client).filter(of_sale)
        };
        let accepted: BTreeSet<u64> = claims()
            .filter_map(|call| match call.response {
                Response::Accepted(order) => Some(order),
                _ => None,
            })
            .collect();
        let unknown = claims().filter(|call| call.response == Response::Unknown).count();
        let unexplained: Vec<u64> =
            of_sale.iter().map(|view| view.id).filter(|order| !accepted.contains(order)).collect();
        if unexplained.len() > unknown {
            let by_claim: Vec<_> = unexplained
                .iter()
                .filter(|order| statements.get(order).is_some_and(|statements| statements.by_claim))
                .collect();
            let detail = format!(
                "orders {unexplained:?} of sale {sale} (of which claims named {by_claim:?}) come from {unknown} claims without an answer"
            );
            self.broken(Promise::NothingIsInvented, &detail);
        }
    }
}

/// Checks that an operator sees the clients' orders, and no others.
fn what_operators_see(history: &History, state: &State, verdict: &mut Verdict) {
    let mut clients = BTreeMap::new();
    for (index, client) in history.clients.iter().enumerate() {
        clients.insert(client.user, index);
    }
    for (user, view) in &state.orders {
        let found = clients.get(user).and_then(|client| state.clients.get(client));
        let Some(found) = found else {
            let detail = format!("order {} of user {user}, who never asked for anything", view.id);
            verdict.add(Promise::NothingIsInvented, detail);
            continue;
        };
        let own = found.orders.iter().find(|own| own.id == view.id);
        if found.is_logged_in && own.map(|own| Stage::of(own.status)) != Some(Stage::of(view.status)) {
            let detail = format!(
                "order {} of user {user} is {view:?} for an operator and {own:?} in the own list",
                view.id
            );
            verdict.add(Promise::OrdersAreConsistent, detail);
        }
    }
}
