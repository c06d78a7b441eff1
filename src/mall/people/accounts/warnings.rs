//! Warnings for the operator about limits on log-ins.

use std::net::IpAddr;

use crate::mall::base::sparse_log::SparseLog;

/// Warnings about limits that were reached: sparse, because an attack reaches them thousands of times. None
/// names a phone or an address.
#[derive(Debug, Default)]
pub(super) struct LimitWarnings {
    address: SparseLog,
    phone: SparseLog,
    mall: SparseLog,
    second_factor: SparseLog,
}

impl LimitWarnings {
    /// Warns that an address reached its limit, and of a proxy that the mall does not know.
    pub(super) fn of_address(&self, address: Option<IpAddr>) {
        let Some(times) = self.address.again() else { return };
        if address.is_some_and(|address| address.to_canonical().is_loopback()) {
            tracing::warn!(
                times,
                "the limit of log-ins per address is reached by this machine; if a proxy passes on the \
                 requests of others, name the proxy with --trusted-proxy"
            );
        } else {
            tracing::warn!(times, "the limit of log-ins per address is reached");
        }
    }

    /// Warns that a phone has no codes or tries left, and says what helps its user.
    pub(super) fn of_phone(&self) {
        let Some(times) = self.phone.again() else { return };
        tracing::warn!(
            times,
            "a phone has no login codes or tries left for this address; for its user, `mallbox user code PHONE` \
             on this machine makes a code that works from everywhere"
        );
    }

    /// Warns that a user has no tries for the second factor left: somebody with the first factor is guessing,
    /// or the user's clock is wrong.
    pub(super) fn of_second_factor(&self) {
        let Some(times) = self.second_factor.again() else { return };
        tracing::warn!(
            times,
            "an operator has no tries for the second factor left; recovery codes work all the same, and `mallbox user \
             remove-second-factor PHONE` on this machine removes the factor"
        );
    }

    /// Warns that 80 % of the day's budget are spent.
    pub(super) fn of_budget(&self, codes: u32, budget: u32) {
        tracing::warn!(
            codes,
            budget,
            "80 % of the day's login codes are sent; the rest is for operators and for addresses that a user \
             logged in from before: --codes-per-day-of-mall sets the budget"
        );
    }

    /// Warns that the day's budget is spent.
    pub(super) fn of_spent_budget(&self, budget: u32) {
        let Some(times) = self.mall.again() else { return };
        tracing::warn!(
            times,
            budget,
            "refused a login code: the day's budget is spent; raise --codes-per-day-of-mall, or make a code \
             with `mallbox user code PHONE` on this machine"
        );
    }
}
