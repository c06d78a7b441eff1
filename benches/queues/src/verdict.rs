//! Words of verdicts that several experiments reach, and throughput.

use serde::Serialize;

use crate::question::Question;

/// Outcome of one experiment.
pub(crate) type Finding = mallbox_bench_verdicts::Finding<Question>;
/// Verdicts on a question about a way, over all repetitions.
pub type Verdict = mallbox_bench_verdicts::Verdict<Question>;

/// Returns the verdict on messages lost and repeated.
pub(crate) fn losses(lost: usize, repeated: usize) -> String {
    match (lost, repeated) {
        (0, 0) => "nothing".to_owned(),
        (lost, 0) => format!("loses {lost}"),
        (0, repeated) => format!("repeats {repeated}"),
        (lost, repeated) => format!("loses {lost}, repeats {repeated}"),
    }
}

/// Throughput and latency of a way on one setting of its component.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Speed {
    /// Name of the way.
    pub way: &'static str,
    /// The component, with its durability.
    pub setting: String,
    /// Producers, each with one send at a time; beside one consumer.
    pub producers: usize,
    /// Messages accepted per second.
    pub sent_per_s: f64,
    /// Messages received, worked on and acknowledged per second, in the same time.
    pub received_per_s: f64,
    /// Pace of the messages whose time was taken.
    pub paced_per_s: u64,
    /// Messages whose time was taken, and of these the number received.
    pub paced: u64,
    /// Number received of these messages.
    pub paced_received: u64,
    /// Median of the time from send to receipt, in µs.
    pub p50_us: f64,
    /// 99th percentile of the time from send to receipt, in µs.
    pub p99_us: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_repetitions_have_one_form() {
        let words = [(0, 0), (7, 0), (0, 1), (2, 3)].map(|(lost, repeated)| losses(lost, repeated));
        assert_eq!(words, ["nothing", "loses 7", "repeats 1", "loses 2, repeats 3"]);
    }
}
