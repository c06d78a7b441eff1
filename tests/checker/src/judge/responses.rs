//! Checks of responses alone: a response matches the request, and never contradicts an earlier response.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{Call, History, Request, Response};

use super::{Promise, Verdict};

/// Codes of temporary refusals, which promise nothing.
const TEMPORARY_REFUSALS: [&str; 4] = ["RATE_LIMITED", "BUSY", "NOT_YET", "REQUEST_TIMEOUT"];

pub(super) fn judge(history: &History, verdict: &mut Verdict) {
    let steps = Steps::of(history);
    for (client, someone) in history.clients.iter().enumerate() {
        let user = someone.user;
        // Order ids by the time of the first response to name them.
        let mut named = BTreeMap::<u64, u64>::new();
        for call in history.calls_of(client) {
            for order in call.response.orders() {
                let first = named.entry(order).or_insert(call.responded);
                *first = call.responded.min(*first);
            }
        }
        for call in history.calls_of(client) {
            match &call.response {
                Response::Invalid(body) => {
                    let detail = format!("user {user} asked {:?} and was answered {body}", call.request);
                    verdict.add(Promise::ResponsesMakeSense, detail);
                }
                Response::Refused(code) => refused(history, call, code, user, &named, &steps, verdict),
                _ => {}
            }
        }
        one_success_at_a_time(history, client, &steps, verdict);
    }
}

/// Time of the first request to pay, and of the first to cancel, by order.
struct Steps {
    pay: BTreeMap<u64, u64>,
    cancel: BTreeMap<u64, u64>,
}

impl Steps {
    fn of(history: &History) -> Self {
        let (mut pay, mut cancel) = (BTreeMap::new(), BTreeMap::new());
        for call in history.calls() {
            match call.request {
                Request::Pay { order } => pay.entry(order).or_insert(call.invoked),
                Request::Cancel { order } => cancel.entry(order).or_insert(call.invoked),
                _ => continue,
            };
        }
        Self { pay, cancel }
    }
}

fn refused(
    history: &History,
    call: &Call,
    code: &str,
    user: u64,
    named: &BTreeMap<u64, u64>,
    steps: &Steps,
    verdict: &mut Verdict,
) {
    let began = |steps: &BTreeMap<u64, u64>, order| steps.get(order).is_some_and(|at| *at < call.responded);
    match (&call.request, code) {
        (_, "NOT_LOGGED_IN") => {
            let detail = format!("the session of user {user} was unknown when {:?} was asked", call.request);
            verdict.add(Promise::SessionsLast, detail);
        }
        (_, code) if TEMPORARY_REFUSALS.contains(&code) => {}
        (Request::Pay { order }, "ORDER_STANDS") if began(&steps.cancel, order) => {}
        (Request::Cancel { order }, "ORDER_STANDS") if began(&steps.pay, order) => {}
        (Request::Pay { order } | Request::Cancel { order } | Request::ShowOrder { order }, "NOT_FOUND")
            if named.get(order).is_some_and(|at| *at < call.invoked) && !history.is_lost(*order) =>
        {
            let detail =
                format!("user {user} was told of order {order}, and then that there is no such order");
            verdict.add(Promise::OrdersExist, detail);
        }
        (request, code) => {
            let detail = format!("user {user} asked {request:?} and was refused: {code}");
            verdict.add(Promise::ResponsesMakeSense, detail);
        }
    }
}

/// Checks that a client with an order of a sale gets another order only after a request to cancel the first.
fn one_success_at_a_time(history: &History, client: usize, steps: &Steps, verdict: &mut Verdict) {
    let mut successes = BTreeMap::<u64, Vec<(u64, u64)>>::new();
    for call in history.calls_of(client) {
        if let (Request::Claim { sale }, Response::Accepted(order) | Response::AlreadyBought(order)) =
            (&call.request, &call.response)
            && !history.is_lost(*order)
        {
            successes.entry(*sale).or_default().push((call.responded, *order));
        }
    }
    for (sale, mut successes) in successes {
        successes.sort_unstable();
        let mut seen = BTreeSet::<u64>::new();
        for (at, order) in successes {
            let held = seen
                .iter()
                .find(|one| **one != order && steps.cancel.get(one).is_none_or(|cancelled| *cancelled >= at));
            if let Some(held) = held.filter(|_| !seen.contains(&order)) {
                let user = history.clients[client].user;
                verdict.add(
                    Promise::OneSuccessPerClient,
                    format!("user {user} was told of order {held} of sale {sale}, and then of order {order}"),
                );
            }
            seen.insert(order);
        }
    }
}
