//! Calendar days in the mall's time zone.

use std::fmt;

/// A day from 1900-01-01 to 9999-12-31, written as `2026-11-21`. The texts sort chronologically.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Day(i32);

/// A range of consecutive days, at least one and at most [`DaySpan::MAX_DAYS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DaySpan {
    first: Day,
    last: Day,
}

impl Day {
    const FIRST: i32 = before_year(1900) - before_year(1970);
    const LAST: i32 = before_year(10_000) - before_year(1970) - 1;

    /// Converts from the number of days since 1970-01-01; `None` outside the supported years.
    #[must_use]
    pub fn from_number(number: i32) -> Option<Self> {
        (Self::FIRST..=Self::LAST).contains(&number).then_some(Self(number))
    }

    /// Returns the number of days since 1970-01-01.
    #[must_use]
    pub fn number(self) -> i32 {
        self.0
    }

    /// Builds a calendar day; `None` if the date does not exist or is out of range. `month` and `day` count
    /// from 1.
    #[must_use]
    pub fn of(year: i32, month: usize, day: i32) -> Option<Self> {
        let lengths = (1900..=9999).contains(&year).then(|| month_lengths(year))?;
        let length = *lengths.get(month.checked_sub(1)?)?;
        if !(1..=length).contains(&day) {
            return None;
        }
        let months: i32 = lengths[..month - 1].iter().sum();
        Self::from_number(before_year(year) - before_year(1970) + months + day - 1)
    }

    /// Parses the form `2026-11-21`, and no other.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_form = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        let number = |from, to| text.get(from..to)?.parse::<i32>().ok();
        is_form.then_some(())?;
        Self::of(number(0, 4)?, usize::try_from(number(5, 7)?).ok()?, number(8, 10)?)
    }

    /// Returns the date's digits as a number: 20261121 for `2026-11-21`.
    pub(crate) fn digits(self) -> u64 {
        let (year, month, day) = self.civil();
        u64::from(year.unsigned_abs()) * 10_000 + month as u64 * 100 + u64::from(day.unsigned_abs())
    }

    /// Returns the day of a date's [`digits`](Self::digits); `None` for other numbers.
    pub(crate) fn from_digits(digits: u64) -> Option<Self> {
        let year = i32::try_from(digits / 10_000).ok()?;
        let (month, day) = (usize::try_from(digits / 100 % 100).ok()?, i32::try_from(digits % 100).ok()?);
        Self::of(year, month, day)
    }

    /// Returns the previous day; `None` for the first supported day.
    #[must_use]
    pub fn before(self) -> Option<Self> {
        Self::from_number(self.0 - 1)
    }

    /// Returns the day of the month, from 1.
    #[must_use]
    pub fn of_month(self) -> i32 {
        self.civil().2
    }

    /// Returns all days of the day's month.
    #[must_use]
    pub fn month(self) -> DaySpan {
        let (year, month, day) = self.civil();
        let first = self.0 - day + 1;
        DaySpan { first: Self(first), last: Self(first + month_lengths(year)[month - 1] - 1) }
    }

    fn civil(self) -> (i32, usize, i32) {
        let since_year_one = self.0 + before_year(1970);
        // 400 years have 146,097 days; the position of leap days makes the estimate wrong by at most one
        // year.
        let mut year = since_year_one * 400 / 146_097 + 1;
        if before_year(year) > since_year_one {
            year -= 1;
        } else if before_year(year + 1) <= since_year_one {
            year += 1;
        }
        let (mut month, mut day) = (1, since_year_one - before_year(year) + 1);
        for length in month_lengths(year) {
            if day <= length {
                break;
            }
            day -= length;
            month += 1;
        }
        (year, month, day)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl DaySpan {
    /// Maximum length in days: a leap year.
    pub const MAX_DAYS: usize = 366;

    /// Builds the range between two days, both inclusive. `None` if `last` is before `first`, or the range is
    /// too long.
    #[must_use]
    pub fn new(first: Day, last: Day) -> Option<Self> {
        let span = Self { first, last };
        (first <= last && span.length() <= Self::MAX_DAYS).then_some(span)
    }

    /// Returns the first day.
    #[must_use]
    pub fn first(self) -> Day {
        self.first
    }

    /// Returns the last day.
    #[must_use]
    pub fn last(self) -> Day {
        self.last
    }

    /// Returns the number of days.
    #[must_use]
    pub fn length(self) -> usize {
        usize::try_from(self.last.0 - self.first.0 + 1).unwrap_or(0)
    }

    /// Returns whether `day` is in the range.
    #[must_use]
    pub fn contains(self, day: Day) -> bool {
        (self.first..=self.last).contains(&day)
    }

    /// Returns an iterator over the days, in order.
    pub fn days(self) -> impl DoubleEndedIterator<Item = Day> {
        (self.first.0..=self.last.0).map(Day)
    }
}

/// Returns the number of days from the first of year one to the end of the previous year.
const fn before_year(year: i32) -> i32 {
    let past = year - 1;
    365 * past + past / 4 - past / 100 + past / 400
}

fn month_lengths(year: i32) -> [i32; 12] {
    let february = before_year(year + 1) - before_year(year) - 337;
    [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    #[test]
    fn every_day_is_the_one_after_the_day_before() {
        let (mut year, mut month, mut of_month) = (1900, 1, 1);
        for number in Day::FIRST..=Day::LAST {
            let day = Day::from_number(number).unwrap();
            assert_eq!(day.civil(), (year, month, of_month));
            assert_eq!(Day::of(year, month, of_month), Some(day));
            of_month += 1;
            if of_month > month_lengths(year)[month - 1] {
                (month, of_month) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month, of_month), (10_000, 1, 1));
    }

    #[test]
    fn known_days_have_their_numbers() {
        for (text, number) in
            [("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11_016), ("2026-11-21", 20_778)]
        {
            assert_eq!((day(text).number(), day(text).to_string()), (number, text.to_owned()));
        }
        assert_eq!(day("1900-01-01").before(), None);
        assert_eq!(day("2026-03-01").before(), Some(day("2026-02-28")));
    }

    #[test]
    fn what_is_no_day_is_none() {
        for bad in [
            "",
            "2026-11-2",
            "2026-11-31",
            "2026-00-10",
            "2026-13-10",
            "2026-11-00",
            "2027-02-29",
            "1900-02-29",
            "1899-12-31",
            "2026/11/21",
            "+026-11-21",
            "2026-11-21 ",
            "2026-11-é",
            "２０２６-11-21",
        ] {
            assert_eq!(Day::parse(bad), None, "{bad:?}");
        }
        assert_eq!(Day::from_number(i32::MAX), None);
        assert_eq!(Day::from_number(i32::MIN), None);
    }

    #[test]
    fn spans_have_a_day_at_least_and_a_year_at_most() {
        let february = day("2028-02-10").month();
        assert_eq!((february.first(), february.last()), (day("2028-02-01"), day("2028-02-29")));
        assert_eq!((february.length(), february.days().count()), (29, 29));
        assert_eq!(day("9999-12-31").month().last(), day("9999-12-31"));
        assert!(DaySpan::new(day("2026-11-21"), day("2026-11-20")).is_none());
        assert!(DaySpan::new(day("2028-01-01"), day("2028-12-31")).is_some());
        assert!(DaySpan::new(day("2028-01-01"), day("2029-01-01")).is_none());
        assert!(DaySpan::new(day("1900-01-01"), day("9999-12-31")).is_none());
    }
}
