//! The budget of log lines for one kind of security event: a whole, and a share for each client.
//!
//! A single noisy address thus leaves most lines to others, and a tool such as fail2ban still sees enough of
//! it.

use std::collections::HashMap;
use std::mem;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::http::server::log_budget::LINES_PER_SECOND_MAX;
use crate::mall::base::client_network;

/// Lines of one client at once: what a person who mistypes, or a short series of guesses, leaves.
const CLIENT_BURST: u32 = 15;
/// Time after which a client has one more line: five a second, a quarter of the whole.
const CLIENT_STEP: Duration = Duration::from_millis(200);

/// Lets lines through within the budget, and counts the rest.
#[derive(Debug)]
pub(super) struct LineBudget {
    start: Instant,
    spending: Mutex<Spending>,
}

/// The lines of the present second, and the shares of clients. Times are since the start.
#[derive(Debug, Default)]
struct Spending {
    second: u64,
    lines: u64,
    suppressed: u64,
    /// When each client will have its whole share again, at most three seconds ahead. Only a line adds a
    /// client, so that the map has at most 80 clients that spent any of their share.
    whole_at: HashMap<Option<IpAddr>, Duration>,
}

impl Default for LineBudget {
    fn default() -> Self {
        Self { start: Instant::now(), spending: Mutex::default() }
    }
}

impl LineBudget {
    /// Counts a line about a client: an IPv4 address, or the /64 of an IPv6 address; all calls from within
    /// the machine are one client. Returns `None` if the line is suppressed, else the number of lines
    /// suppressed before.
    pub(super) fn acquire(&self, client: Option<IpAddr>) -> Option<u64> {
        self.acquire_at(client, self.start.elapsed())
    }

    fn acquire_at(&self, client: Option<IpAddr>, now: Duration) -> Option<u64> {
        let client = client.map(client_network);
        let mut spending = self.spending.lock();
        if spending.second != now.as_secs() {
            spending.second = now.as_secs();
            spending.lines = 0;
            spending.whole_at.retain(|_, at| *at > now);
        }
        let spent_until = spending.whole_at.get(&client).copied().unwrap_or(now).max(now);
        let whole_at = spent_until + CLIENT_STEP;
        if spending.lines >= LINES_PER_SECOND_MAX || whole_at > now + CLIENT_STEP * CLIENT_BURST {
            spending.suppressed += 1;
            return None;
        }
        spending.lines += 1;
        spending.whole_at.insert(client, whole_at);
        Some(mem::take(&mut spending.suppressed))
    }

    /// Returns the number of lines suppressed and not reported yet; the caller reports them.
    pub(super) fn take_suppressed(&self) -> u64 {
        mem::take(&mut self.spending.lock().suppressed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOISY: [u8; 4] = [203, 0, 113, 7];

    /// Attempts a number of lines of a client at one time. Returns the number of lines let through.
    fn lines(budget: &LineBudget, client: impl Into<IpAddr>, count: usize, at_ms: u64) -> u64 {
        let (client, now) = (Some(client.into()), Duration::from_millis(at_ms));
        (0..count).filter(|_| budget.acquire_at(client, now).is_some()).count() as u64
    }

    #[test]
    fn a_noisy_client_leaves_lines_to_others() {
        let budget = LineBudget::default();
        assert_eq!(lines(&budget, NOISY, 1_000, 0), u64::from(CLIENT_BURST));
        assert_eq!(lines(&budget, [198, 51, 100, 1], 3, 1), 3);
        for second in 1..60 {
            assert_eq!(lines(&budget, NOISY, 1_000, second * 1_000), 5, "second {second}");
            assert_eq!(lines(&budget, [198, 51, 100, 2], 5, second * 1_000 + 1), 5);
        }
        assert_eq!(lines(&budget, NOISY, 1_000, 120_000), u64::from(CLIENT_BURST), "after a rest");
    }

    #[test]
    fn a_network_of_ipv6_is_one_client_and_so_is_the_machine_itself() {
        let budget = LineBudget::default();
        let address = |host: u16| IpAddr::from([0x2001, 0xdb8, 1, 2, 0, 0, 0, host]);
        let of_network = (0..100).map(|host| lines(&budget, address(host), 1, 0)).sum::<u64>();
        assert_eq!(of_network, u64::from(CLIENT_BURST));
        assert_eq!(lines(&budget, [0x2001, 0xdb8, 1, 3, 0, 0, 0, 1], 1, 0), 1);
        let inside = (0..100).filter(|_| budget.acquire_at(None, Duration::from_secs(1)).is_some());
        assert_eq!(inside.count() as u64, u64::from(CLIENT_BURST));
    }

    #[test]
    fn a_flood_of_many_addresses_stays_within_the_whole_and_within_its_memory() {
        let budget = LineBudget::default();
        for second in 0..20_u32 {
            let now = u64::from(second) * 1_000;
            let let_through: u64 = (0..5_000_u32)
                .map(|host| lines(&budget, (second * 5_000 + host).to_be_bytes(), 1, now))
                .sum();
            assert_eq!(let_through, LINES_PER_SECOND_MAX);
            assert!(budget.spending.lock().whole_at.len() <= 80);
        }
    }

    #[test]
    fn the_rest_is_counted_and_reported_once() {
        let budget = LineBudget::default();
        let client = Some(IpAddr::from(NOISY));
        lines(&budget, NOISY, 100, 0);
        let left_out = 100 - u64::from(CLIENT_BURST);
        assert_eq!(budget.acquire_at(client, Duration::from_secs(1)), Some(left_out));
        assert_eq!(budget.acquire_at(client, Duration::from_secs(1)), Some(0));
        lines(&budget, NOISY, 10, 1_000);
        assert_eq!((budget.take_suppressed(), budget.take_suppressed()), (7, 0));
    }
}
