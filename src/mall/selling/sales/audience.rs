//! When the pages that show a sale ask again.
//!
//! The mall sets the pace: with a large audience each page asks so rarely that all together make about a
//! fixed number of calls a second, and none asks while the sale opens, which a page knows by itself.
//!
//! Reasons and figures: `src/decisions/0064-pace-of-sale-pages.md`.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use mallbox_storage::VoucherId;
use parking_lot::Mutex;

use super::views::{LiveSale, SaleState};

/// Time before an opening or a wave in which no page asks.
const QUIET_BEFORE: Duration = Duration::from_secs(5);
/// Time after an opening or a wave before the first page asks: the claims come first.
const QUIET_AFTER: Duration = Duration::from_secs(2);
/// Longest interval, before it is drawn.
const POLL_MAX: Duration = Duration::from_secs(30 * 60);
/// Number of different draws.
const DRAWS: u32 = 1_000_000;

/// Audiences of sales, as far as this process answers them. Measured by the machine's clock.
pub(super) struct Audiences {
    since: Instant,
    of_sale: Mutex<HashMap<VoucherId, Audience>>,
}

impl Default for Audiences {
    fn default() -> Self {
        Self { since: Instant::now(), of_sale: Mutex::default() }
    }
}

impl Audiences {
    /// Counts a call by a page, and returns when the page asks again. `polls`: calls per second that all
    /// pages together shall make. `random` draws the interval.
    pub(super) fn poll_in(&self, sale: &LiveSale, polls: u32, random: u64) -> Duration {
        let (now, moment) = (self.since.elapsed(), Moment::of(sale));
        self.of_sale.lock().entry(sale.voucher).or_default().poll_in(now, moment, polls, random)
    }

    /// Drops the audience of an ended sale.
    pub(super) fn forget(&self, voucher: VoucherId) {
        self.of_sale.lock().remove(&voucher);
    }
}

/// What decides on the interval of a page, besides the size of the audience.
#[derive(Clone, Copy, Debug)]
struct Moment {
    /// Interval with a small audience.
    usual: Duration,
    /// Time to the opening or to the next wave, which pages know by themselves.
    changes_in: Option<Duration>,
}

impl Moment {
    fn of(sale: &LiveSale) -> Self {
        let opens_in = sale.begin.since(sale.at);
        match sale.state {
            SaleState::NotOpen => Self { usual: usual_before(opens_in), changes_in: Some(opens_in) },
            SaleState::SoldOut => Self {
                usual: Duration::from_secs(3),
                changes_in: sale.next_wave.map(|wave| wave.at.since(sale.at)),
            },
            SaleState::Open | SaleState::Paused => Self { usual: Duration::from_secs(3), changes_in: None },
            SaleState::Ended => Self { usual: Duration::from_secs(60), changes_in: None },
        }
    }
}

/// Returns the usual interval of a page before the opening. More calls give a better estimate of the instant.
fn usual_before(opens_in: Duration) -> Duration {
    Duration::from_millis(match opens_in.as_secs() {
        600.. => 60_000,
        60.. => 15_000,
        10.. => 5_000,
        _ => 2_500,
    })
}

/// The pages that show one sale: each is counted until it should have asked again.
#[derive(Default)]
struct Audience {
    /// Pages by the second in which they ask again.
    due: BTreeMap<u64, u64>,
    pages: u64,
}

impl Audience {
    fn poll_in(&mut self, now: Duration, moment: Moment, polls: u32, random: u64) -> Duration {
        while let Some(first) = self.due.first_entry().filter(|first| *first.key() < now.as_secs()) {
            self.pages -= first.remove();
        }
        // The page itself included.
        let share = Duration::from_millis((self.pages + 1).saturating_mul(1_000) / u64::from(polls.max(1)));
        let interval = moment.usual.max(share).min(POLL_MAX);
        let draw = f64::from(u32::try_from(random % u64::from(DRAWS)).unwrap_or(0)) / f64::from(DRAWS);
        let drawn = interval.mul_f64(0.75 + draw / 2.0);
        let poll_in = match moment.changes_in {
            Some(change) if drawn + QUIET_BEFORE > change => {
                // Besides the pages due by then there are those that arrive.
                change + QUIET_AFTER + (share * 2).clamp(QUIET_BEFORE, POLL_MAX).mul_f64(draw)
            }
            _ => drawn,
        };
        *self.due.entry((now + poll_in).as_secs()).or_default() += 1;
        self.pages += 1;
        poll_in
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn open() -> Moment {
        Moment { usual: seconds(3), changes_in: None }
    }

    #[test]
    fn a_page_asks_as_usual_while_the_audience_is_small() {
        let mut audience = Audience::default();
        for (random, ms) in [(0, 2_250), (500_000, 3_000), (999_999, 3_749)] {
            assert_eq!(audience.poll_in(seconds(1), open(), 1_000, random).as_millis(), ms);
        }
        assert_eq!(audience.pages, 3);
        audience.poll_in(seconds(9), open(), 1_000, 0);
        assert_eq!(audience.pages, 1, "pages that were closed are forgotten");
    }

    #[test]
    fn a_large_audience_asks_less_often() {
        let mut audience = Audience { due: BTreeMap::from([(900, 599_999)]), pages: 599_999 };
        assert_eq!(audience.poll_in(seconds(1), open(), 2_000, 500_000), seconds(300));
        assert_eq!(audience.poll_in(seconds(901), open(), 2_000, 500_000), seconds(3), "they are gone");
        let mut endless = Audience { due: BTreeMap::from([(900, u64::MAX / 2)]), pages: u64::MAX / 2 };
        assert_eq!(endless.poll_in(seconds(1), open(), 0, 500_000), POLL_MAX);
    }

    #[test]
    fn nobody_asks_around_an_opening() {
        for (opens_in, random, ms) in [
            (60, 0, 11_250),
            (30, 0, 3_750),
            (9, 0, 1_875),
            // In the last seconds: after the opening, spread over the time that the audience takes.
            (6, 0, 8_000),
            (7, 999_999, 13_999),
            (0, 500_000, 4_500),
        ] {
            let opens_in = seconds(opens_in);
            let moment = Moment { usual: usual_before(opens_in), changes_in: Some(opens_in) };
            let asks = Audience::default().poll_in(seconds(1), moment, 2_000, random);
            assert_eq!(asks.as_millis(), ms, "{opens_in:?} {random}");
        }
    }

    /// Pages of which each asks once in 500 s, opened within ten minutes before the opening of a sale and
    /// kept open for half an hour.
    #[test]
    fn many_pages_stay_below_the_budget_and_are_quiet_at_the_opening() {
        const PAGES: u64 = 200_000;
        const POLLS: u32 = 400;
        let opening = 600;
        let mut audience = Audience::default();
        let mut due: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for page in 0..PAGES {
            due.entry(page * opening / PAGES).or_default().push(page);
        }
        let mut repeats = BTreeMap::<u64, u64>::new();
        let mut draw = 1_u64;
        while let Some((second, pages)) = due.pop_first().filter(|(second, _)| *second < 2_400) {
            let now = seconds(second);
            let opens_in = seconds(opening).saturating_sub(now);
            let moment = if opens_in.is_zero() {
                open()
            } else {
                Moment { usual: usual_before(opens_in), changes_in: Some(opens_in) }
            };
            let repeated = pages.iter().filter(|page| **page * opening / PAGES != second);
            repeats.insert(second, repeated.count() as u64);
            for page in pages {
                draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(page);
                let next = now + audience.poll_in(now, moment, POLLS, draw >> 33);
                due.entry(next.as_secs()).or_default().push(page);
            }
        }
        let most = repeats.values().max().unwrap();
        println!("at most {most} calls in a second, of {POLLS}");
        assert!(*most <= u64::from(POLLS) * 5 / 4, "{most} calls in a second");
        let around = repeats.range(opening - 4..opening + 2).map(|(_, calls)| calls).sum::<u64>();
        assert_eq!(around, 0, "calls while the sale opens");
    }
}
