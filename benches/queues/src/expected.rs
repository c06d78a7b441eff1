//! The verdict that each experiment must reach.

use crate::question::Question;

/// Any verdict: what happens depends on the moment.
const ANY: &str = "*";
/// The question does not arise.
const NONE: &str = "";

/// Verdicts by way, in the order of [`Question::ALL`].
#[rustfmt::skip]
const EXPECTED: [(&str, [&str; 12]); 10] = [
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

/// Returns the verdict that a way must reach; `None` = any.
pub(crate) fn expected(way: &str, question: Question) -> Option<&'static str> {
    let words = words(way, question)?;
    (words != ANY && words != NONE).then_some(words)
}

/// Returns whether a question arises for a way.
pub(crate) fn arises(way: &str, question: Question) -> bool {
    words(way, question).is_some_and(|words| words != NONE)
}

fn words(way: &str, question: Question) -> Option<&'static str> {
    let (_, verdicts) = EXPECTED.iter().find(|(name, _)| *name == way)?;
    let at = Question::ALL.iter().position(|known| *known == question)?;
    verdicts.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ways::WAYS;

    #[test]
    fn every_way_has_its_verdicts() {
        let names: Vec<_> = EXPECTED.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, WAYS.iter().map(|way| way.name).collect::<Vec<_>>());
        assert!(WAYS.iter().all(|way| arises(way.name, Question::KilledAtWork)));
    }
}
