//! Holds a mall to everything that it told its clients.

mod community;
mod ledger;
mod orders;
mod responses;
mod stock;

use std::collections::BTreeMap;
use std::fmt;

use anyhow::ensure;

use crate::history::History;
use crate::ledger_report::LedgerReport;
use crate::state::State;

/// How many violations of each kind a message shows.
const SHOWN: usize = 5;

/// What a mall owes its clients.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Promise {
    /// A response makes sense for its request.
    ResponsesMakeSense,
    /// An order that a response named exists from then on, in the name of that client.
    OrdersExist,
    /// An order, a payment, a note or anything else is there only if somebody asked for it.
    NothingIsInvented,
    /// No client holds two units of a sale.
    OneUnitPerClient,
    /// A client is told of a second order only after the first was cancelled.
    OneSuccessPerClient,
    /// A status that a response showed is only ever followed by one that can follow.
    StatusesAdvance,
    /// An order is the same in the list, by its id and for an operator.
    OrdersAreConsistent,
    /// No more units are held than there are.
    NotOversold,
    /// "Sold out" is said only while every unit is held by an order that exists.
    SoldOutIsTrue,
    /// A live stock was true at some instant between its request and its response.
    StockIsTrue,
    /// The final stock is what the orders leave.
    StockBalances,
    /// A session that began or was in use lasts.
    SessionsLast,
    /// A published note is there once.
    NotesLast,
    /// A like is there.
    LikesLast,
    /// A sign-in is there.
    SignInsLast,
    /// A follow is there.
    FollowsLast,
    /// `mallbox verify` finds nothing.
    LedgerBalances,
    /// What `mallbox verify` counts is what clients see.
    LedgerIsTrue,
}

/// A broken promise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Which.
    pub promise: Promise,
    /// Who was told what, and what is the case.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.promise, self.detail)
    }
}

/// Every promise that was found broken.
#[derive(Clone, Default, Debug)]
#[must_use]
pub struct Verdict {
    /// In no particular order; empty if all were kept.
    pub violations: Vec<Violation>,
}

impl Verdict {
    /// How often each promise was broken.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<Promise, usize> {
        let mut counts = BTreeMap::new();
        for violation in &self.violations {
            *counts.entry(violation.promise).or_default() += 1;
        }
        counts
    }

    /// Turns violations into an error that shows the first ones of each kind.
    ///
    /// # Errors
    /// A promise was broken.
    pub fn passed(&self) -> anyhow::Result<()> {
        ensure!(self.violations.is_empty(), "{self}");
        Ok(())
    }

    fn add(&mut self, promise: Promise, detail: String) {
        self.violations.push(Violation { promise, detail });
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken promises: {:?}", self.counts())?;
        for promise in self.counts().keys() {
            let of_kind = self.violations.iter().filter(|violation| violation.promise == *promise);
            for violation in of_kind.take(SHOWN) {
                write!(f, "\n  {violation}")?;
            }
        }
        Ok(())
    }
}

/// Compares the final state of a mall, and the report of `mallbox verify` if there is one, with a history. A call without
/// a response may have taken effect, wholly, at any instant after it was sent; or never.
pub fn judge(history: &History, state: &State, report: Option<&LedgerReport>) -> Verdict {
    let mut verdict = Verdict::default();
    responses::judge(history, &mut verdict);
    orders::judge(history, state, &mut verdict);
    stock::judge(history, state, &mut verdict);
    community::judge(history, state, &mut verdict);
    if let Some(report) = report {
        ledger::judge(history, state, report, &mut verdict);
    }
    verdict
}
