//! Checks of stock: each statement about a sale's units against the orders that could hold units at the time.

use std::collections::BTreeMap;

use crate::history::{History, Request, Response};
use crate::state::State;

use super::orders::is_live;
use super::{Promise, Verdict};

pub(super) fn judge(history: &History, state: &State, verdict: &mut Verdict) {
    let mut holdings = holdings(history, state);
    for (sale, units) in &history.sales {
        let Some(units) = *units else { continue };
        let live = live(state, *sale);
        if live > units {
            verdict.add(Promise::NotOversold, format!("{live} of {units} units of sale {sale} are held"));
        }
        if let Some(found) = state.sales.get(sale) {
            let left = units.saturating_sub(live);
            if found.left != Some(left) || found.is_sold_out != (left == 0) {
                let detail =
                    format!("{left} of {units} units of sale {sale} are left, and the mall says {found:?}");
                verdict.add(Promise::StockBalances, detail);
            }
        }
        let held = Held::of(holdings.remove(sale).unwrap_or_default());
        statements(history, *sale, units, &held, verdict);
    }
}

fn live(state: &State, sale: u64) -> u64 {
    let orders = state.clients.values().flat_map(|client| &client.orders);
    orders.filter(|order| order.sale == sale && is_live(order.status)).count() as u64
}

/// Bounds of the period in which an order held its unit.
#[derive(Clone, Copy)]
struct Holding {
    /// Time of sending the claim: no earlier begin.
    earliest_begin: u64,
    /// Time of the first response naming the order: no later begin.
    latest_begin: u64,
    /// Time of sending the cancellation: no earlier end.
    earliest_end: u64,
    /// Time of the cancellation's response: no later end.
    latest_end: u64,
}

impl Holding {
    const UNKNOWN: Self = Self {
        earliest_begin: u64::MAX,
        latest_begin: u64::MAX,
        earliest_end: u64::MAX,
        latest_end: u64::MAX,
    };
}

/// Returns the holdings, by sale, of every order in the final state and of the orders lost by a master.
fn holdings(history: &History, state: &State) -> BTreeMap<u64, Vec<Holding>> {
    let mut holdings = BTreeMap::<u64, Vec<Holding>>::new();
    for (client, found) in &state.clients {
        for order in &found.orders {
            let holding = holding(history, *client, order.id, order.sale);
            holdings.entry(order.sale).or_default().push(holding);
        }
    }
    for (order, (client, sale)) in lost(history) {
        let claimed = holding(history, client, order, sale).earliest_begin;
        // The holding may last until the death of the master.
        let holding = Holding { earliest_begin: claimed, latest_end: history.lost.dead, ..Holding::UNKNOWN };
        holdings.entry(sale).or_default().push(holding);
    }
    holdings
}

/// Returns the client and the sale of each order lost by a master.
fn lost(history: &History) -> BTreeMap<u64, (usize, u64)> {
    let mut lost = BTreeMap::new();
    for call in history.calls() {
        if let Request::Claim { sale } = call.request {
            for order in call.response.orders().into_iter().filter(|order| history.is_lost(*order)) {
                lost.insert(order, (call.client, sale));
            }
        }
    }
    lost
}

fn holding(history: &History, client: usize, order: u64, sale: u64) -> Holding {
    let mut holding = Holding::UNKNOWN;
    let mut first_unknown = u64::MAX;
    for call in history.calls_of(client) {
        if call.response.orders().contains(&order) {
            holding.latest_begin = holding.latest_begin.min(call.responded);
        }
        match (&call.request, &call.response) {
            (Request::Claim { sale: of }, Response::Accepted(id)) if *of == sale && *id == order => {
                holding.earliest_begin = call.invoked;
            }
            (Request::Claim { sale: of }, Response::Unknown) if *of == sale => {
                first_unknown = first_unknown.min(call.invoked);
            }
            (Request::Cancel { order: of }, response) if *of == order => {
                holding.earliest_end = holding.earliest_end.min(call.invoked);
                if matches!(response, Response::Order(_)) {
                    holding.latest_end = holding.latest_end.min(call.responded);
                }
            }
            _ => {}
        }
    }
    if holding.earliest_begin == u64::MAX {
        holding.earliest_begin = first_unknown;
    }
    holding
}

/// Counts of holdings within an interval.
struct Held {
    earliest_begins: Vec<u64>,
    latest_ends: Vec<u64>,
    sure: Vec<(u64, u64)>,
}

impl Held {
    fn of(holdings: Vec<Holding>) -> Self {
        let mut earliest_begins: Vec<_> = holdings.iter().map(|holding| holding.earliest_begin).collect();
        let mut latest_ends: Vec<_> = holdings.iter().map(|holding| holding.latest_end).collect();
        let mut sure: Vec<_> =
            holdings.iter().map(|holding| (holding.latest_begin, holding.earliest_end)).collect();
        earliest_begins.sort_unstable();
        latest_ends.sort_unstable();
        sure.sort_unstable();
        Self { earliest_begins, latest_ends, sure }
    }

    /// Returns an upper bound of the units held at any instant of the interval.
    fn at_most(&self, from: u64, to: u64) -> u64 {
        let begun = self.earliest_begins.partition_point(|begin| *begin < to);
        let ended = self.latest_ends.partition_point(|end| *end < from);
        begun.saturating_sub(ended) as u64
    }

    /// Returns a lower bound of the units held throughout the interval.
    fn at_least(&self, from: u64, to: u64) -> u64 {
        let begun = self.sure.partition_point(|(begin, _)| *begin < from);
        self.sure[..begun].iter().filter(|(_, end)| *end > to).count() as u64
    }
}

fn statements(history: &History, sale: u64, units: u64, held: &Held, verdict: &mut Verdict) {
    for call in history.calls() {
        let (from, to) = (call.invoked, call.responded);
        match (&call.request, &call.response) {
            (Request::Claim { sale: of }, Response::SoldOut) if *of == sale => {
                let most = held.at_most(from, to);
                if most < units {
                    let detail = format!(
                        "\"sold out\" was said while orders held at most {most} of {units} units of sale {sale}"
                    );
                    verdict.add(Promise::SoldOutIsTrue, detail);
                }
            }
            (Request::ShowStock { sale: of }, Response::Stock(Some(left))) if *of == sale => {
                let (least, most) = (held.at_least(from, to), held.at_most(from, to));
                let taken = units.saturating_sub(*left);
                if *left > units || taken < least || taken > most {
                    let detail = format!(
                        "a stock of {left} was shown while {least} to {most} of {units} units of sale {sale} were held"
                    );
                    verdict.add(Promise::StockIsTrue, detail);
                }
            }
            _ => {}
        }
    }
}
