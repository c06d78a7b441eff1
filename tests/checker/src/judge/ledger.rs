//! Checks of the report of `mallbox verify`: no findings, and the counts that clients see.

use crate::history::History;
use crate::ledger_report::{LedgerReport, SaleLedger};
use crate::state::State;

use super::{Promise, Verdict};

pub(super) fn judge(history: &History, state: &State, report: &LedgerReport, verdict: &mut Verdict) {
    for finding in &report.findings {
        verdict.add(Promise::LedgerBalances, format!("verify found {finding}"));
    }
    for sale in &report.unsettled {
        verdict.add(Promise::LedgerBalances, format!("sale {sale} moved, although nobody bought"));
    }
    if report.balances != report.findings.is_empty() {
        let detail =
            format!("verify succeeded: {}, with {} findings", report.balances, report.findings.len());
        verdict.add(Promise::LedgerIsTrue, detail);
    }
    for sale in history.sales.keys().filter(|sale| !report.unsettled.contains(sale)) {
        let seen = seen(state, *sale);
        let counted = report.sales.get(sale);
        if counted != Some(&seen) {
            let detail = format!("clients see {seen:?} of sale {sale}, and verify counts {counted:?}");
            verdict.add(Promise::LedgerIsTrue, detail);
        }
    }
}

fn seen(state: &State, sale: u64) -> SaleLedger {
    let orders = state.clients.values().flat_map(|client| &client.orders);
    let mut seen = SaleLedger::default();
    for order in orders.filter(|order| order.sale == sale) {
        match order.status {
            0 | 1 => seen.open += 1,
            2 => seen.paid += 1,
            _ => {}
        }
    }
    seen
}
