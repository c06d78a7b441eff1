//! Calendar days in the mall's time zone, and the day ranges of operators' queries.

use mallbox_storage::{Day, DaySpan, Timestamp};

use super::{Context, Failure, Refusal, wall_time};

/// Default length of a range, in days.
const RANGE_DEFAULT_DAYS: i32 = 7;
/// Maximum length of a range, in days: a month.
const RANGE_MAX_DAYS: usize = 31;

impl Context {
    /// Returns the day at an instant; `None` in a year outside the supported range.
    pub(in crate::mall) fn day_of(&self, at: Timestamp) -> Option<Day> {
        let date = wall_time::date(at, &self.zone);
        Day::of(date.year().into(), usize::try_from(date.month()).ok()?, date.day().into())
    }

    pub(in crate::mall) fn today(&self, now: Timestamp) -> Result<Day, Failure> {
        self.day_of(now).ok_or_else(|| Failure::Bug("the year of the mall's clock is out of range".into()))
    }

    /// Parses a range of days such as `2026-11-21`. An empty `to` means today, an empty `from` the seven days
    /// up to `to`. A range has at most 31 days.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for an invalid day or a range that is too long.
    pub(in crate::mall) fn span_of_days(
        &self,
        from: &str,
        to: &str,
        now: Timestamp,
    ) -> Result<DaySpan, Failure> {
        let read = |text: &str, name| Day::parse(text).ok_or(Refusal::BadValue(name));
        let to = if to.is_empty() { self.today(now)? } else { read(to, "to")? };
        let from = match from {
            "" => Day::from_number(to.number() - RANGE_DEFAULT_DAYS + 1).unwrap_or(to),
            text => read(text, "from")?,
        };
        let span = DaySpan::new(from, to).filter(|span| span.length() <= RANGE_MAX_DAYS);
        Ok(span.ok_or(Refusal::BadValue("from"))?)
    }
}
