//! When clients of a waiting room ask again.
//!
//! A client asks when its admission is due, and now and then before, to show that the room moves. Intervals
//! are drawn, so that clients who came together do not ask together.

use std::time::Duration;

/// Shortest interval.
const POLL_MIN: Duration = Duration::from_secs(2);
/// Shortest interval while nobody is admitted.
const POLL_MIN_HELD: Duration = Duration::from_secs(10);
/// Interval of clients whose admission is far, unless so many wait that it has to be longer.
const POLL_FAR: Duration = Duration::from_secs(30);

/// Longest interval, before it is drawn.
const POLL_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Number of different draws.
const DRAWS: u32 = 1_000_000;

/// What decides on the interval of a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Poll {
    /// Time to the client's admission, if the room admits users from the begin on.
    pub(super) due_in: Duration,
    /// Number of users who wait.
    pub(super) waiting: u64,
    /// Whether users are admitted, or will be at the begin.
    pub(super) admits: bool,
}

impl Poll {
    /// Returns the interval at which the clients of a room together make about `polls` calls a second or
    /// less. `random` draws it.
    pub(super) fn interval(self, polls: u32, random: u64) -> Duration {
        // Half of the calls for those who wait long, half for those whose turn comes.
        let far = Duration::from_secs(self.waiting.saturating_mul(2) / u64::from(polls.max(1)));
        let far = far.clamp(POLL_FAR, POLL_MAX);
        // Between half and one and a half times the interval.
        let share = f64::from(u32::try_from(random % u64::from(DRAWS)).unwrap_or(0)) / f64::from(DRAWS);
        let far = far.mul_f64(0.5 + share);
        let least = if self.admits { POLL_MIN } else { POLL_MIN_HELD };
        self.due_in.saturating_add(Duration::from_secs_f64(share)).max(least).min(far)
    }
}

/// Returns the time in which a room admits the users ahead and the user.
pub(super) fn wait(ahead: u64, per_second: u32) -> Duration {
    let ms = (u128::from(ahead) + 1) * 1_000 / u128::from(per_second.max(1));
    Duration::from_millis(u64::try_from(ms).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(due_secs: u64, waiting: u64, admits: bool, random: u64) -> Duration {
        Poll { due_in: Duration::from_secs(due_secs), waiting, admits }.interval(2_000, random)
    }

    #[test]
    fn a_client_asks_when_its_turn_comes() {
        for (due, waiting, admits, random, ms) in [
            (0, 1, true, 0, 2_000),
            (7, 100, true, 0, 7_000),
            (7, 100, true, 500_000, 7_500),
            (600, 100, true, 0, 15_000),
            (600, 100, true, 999_999, 44_999),
            // Two times a million by 2,000: 1,000 s.
            (7, 1_000_000, true, 0, 7_000),
            (100_000, 1_000_000, true, 0, 500_000),
            (100_000, 1_000_000, true, 500_000, 1_000_000),
            (0, 1, false, 0, 10_000),
            (600, 1, false, 0, 15_000),
        ] {
            let polled = interval(due, waiting, admits, random);
            assert_eq!(polled.as_millis(), ms, "{due} s, {waiting} waiting, admits {admits}, {random}");
        }
        let endless = Poll { due_in: Duration::MAX, waiting: u64::MAX, admits: true };
        assert!(endless.interval(0, u64::MAX) < POLL_MAX * 2);
    }

    #[test]
    fn the_wait_follows_the_rate() {
        for (ahead, per_second, ms) in
            [(0, 1, 1_000), (0, 0, 1_000), (99, 100, 1_000), (149, 100, 1_500), (999_999, 100, 10_000_000)]
        {
            assert_eq!(wait(ahead, per_second).as_millis(), ms, "{ahead} {per_second}");
        }
        assert!(wait(u64::MAX, 1) > Duration::from_secs(1 << 40));
    }

    /// A million clients who entered within ten seconds, an hour's queue at 300 a second: the calls of each
    /// second stay below the budget.
    #[test]
    fn a_million_clients_stay_below_the_budget_in_each_second() {
        const CLIENTS: u64 = 1_000_000;
        const PER_SECOND: u32 = 300;
        let mut calls = vec![0_u32; 3_600];
        for client in 0..CLIENTS {
            // A multiplicative hash as draw.
            let draw = |turn: u64| (client * 64 + turn).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            let mut now = Duration::from_millis(client % 10_000);
            let due = wait(client, PER_SECOND);
            for turn in 0.. {
                let ahead = due.saturating_sub(now);
                let left = CLIENTS - u64::from(PER_SECOND) * now.as_secs().min(CLIENTS / 300);
                let poll = Poll { due_in: ahead, waiting: left, admits: true };
                now += poll.interval(2_000, draw(turn));
                let Some(slot) = calls.get_mut(usize::try_from(now.as_secs()).unwrap()) else { break };
                *slot += 1;
                if now >= due {
                    break;
                }
            }
        }
        let most = calls.iter().max().unwrap();
        assert!(*most <= 2_000, "{most} calls in a second");
    }
}
