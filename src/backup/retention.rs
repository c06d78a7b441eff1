//! Which of many backups to keep: the newest of each of the last hours, days, weeks, months or years.

use std::collections::BTreeSet;
use std::str::FromStr;

use jiff::civil::ISOWeekDate;
use jiff::{Timestamp, tz::TimeZone};

/// A period of which one backup is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Period {
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// How many backups to keep, by period. Text such as `24h,7d,12m`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Retention(Vec<(Period, usize)>);

impl FromStr for Retention {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?}: expected numbers of hours, days, weeks, months or years, as in 24h,7d,4w,12m,2y"
            )
        };
        let rule = |part: &str| {
            let (unit_at, unit) = part.char_indices().next_back()?;
            let period = match unit {
                'h' => Period::Hour,
                'd' => Period::Day,
                'w' => Period::Week,
                'm' => Period::Month,
                'y' => Period::Year,
                _ => return None,
            };
            let count = part[..unit_at].parse().ok().filter(|count| (1..=10_000).contains(count))?;
            Some((period, count))
        };
        text.split(',').map(|part| rule(part.trim()).ok_or_else(wrong)).collect::<Result<_, _>>().map(Self)
    }
}

impl Retention {
    /// Returns which backups may be removed, given the times of all of them. The newest is always kept.
    #[must_use]
    pub fn superfluous(&self, taken: &[Timestamp]) -> Vec<Timestamp> {
        let newest_first: BTreeSet<Timestamp> = taken.iter().copied().collect();
        let newest_first: Vec<Timestamp> = newest_first.into_iter().rev().collect();
        let mut kept: BTreeSet<Timestamp> = newest_first.first().copied().into_iter().collect();
        for (period, count) in &self.0 {
            let mut periods = Vec::new();
            for at in &newest_first {
                let of = period.of(*at);
                if periods.last() != Some(&of) {
                    if periods.len() == *count {
                        break;
                    }
                    periods.push(of);
                    kept.insert(*at);
                }
            }
        }
        newest_first.into_iter().filter(|at| !kept.contains(at)).collect()
    }
}

impl Period {
    /// Returns the number of the period that contains an instant, in UTC: years, and parts of the year.
    fn of(self, at: Timestamp) -> (i16, i16) {
        let at = at.to_zoned(TimeZone::UTC).datetime();
        match self {
            Self::Hour => (at.year(), at.day_of_year() * 24 + i16::from(at.hour())),
            Self::Day => (at.year(), at.day_of_year()),
            Self::Week => {
                let week: ISOWeekDate = at.date().iso_week_date();
                (week.year(), i16::from(week.week()))
            }
            Self::Month => (at.year(), i16::from(at.month())),
            Self::Year => (at.year(), 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn rules_are_read_and_mistakes_named() {
        let rules = "24h, 7d,12m".parse::<Retention>().unwrap();
        assert_eq!(rules.0, [(Period::Hour, 24), (Period::Day, 7), (Period::Month, 12)]);
        for wrong in ["", "24", "h", "0d", "-1d", "7x", "7d,", "99999d", "日"] {
            assert!(wrong.parse::<Retention>().unwrap_err().contains(&format!("{wrong:?}")), "{wrong}");
        }
    }

    #[test]
    fn the_newest_of_each_period_is_kept() {
        let begin = at("2026-01-01T00:10:00Z");
        let hourly: Vec<Timestamp> = (0..24 * 400_i64).map(|hour| begin + hour.hours()).collect();
        let newest = *hourly.last().unwrap();
        let rules: Retention = "24h,7d,12m".parse().unwrap();
        let gone = rules.superfluous(&hourly);
        let kept: Vec<Timestamp> = hourly.iter().copied().filter(|at| !gone.contains(at)).collect();
        // 24 hours span two days; the days and months before are single backups, the month's last.
        assert_eq!(kept.len(), 24 + 5 + 12 - 1, "{kept:?}");
        assert_eq!(kept.last(), Some(&newest));
        assert!(kept.contains(&at("2026-12-31T23:10:00Z")) && kept.contains(&at("2026-03-31T23:10:00Z")));
        assert!(!kept.contains(&at("2026-01-31T23:10:00Z")), "13 months before");
    }

    #[test]
    fn gaps_do_not_count_and_the_last_backup_is_never_removed() {
        let rules: Retention = "2d".parse().unwrap();
        let old = [at("2020-02-29T00:00:00Z"), at("2021-01-01T00:00:00Z"), at("2021-01-01T05:00:00Z")];
        assert_eq!(rules.superfluous(&old), [at("2021-01-01T00:00:00Z")]);
        assert_eq!(rules.superfluous(&old[..1]), []);
        assert_eq!(rules.superfluous(&[]), []);
    }
}
