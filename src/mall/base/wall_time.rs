//! Local times for people: text in the mall's time zone, without an offset.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use mallbox_storage::Timestamp;

/// Formats an instant as local time such as `2026-11-21T10:09:17`, truncated to seconds.
#[must_use]
pub fn text(at: Timestamp, zone: &TimeZone) -> String {
    format!("{:.0}", zone.to_datetime(instant(at)))
}

/// Like [`text`], with a space in place of the `T`.
#[must_use]
pub fn spaced(at: Timestamp, zone: &TimeZone) -> String {
    text(at, zone).replace('T', " ")
}

/// Formats the local day of an instant, such as `2026-11-21`.
#[must_use]
pub fn day(at: Timestamp, zone: &TimeZone) -> String {
    date(at, zone).to_string()
}

/// Returns the local date of an instant.
pub(in crate::mall) fn date(at: Timestamp, zone: &TimeZone) -> Date {
    zone.to_datetime(instant(at)).date()
}

/// Parses a local time. Returns `None` for text in any other form.
///
/// The form is the one of [`text`]. Seconds may be missing or have a fraction, and a space may replace the
/// `T`, as browsers and databases write it. An offset or a zone is refused, because ignoring it silently
/// would be wrong. A local time skipped by the zone counts as if the clock had not been set forward yet
/// (02:30 is then 03:30). Of a local time that occurs twice, the first is taken.
#[must_use]
pub fn parse(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if !is_civil(text.as_bytes()) {
        return None;
    }
    let wall: DateTime = text.parse().ok()?;
    Some(Timestamp::from_millis(zone.to_timestamp(wall).ok()?.as_millisecond()))
}

/// Formats an instant as local time with the zone's offset, such as `2026-11-21T10:09:17.123+08:00`.
#[must_use]
pub fn with_offset(at: Timestamp, zone: &TimeZone) -> String {
    instant(at).to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S.%3f%:z").to_string()
}

/// Returns whether `text` is a calendar day from 1900 on, in the form `2000-01-31`.
#[must_use]
pub fn is_day(text: &str) -> bool {
    matches_form(text.as_bytes(), b"0000-00-00")
        && text >= "1900"
        && text.parse::<jiff::civil::Date>().is_ok()
}

/// Formats an instant in UTC, such as `2026-11-21T04:00:00.123Z`.
#[must_use]
pub fn utc(at: Timestamp) -> String {
    instant(at).strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Clamps an instant to the supported years, -9999 to 9999.
fn instant(at: Timestamp) -> jiff::Timestamp {
    let furthest = if at.as_millis() < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or(furthest)
}

/// Checks for a date and time without an offset.
fn is_civil(text: &[u8]) -> bool {
    let Some((minutes, rest)) = text.split_at_checked("0000-00-00T00:00".len()) else { return false };
    if !matches_form(minutes, b"0000-00-00T00:00") && !matches_form(minutes, b"0000-00-00 00:00") {
        return false;
    }
    let Some((seconds, fraction)) = rest.split_at_checked(":00".len()) else { return rest.is_empty() };
    let fraction_is_one = match fraction {
        [] => true,
        [b'.', digits @ ..] => (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    matches_form(seconds, b":00") && fraction_is_one
}

/// Returns whether `text` has a digit wherever `form` has a `0`, and the same character elsewhere.
fn matches_form(text: &[u8], form: &[u8]) -> bool {
    text.len() == form.len()
        && text
            .iter()
            .zip(form)
            .all(|(have, want)| if *want == b'0' { have.is_ascii_digit() } else { have == want })
}

/// Chooses the zone of a new mall: `asked`, or the machine's. Also returns the name to store.
#[must_use]
pub fn zone_to_keep(requested: Option<TimeZone>) -> (TimeZone, String) {
    let zone = requested.unwrap_or_else(TimeZone::system);
    // A machine whose zone has no name, for example set by offset, uses UTC.
    let name = zone.iana_name().unwrap_or("UTC").to_owned();
    (TimeZone::get(&name).unwrap_or(TimeZone::UTC), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> TimeZone {
        TimeZone::get(name).unwrap()
    }

    #[test]
    fn text_and_parse_are_each_others_inverse() {
        let shanghai = zone("Asia/Shanghai");
        let at = Timestamp::from_millis(1_795_226_957_000);
        assert_eq!(text(at, &shanghai), "2026-11-21T10:09:17");
        assert_eq!(parse("2026-11-21T10:09:17", &shanghai), Some(at));
        assert_eq!(day(at, &shanghai), "2026-11-21");
        assert_eq!(text(at, &TimeZone::UTC), "2026-11-21T02:09:17");
    }

    #[test]
    fn parts_of_a_second_are_cut_off_in_text_and_kept_in_parse() {
        let at = Timestamp::from_millis(-1);
        assert_eq!(text(at, &TimeZone::UTC), "1969-12-31T23:59:59");
        assert_eq!(parse("1969-12-31T23:59:59.999", &TimeZone::UTC), Some(at));
    }

    #[test]
    fn browsers_and_databases_are_understood() {
        let want = Some(Timestamp::from_millis(1_795_262_400_000));
        for good in ["2026-11-21T12:00", "2026-11-21 12:00:00", "2026-11-21T12:00:00.000"] {
            assert_eq!(parse(good, &TimeZone::UTC), want, "{good}");
        }
    }

    #[test]
    fn other_forms_are_refused() {
        for bad in [
            "",
            "2026-11-21",
            "2026-11-21T12",
            "2026-11-21T12:00:0",
            "2026-11-21T12:00:00Z",
            "2026-11-21T12:00:00+08:00",
            "2026-11-21T12:00:00-05",
            "2026-11-21T12:00:00[UTC]",
            "2026-11-21T12:00:00.",
            "2026-11-21T12:00:00.1234567890",
            "2026-13-21T12:00:00",
            "2026-02-29T12:00:00",
            "2026-11-21T24:00:00",
            "２０２６-11-21T12:00",
            "tomorrow at noon",
        ] {
            assert_eq!(parse(bad, &TimeZone::UTC), None, "{bad}");
        }
    }

    #[test]
    fn a_skipped_time_is_read_as_before_the_change() {
        // Berlin, 2026-03-29: from 02:00 +01 straight to 03:00 +02.
        let berlin = zone("Europe/Berlin");
        let skipped = parse("2026-03-29T02:30:00", &berlin).unwrap();
        assert_eq!(text(skipped, &TimeZone::UTC), "2026-03-29T01:30:00");
        assert_eq!(text(skipped, &berlin), "2026-03-29T03:30:00");
    }

    #[test]
    fn of_a_time_that_comes_twice_the_first_is_meant() {
        // Berlin, 2026-10-25: 02:30 occurs at +02 and again at +01.
        let berlin = zone("Europe/Berlin");
        let first = parse("2026-10-25T02:30:00", &berlin).unwrap();
        assert_eq!(text(first, &TimeZone::UTC), "2026-10-25T00:30:00");
        let second = Timestamp::from_millis(first.as_millis() + 3_600_000);
        assert_eq!(text(second, &berlin), text(first, &berlin));
        let both = [first, second].map(|at| with_offset(at, &berlin));
        assert_eq!(both, ["2026-10-25T02:30:00.000+02:00", "2026-10-25T02:30:00.000+01:00"]);
    }

    #[test]
    fn the_ends_of_time_have_a_text() {
        assert!(text(Timestamp::MAX, &zone("Asia/Shanghai")).starts_with("9999-12-"));
        assert!(text(Timestamp::from_millis(i64::MIN), &TimeZone::UTC).starts_with("-"));
    }

    #[test]
    fn days_are_days_of_the_calendar() {
        assert!(is_day("2000-01-31") && is_day("2000-02-29") && is_day("1900-01-01"));
        for bad in ["", "2000-1-31", "2001-02-29", "1899-12-31", "2000-01-31T00:00", "2000-01-3l"] {
            assert!(!is_day(bad), "{bad}");
        }
    }
}
