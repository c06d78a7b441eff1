//! Days on the mall's wall, and those that operators look at.

use mallbox_storage::{Day, DaySpan, Timestamp};

use super::{Context, Failure, Refusal, wall_time};

/// Days that operators look at, unless they say which.
const LOOKED_AT: i32 = 7;
/// Days that they can look at: a month.
const LOOKED_AT_AT_MOST: usize = 31;

impl Context {
    /// The day at this instant; `None` in a year that has none.
    pub(super) fn day_of(&self, at: Timestamp) -> Option<Day> {
        let date = wall_time::date(at, &self.zone);
        Day::of(date.year().into(), usize::try_from(date.month()).ok()?, date.day().into())
    }

    pub(super) fn today(&self, now: Timestamp) -> Result<Day, Failure> {
        self.day_of(now)
            .ok_or_else(|| Failure::Bug("the mall's clock shows a year of none of its days".into()))
    }

    /// From one day to another, each `2026-11-21`: up to today and for a week, unless it is said otherwise by other than
    /// `""`; for a month at the most.
    pub(super) fn days_looked_at(&self, from: &str, to: &str, now: Timestamp) -> Result<DaySpan, Failure> {
        let read = |text: &str, name| Day::parse(text).ok_or(Refusal::BadValue(name));
        let to = if to.is_empty() { self.today(now)? } else { read(to, "to")? };
        let from = match from {
            "" => Day::from_number(to.number() - LOOKED_AT + 1).unwrap_or(to),
            text => read(text, "from")?,
        };
        let span = DaySpan::new(from, to).filter(|span| span.length() <= LOOKED_AT_AT_MOST);
        Ok(span.ok_or(Refusal::BadValue("from"))?)
    }
}
