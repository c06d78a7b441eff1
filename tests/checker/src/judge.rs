//! Checks a mall against every response its clients got.

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

/// Number of violations of each kind shown in a message.
const VIOLATIONS_SHOWN_MAX: usize = 5;

/// An invariant that a mall guarantees to its clients.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Promise {
    /// A response matches its request.
    ResponsesMakeSense,
    /// An order named in a response exists from then on and belongs to the client.
    OrdersExist,
    /// Every order, payment, note and other effect was requested.
    NothingIsInvented,
    /// No client holds two units of a sale.
    OneUnitPerClient,
    /// A client gets a second order of a sale only after the first was cancelled.
    OneSuccessPerClient,
    /// A status shown in a response is only followed by statuses reachable from it.
    StatusesAdvance,
    /// An order is identical in the list, by id and for an operator.
    OrdersAreConsistent,
    /// The number of units held never exceeds the stock.
    NotOversold,
    /// "Sold out" is returned only while every unit is held by an existing order.
    SoldOutIsTrue,
    /// A live stock was correct at some instant between request and response.
    StockIsTrue,
    /// The final stock equals the initial units minus the units held by orders.
    StockBalances,
    /// A session once begun or used persists.
    SessionsLast,
    /// A published note exists exactly once.
    NotesLast,
    /// An acknowledged like persists.
    LikesLast,
    /// An acknowledged sign-in persists.
    SignInsLast,
    /// An acknowledged follow persists.
    FollowsLast,
    /// `mallbox verify` reports no findings.
    LedgerBalances,
    /// The counts of `mallbox verify` match the counts seen by clients.
    LedgerIsTrue,
}

/// A violation of a promise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The promise violated.
    pub promise: Promise,
    /// The client, the response and the observed state.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.promise, self.detail)
    }
}

/// All violations found.
#[derive(Clone, Default, Debug)]
#[must_use]
pub struct Verdict {
    /// In no particular order; empty if every promise was kept.
    pub violations: Vec<Violation>,
}

impl Verdict {
    /// Returns the number of violations of each promise.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<Promise, usize> {
        let mut counts = BTreeMap::new();
        for violation in &self.violations {
            *counts.entry(violation.promise).or_default() += 1;
        }
        counts
    }

    /// Turns violations into an error that shows the first violations of each kind.
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
            for violation in of_kind.take(VIOLATIONS_SHOWN_MAX) {
                write!(f, "\n  {violation}")?;
            }
        }
        Ok(())
    }
}

/// Compares the final state of a mall, and the report of `mallbox verify` if given, with a history. A call
/// without a response may have taken effect completely at any instant after the request was sent, or never.
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
