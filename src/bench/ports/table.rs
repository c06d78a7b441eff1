//! The printed table of a port.

use std::fmt::Write as _;

use mallbox_bench_ports::Measurement;

use crate::bench::columns::aligned;
use crate::bench::numbers::{bytes, count, micros, rate};

const TITLES: [&str; 9] = ["", "back end", "size", "callers", "operations", "p50", "p99", "memory", ""];
/// The first columns are text, and the last names the note.
const TEXT_COLUMNS: usize = 2;

/// Returns a table of a port's measurements, with their notes below.
pub(super) fn text(port: &str, measurements: &[Measurement]) -> String {
    let mut notes: Vec<&str> = Vec::new();
    let mut rows = vec![TITLES.map(str::to_owned)];
    for measurement in measurements {
        let note = measurement.note.as_deref().map(|note| {
            let known = notes.iter().position(|known| *known == note);
            known.unwrap_or_else(|| {
                notes.push(note);
                notes.len() - 1
            }) + 1
        });
        rows.push(row(measurement, note));
    }
    let mut text = format!("{port}\n{}", aligned(&rows, &(TEXT_COLUMNS..TITLES.len())));
    for (number, note) in notes.iter().enumerate() {
        let _ = writeln!(text, "[{}] {note}", number + 1);
    }
    text
}

fn row(measurement: &Measurement, note: Option<usize>) -> [String; 9] {
    let Measurement { port, back_end, size, threads, per_s, p50_us, p99_us, memory_bytes, error, .. } =
        measurement;
    let operation = port.split_once(": ").map_or(&**port, |(_, operation)| operation);
    let failure = if measurement.is_failed { "FAILED " } else { "" };
    let error = error.map(|error| format!("error {:.2} % ", error * 100.0)).unwrap_or_default();
    [
        operation.to_owned(),
        back_end.clone(),
        size.map(count).unwrap_or_default(),
        threads.map(|threads| threads.to_string()).unwrap_or_default(),
        per_s.map(rate).unwrap_or_default(),
        p50_us.map(micros).unwrap_or_default(),
        p99_us.map(micros).unwrap_or_default(),
        memory_bytes.map(bytes).unwrap_or_default(),
        format!("{failure}{error}{}", note.map(|note| format!("[{note}]")).unwrap_or_default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_notes_stand_once_and_a_failure_is_seen() {
        let of = |operation: &str, per_s: f64| Measurement {
            size: Some(10_000),
            threads: Some(64),
            per_s: Some(per_s),
            p50_us: Some(1.234),
            p99_us: Some(2_345.6),
            memory_bytes: Some(1 << 20),
            note: Some("durability power".to_owned()),
            ..Measurement::new(format!("claim: {operation}"), "directory")
        };
        let failed = Measurement::failed("claim", "Redis and MySQL", "a port failed");
        let text = text("claim", &[of("accepted", 123_456.7), of("sold out", 5.0), failed]);
        let want = "claim\n\
            \u{20}         back end           size  callers  operations      p50      p99    memory\n\
            accepted  directory        10,000       64  123,457 /s  1.23 µs  2.35 ms  1.00 MiB         [1]\n\
            sold out  directory        10,000       64        5 /s  1.23 µs  2.35 ms  1.00 MiB         [1]\n\
            claim     Redis and MySQL                                                           FAILED [2]\n\
            [1] durability power\n\
            [2] a port failed\n";
        assert_eq!(text, want);
    }
}
