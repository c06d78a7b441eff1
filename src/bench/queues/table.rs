//! The printed tables: the verdicts by criterion, throughput, and verdicts that differ.

use std::fmt::Write as _;

use mallbox_bench_queues::{Question, Speed, Verdict, Way};

use crate::bench::columns::aligned;
use crate::bench::numbers::{micros, rate};
use crate::bench::verdicts::{cell, find, footer};

/// Explains the numbers of the table.
const LEGEND: &str = "\
consumer killed: 12 messages, 1 in hand, 4 waiting, 2 sent before the next consumer; broker killed: 100 wait";

/// Returns the tables, and a line on each verdict that differs.
pub(super) fn text(ways: &[&Way], verdicts: &[Verdict], speeds: &[Speed]) -> String {
    let cell = |way: &Way, question: Question| cell(verdicts, way.name, question);
    let mut first =
        vec![row(["", "sent", "received", "p99", "waiting", "done", "one worker", "two workers"])];
    let mut second = vec![row(["", "backlog", "shared", "replay", "when full", "at MAXLEN"])];
    let mut third = vec![row([
        "",
        "killed at work",
        "killed before ack",
        "broker, no log",
        "everysec",
        "always/default",
    ])];
    for way in ways {
        let speed = usual(way, speeds);
        let rate_of = |value: fn(&Speed) -> f64| speed.map(value).map(rate).unwrap_or_default();
        let backlog = find(verdicts, way.name, Question::Backlog);
        let bytes_of = |name: &str| {
            let bytes = backlog.and_then(|verdict| verdict.figure(name));
            bytes.map(|bytes| format!("{bytes:.0} B")).unwrap_or_default()
        };
        first.push(vec![
            way.name.to_owned(),
            rate_of(|speed| speed.sent_per_s),
            rate_of(|speed| speed.received_per_s),
            speed.map(|speed| micros(speed.p99_us)).unwrap_or_default(),
            bytes_of("bytes_per_message"),
            bytes_of("bytes_per_done_message"),
            cell(way, Question::OrderOfOne),
            cell(way, Question::OrderOfTwo),
        ]);
        second.push(cells(
            way,
            &cell,
            &[Question::Backlog, Question::Sharing, Question::Replay, Question::Full, Question::FullLength],
        ));
        third.push(cells(
            way,
            &cell,
            &[
                Question::KilledAtWork,
                Question::KilledBeforeAck,
                Question::BrokerWithoutLog,
                Question::BrokerEverySecond,
                Question::BrokerAlways,
            ],
        ));
    }
    let mut text = String::new();
    for (title, rows, numbers) in [
        ("throughput, memory of a message, order", &first, 1..6),
        ("backlog, two consumers, replay, bound", &second, 0..0),
        ("lost and repeated messages", &third, 0..0),
        ("throughput by setting: 8 producers, 1 consumer; time at 200 messages/s", &settings(speeds), 2..7),
    ] {
        let _ = write!(text, "{title}\n{}\n", aligned(rows, &numbers));
    }
    text + &footer(LEGEND, verdicts)
}

fn cells(way: &Way, cell: &impl Fn(&Way, Question) -> String, questions: &[Question]) -> Vec<String> {
    let cells = questions.iter().map(|question| cell(way, *question));
    [way.name.to_owned()].into_iter().chain(cells).collect()
}

/// Returns the speed of a way on the setting that the other experiments use.
fn usual<'speed>(way: &Way, speeds: &'speed [Speed]) -> Option<&'speed Speed> {
    let mut of_way = speeds.iter().filter(|speed| speed.way == way.name);
    let usual = of_way.clone().find(|speed| speed.setting.contains("everysec"));
    usual.or_else(|| of_way.next())
}

fn settings(speeds: &[Speed]) -> Vec<Vec<String>> {
    let mut rows = vec![row(["", "", "sent", "received", "p50", "p99", "arrived"])];
    rows.extend(speeds.iter().map(|speed| {
        vec![
            speed.way.to_owned(),
            speed.setting.clone(),
            rate(speed.sent_per_s),
            rate(speed.received_per_s),
            micros(speed.p50_us),
            micros(speed.p99_us),
            format!("{}/{}", speed.paced_received, speed.paced),
        ]
    }));
    rows
}

fn row<const N: usize>(titles: [&str; N]) -> Vec<String> {
    titles.map(str::to_owned).into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mallbox_bench_queues::{WAYS, way};

    use super::*;

    fn verdict(question: Question, words: &str, expected: &'static str) -> Verdict {
        Verdict {
            way: "group",
            question,
            verdicts: [(words.to_owned(), 1)].into(),
            expected: Some(expected),
            is_expected: words == expected,
            detail: "of 12 messages [4] lost, 0 delivered again".to_owned(),
            figures: BTreeMap::new(),
        }
    }

    #[test]
    fn a_verdict_that_differs_is_marked_and_explained() {
        let group = way("group").unwrap();
        let verdicts = [
            verdict(Question::KilledAtWork, "loses 1", "repeats 1"),
            verdict(Question::KilledBeforeAck, "repeats 1", "repeats 1"),
        ];
        let text = text(&[group], &verdicts, &[]);
        assert!(
            text.contains("\ngroup  loses 1 *       repeats 1          −               −         −\n"),
            "{text}"
        );
        let line = "group, consumer killed at work: loses 1, expected: repeats 1 (of 12 messages [4] lost, 0 \
                    delivered again)\n";
        assert!(text.ends_with(line), "{text}");
    }

    #[test]
    fn tables_fit_a_terminal() {
        let speeds: Vec<Speed> = WAYS
            .iter()
            .map(|way| Speed {
                way: way.name,
                setting: "Redis appendfsync everysec, MySQL".to_owned(),
                producers: 8,
                sent_per_s: 1_234_567.0,
                received_per_s: 1_234_567.0,
                paced_per_s: 200,
                paced: 200,
                paced_received: 200,
                p50_us: 1_234.0,
                p99_us: 123_456.0,
            })
            .collect();
        let verdicts = Question::ALL.map(|question| verdict(question, "drops oldest *", ""));
        let ways: Vec<&Way> = WAYS.iter().collect();
        let text = text(&ways, &verdicts, &speeds);
        let tables = text.split("\n\n").take(4).flat_map(str::lines);
        assert!(tables.map(|line| line.chars().count()).max() <= Some(110), "{text}");
    }
}
