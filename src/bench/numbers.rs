//! Numbers as printed.

use std::time::Duration;

use indicatif::{BinaryBytes, HumanCount};

/// Formats a number of events per second.
pub(super) fn rate(per_second: f64) -> String {
    format!("{} /s", whole(per_second))
}

/// Formats a number with thousands separators.
pub(super) fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates are small and positive")]
fn whole(value: f64) -> String {
    count(value.round() as u64)
}

/// Formats a time in milliseconds.
pub(super) fn millis(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{} ms", whole(ms)) }
}

/// Formats a time in µs, or in ms from 1 ms on.
pub(super) fn micros(us: f64) -> String {
    match us {
        ..10.0 => format!("{us:.2} µs"),
        10.0..1e3 => format!("{us:.0} µs"),
        _ => millis(Duration::from_secs_f64(us / 1e6)),
    }
}

/// Formats a size in memory.
pub(super) fn bytes(number: u64) -> String {
    BinaryBytes(number).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_at_most() {
        let times = [400, 2_346, 51_400, 1_234_567].map(|us| millis(Duration::from_micros(us)));
        assert_eq!(times, ["0.40 ms", "2.35 ms", "51 ms", "1,235 ms"]);
    }
}
