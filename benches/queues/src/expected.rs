//! The verdict that each experiment must reach.

use mallbox_bench_verdicts::{ANY, Expectations, NONE};

use crate::question::Question;

/// Verdicts by way, in the order of [`Question::ALL`].
#[rustfmt::skip]
const WAYS: &[(&str, [&str; 12])] = &[
    // order of one, of two,        backlog,     two consumers, replay,         bound,      MAXLEN,
    //     killed at work, before ack,    broker: no log, everysec, always or default
    ("list",      ["kept", "overtaken",    "keeps all", "one each",  "none",         "refuses",  NONE,
        "loses 1",   "nothing",   "loses 100", ANY,         "nothing"]),
    ("blmove",    ["kept", "overtaken",    "keeps all", "one each",  "none",         "refuses",  NONE,
        "repeats 1", "repeats 1", "loses 100", ANY,         "nothing"]),
    ("pub-sub",   ["kept", "each has all", "keeps all", "all to both", "none",       "cuts off", NONE,
        "loses 7",   "loses 6",   "loses 100", "loses 100", "loses 100"]),
    ("stream",    ["kept", "each has all", "keeps 1",   "all to both", "from any",   "refuses",  "drops oldest",
        "loses 7",   "loses 6",   "loses 100", "loses 100", "loses 100"]),
    ("group",     ["kept", "overtaken",    "keeps all", "one each",  "from any",     "refuses",  "drops oldest",
        "repeats 1", "repeats 1", "loses 100", ANY,         "nothing"]),
    ("noack",     ["kept", "overtaken",    "keeps all", "one each",  "from any",     "refuses",  "drops oldest",
        "loses 1",   "nothing",   "loses 100", ANY,         "nothing"]),
    ("channel",   ["kept", "overtaken",    "keeps all", "one each",  "none",         "waits",    NONE,
        "loses 5",   "loses 4",   NONE,        NONE,        "loses 100"]),
    ("sled-log",  ["kept", "overtaken",    "keeps all", "one each",  "none",         "refuses",  NONE,
        "repeats 1", "nothing",   NONE,        NONE,        "nothing"]),
    ("redis-log", ["kept", "overtaken",    "keeps all", "one each",  "none",         "refuses",  NONE,
        "repeats 1", "repeats 1", "loses 100", ANY,         "nothing"]),
    ("table",     ["kept", "overtaken",    "keeps all", "one each",  "from any",     "no bound", NONE,
        "repeats 1", "repeats 1", NONE,        NONE,        "nothing"]),
];

/// Verdicts that each way must reach.
pub(crate) const EXPECTED: Expectations<Question, 12> = Expectations { questions: Question::ALL, ways: WAYS };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ways::WAYS;

    #[test]
    fn every_way_has_its_verdicts() {
        let names: Vec<_> = EXPECTED.ways.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, WAYS.iter().map(|way| way.name).collect::<Vec<_>>());
        assert!(WAYS.iter().all(|way| EXPECTED.arises(way.name, Question::KilledAtWork)));
    }
}
