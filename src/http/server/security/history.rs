//! Recent security events, and the number of events per minute of the last day.

use std::collections::VecDeque;
use std::net::IpAddr;

use mallbox_storage::{Timestamp, UserId};

use super::event::{EVENTS, SecurityEvent};
use crate::mall::people::accounts::PhoneTrace;

/// Listed events of each kind. A flood of one kind thus displaces no event of another kind.
const LISTED_MAX: usize = 200;
/// Minutes with a count.
const MINUTES: i64 = 24 * 60;
const MINUTE_MS: i64 = 60_000;
/// Hours of a day's counts.
pub(in crate::http) const HOURS: usize = 24;

/// An event with a line in the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::http) struct EventRecord {
    /// Sequence number from 1, in the order of the events.
    pub(in crate::http) number: u64,
    pub(in crate::http) at: Timestamp,
    pub(in crate::http) event: SecurityEvent,
    /// `None` for a call from within the machine.
    pub(in crate::http) client: Option<IpAddr>,
    /// The caller, where known.
    pub(in crate::http) user: Option<UserId>,
    /// The user concerned, if not the caller.
    pub(in crate::http) subject: Option<UserId>,
    /// The phone named by the caller.
    pub(in crate::http) phone: Option<PhoneTrace>,
    /// `""` for an event without a request.
    pub(in crate::http) request_id: String,
    pub(in crate::http) method: Option<&'static str>,
    /// The route, such as `/user/{id}`; `None` for a page and for an unknown path.
    pub(in crate::http) route: Option<&'static str>,
    /// The code of the refusal; `None` for a success.
    pub(in crate::http) code: Option<&'static str>,
}

/// Selection of events.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::http) struct Filter {
    /// Events of this kind only.
    pub(in crate::http) event: Option<SecurityEvent>,
    /// Events from this address only.
    pub(in crate::http) client: Option<IpAddr>,
}

/// Number of events of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::http) struct Count {
    pub(in crate::http) event: SecurityEvent,
    /// Since the start of the process.
    pub(in crate::http) total: u64,
    /// In the 24 hours up to now, oldest first. An hour is 60 minutes of the clock, the last one unfinished.
    pub(in crate::http) hours: [u64; HOURS],
}

type PerKind<T> = [T; EVENTS.len()];

/// Events in memory: at most [`LISTED_MAX`] per kind, and a count per kind and minute.
#[derive(Debug)]
pub(super) struct History {
    last_number: u64,
    recent: PerKind<VecDeque<EventRecord>>,
    totals: PerKind<u64>,
    /// Counts by minute since 1970, ascending; minutes without an event are absent.
    minutes: VecDeque<(i64, PerKind<u32>)>,
}

impl Default for History {
    fn default() -> Self {
        let recent = std::array::from_fn(|_| VecDeque::new());
        Self { last_number: 0, recent, totals: [0; EVENTS.len()], minutes: VecDeque::new() }
    }
}

impl History {
    /// Counts an event. After a clock was set back, the counts of later minutes move to the present one.
    pub(super) fn count(&mut self, event: SecurityEvent, at: Timestamp) {
        let now = minute_of(at);
        let mut counts = [0; EVENTS.len()];
        while let Some((_, later)) = self.minutes.pop_back_if(|(minute, _)| *minute >= now) {
            counts.iter_mut().zip(later).for_each(|(count, later)| *count += later);
        }
        counts[event as usize] += 1;
        self.totals[event as usize] += 1;
        self.minutes.push_back((now, counts));
        while self.minutes.pop_front_if(|(minute, _)| *minute <= now - MINUTES).is_some() {}
    }

    /// Adds an event to the list and numbers it.
    pub(super) fn push(&mut self, record: EventRecord) {
        self.last_number += 1;
        let list = &mut self.recent[record.event as usize];
        if list.len() >= LISTED_MAX {
            list.pop_front();
        }
        list.push_back(EventRecord { number: self.last_number, ..record });
    }

    /// Returns the number of fitting events in the list, and up to `max` of them after the first `skipped`,
    /// newest first.
    pub(super) fn recent(&self, filter: Filter, skipped: usize, max: usize) -> (usize, Vec<EventRecord>) {
        let fits = |record: &&EventRecord| {
            filter.event.is_none_or(|event| record.event == event)
                && filter.client.is_none_or(|client| record.client == Some(client))
        };
        let mut fitting: Vec<_> = self.recent.iter().flatten().filter(fits).collect();
        fitting.sort_unstable_by_key(|record| std::cmp::Reverse(record.number));
        (fitting.len(), fitting.into_iter().skip(skipped).take(max).cloned().collect())
    }

    /// Returns the counts of every kind, in the order of the kinds.
    pub(super) fn counts(&self, at: Timestamp) -> Vec<Count> {
        let now = minute_of(at);
        let mut counts: Vec<_> = EVENTS
            .iter()
            .zip(self.totals)
            .map(|((event, ..), total)| Count { event: *event, total, hours: [0; HOURS] })
            .collect();
        for (minute, in_minute) in &self.minutes {
            let hours_ago = usize::try_from((now - minute).max(0) / 60).unwrap_or(HOURS);
            if hours_ago < HOURS {
                for (count, number) in counts.iter_mut().zip(in_minute) {
                    count.hours[HOURS - 1 - hours_ago] += u64::from(*number);
                }
            }
        }
        counts
    }

    /// Returns the number of events of every kind since the start.
    pub(super) fn totals(&self) -> PerKind<u64> {
        self.totals
    }
}

fn minute_of(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(MINUTE_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_795_240_800_000;

    fn after(minutes: i64) -> Timestamp {
        Timestamp::from_millis(NOON + minutes * MINUTE_MS)
    }

    fn record(event: SecurityEvent, last_byte: u8) -> EventRecord {
        EventRecord {
            number: 0,
            at: after(0),
            event,
            client: Some([203, 0, 113, last_byte].into()),
            user: None,
            subject: None,
            phone: None,
            request_id: String::new(),
            method: None,
            route: None,
            code: None,
        }
    }

    fn hours(history: &History, at: Timestamp) -> [u64; HOURS] {
        history.counts(at)[SecurityEvent::Forbidden as usize].hours
    }

    #[test]
    fn events_leave_the_counts_after_a_day() {
        let mut history = History::default();
        for minute in [0, 1, 59, 60, 61, 24 * 60 - 1] {
            history.count(SecurityEvent::Forbidden, after(minute));
        }
        let at_the_end = hours(&history, after(24 * 60 - 1));
        assert_eq!((at_the_end[0], at_the_end[1], at_the_end[23]), (3, 2, 1));
        assert_eq!(hours(&history, after(24 * 60)).iter().sum::<u64>(), 5, "the first minute is over");
        assert_eq!(hours(&history, after(48 * 60)).iter().sum::<u64>(), 0);
        history.count(SecurityEvent::Forbidden, after(48 * 60));
        assert_eq!(history.minutes.len(), 1, "memory is bounded");
        assert_eq!(history.totals()[SecurityEvent::Forbidden as usize], 7);
    }

    #[test]
    fn a_clock_set_back_loses_no_count() {
        let mut history = History::default();
        for minute in [0, 500, 600, 2] {
            history.count(SecurityEvent::Forbidden, after(minute));
        }
        assert_eq!(history.minutes.iter().map(|(_, counts)| counts.iter().sum::<u32>()).sum::<u32>(), 4);
        assert_eq!(hours(&history, after(2))[23], 4);
    }

    #[test]
    fn a_flood_of_one_kind_displaces_no_event_of_another() {
        let mut history = History::default();
        history.push(record(SecurityEvent::RoleGranted, 1));
        for _ in 0..3 * LISTED_MAX {
            history.push(record(SecurityEvent::Forbidden, 2));
        }
        let (total, newest) = history.recent(Filter::default(), 0, 2);
        assert_eq!(total, LISTED_MAX + 1);
        assert_eq!(newest.iter().map(|record| record.number).collect::<Vec<_>>(), [601, 600]);
        let (_, oldest) = history.recent(Filter::default(), LISTED_MAX, 10);
        assert_eq!(
            oldest.iter().map(|record| record.event).collect::<Vec<_>>(),
            [SecurityEvent::RoleGranted]
        );
        for (event, client, want) in [
            (Some(SecurityEvent::Forbidden), None, LISTED_MAX),
            (Some(SecurityEvent::CrossSite), None, 0),
            (None, Some([203, 0, 113, 1].into()), 1),
            (Some(SecurityEvent::Forbidden), Some([203, 0, 113, 1].into()), 0),
        ] {
            assert_eq!(history.recent(Filter { event, client }, 0, 1).0, want, "{event:?} {client:?}");
        }
    }
}
