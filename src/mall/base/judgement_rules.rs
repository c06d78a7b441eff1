//! Rules of the judgement: how many points a signal of an attempt gives, and how many look automated.
//!
//! Reasons: `src/decisions/0061-judgement.md`.

use mallbox_storage::{Signal, Signals};
use serde::Deserialize;

/// Rules by which attempts are scored: a table in TOML.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rules {
    limit: u32,
    rules: Vec<Rule>,
}

/// Points for a signal on one side of a threshold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The signal.
    pub signal: Signal,
    /// The threshold.
    pub threshold: Threshold,
    /// Points of an attempt whose signal matches.
    pub points: u32,
}

/// A threshold of a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threshold {
    /// Matches this value and greater ones.
    AtLeast(u32),
    /// Matches smaller values.
    Below(u32),
}

/// Why a text is no table of rules. The first rule is number 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RulesError {
    /// The text is longer than [`Rules::TEXT_MAX_BYTES`].
    TooLong,
    /// The text is not TOML, or has missing, unknown or mistyped values.
    Syntax {
        /// Line of the text, from 1; `None` if the error concerns the text as a whole.
        line: Option<usize>,
        /// The parser's message.
        message: String,
    },
    /// The limit is 0 or above [`Rules::POINTS_MAX`].
    Limit(u32),
    /// There are more rules than [`Rules::RULES_MAX`].
    TooManyRules(usize),
    /// A rule names an unknown signal.
    UnknownSignal {
        /// Number of the rule.
        rule: usize,
        /// The name.
        name: String,
    },
    /// A rule has no threshold, or two.
    Thresholds {
        /// Number of the rule.
        rule: usize,
    },
    /// The points of a rule are 0 or above [`Rules::POINTS_MAX`].
    Points {
        /// Number of the rule.
        rule: usize,
        /// The points.
        points: u32,
    },
}

/// The table as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    limit: u32,
    #[serde(default)]
    rules: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Row {
    signal: String,
    at_least: Option<u32>,
    below: Option<u32>,
    points: u32,
}

impl Rules {
    /// Name of the mall's setting. Without the setting, the [default](Self::DEFAULT_TEXT) applies.
    pub const SETTING: &str = "judgement rules";
    /// The default rules, as text.
    pub const DEFAULT_TEXT: &str = include_str!("judgement_rules.toml");
    /// Longest text, in bytes.
    pub const TEXT_MAX_BYTES: usize = 16 * 1_024;
    /// Most rules: each costs every judged claim a comparison.
    pub const RULES_MAX: usize = 100;
    /// Most points of a rule, and the highest limit.
    pub const POINTS_MAX: u32 = 1_000_000;

    /// Reads a table of rules.
    ///
    /// # Errors
    /// [`RulesError`] with the first reason found.
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        if text.len() > Self::TEXT_MAX_BYTES {
            return Err(RulesError::TooLong);
        }
        let Table { limit, rules } = toml::from_str(text).map_err(|error| syntax_error(text, &error))?;
        if !(1..=Self::POINTS_MAX).contains(&limit) {
            return Err(RulesError::Limit(limit));
        }
        if rules.len() > Self::RULES_MAX {
            return Err(RulesError::TooManyRules(rules.len()));
        }
        let rules = (1..).zip(rules).map(|(number, row)| row.rule(number)).collect::<Result<_, _>>()?;
        Ok(Self { limit, rules })
    }

    /// Returns the score from which an attempt looks automated.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Returns the score of an attempt: the points of all rules that match. An absent signal matches none.
    #[must_use]
    pub fn score(&self, signals: &Signals) -> u32 {
        self.matching(signals).map(|rule| rule.points).sum()
    }

    /// Returns the points that a signal of an attempt gives.
    #[must_use]
    pub fn points(&self, signals: &Signals, signal: Signal) -> u32 {
        self.matching(signals).filter(|rule| rule.signal == signal).map(|rule| rule.points).sum()
    }

    /// Returns whether a rule is about a signal. Other signals need not be measured for the score.
    #[must_use]
    pub fn asks_for(&self, signal: Signal) -> bool {
        self.rules.iter().any(|rule| rule.signal == signal)
    }

    fn matching(&self, signals: &Signals) -> impl Iterator<Item = &Rule> {
        self.rules
            .iter()
            .filter(|rule| signals.get(rule.signal).is_some_and(|value| rule.threshold.is_met(value)))
    }
}

impl Default for Rules {
    fn default() -> Self {
        // A test reads the text.
        Self::parse(Self::DEFAULT_TEXT).unwrap_or(Self { limit: Self::POINTS_MAX, rules: Vec::new() })
    }
}

impl Threshold {
    fn is_met(self, value: u32) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::Below(bound) => value < bound,
        }
    }
}

impl Row {
    fn rule(self, number: usize) -> Result<Rule, RulesError> {
        let Some(signal) = Signal::of_name(&self.signal) else {
            return Err(RulesError::UnknownSignal { rule: number, name: self.signal });
        };
        let threshold = match (self.at_least, self.below) {
            (Some(least), None) => Threshold::AtLeast(least),
            (None, Some(bound)) => Threshold::Below(bound),
            _ => return Err(RulesError::Thresholds { rule: number }),
        };
        if !(1..=Rules::POINTS_MAX).contains(&self.points) {
            return Err(RulesError::Points { rule: number, points: self.points });
        }
        Ok(Rule { signal, threshold, points: self.points })
    }
}

fn syntax_error(text: &str, error: &toml::de::Error) -> RulesError {
    let line =
        error.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
    RulesError::Syntax { line, message: error.message().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Rules {
        Rules::parse(text).unwrap()
    }

    fn signals(values: &[(Signal, u32)]) -> Signals {
        values.iter().copied().collect()
    }

    #[test]
    fn points_are_summed_on_the_right_side_of_each_threshold() {
        let rules = rules(
            r#"
            limit = 50
            rules = [
                { signal = "address-users", at-least = 10, points = 30 },
                { signal = "address-users", at-least = 20, points = 5 },
                { signal = "solve-ms", below = 700, points = 20 },
            ]
            "#,
        );
        for (values, score) in [
            (&[][..], 0),
            (&[(Signal::AddressUsers, 9), (Signal::SolveMs, 700)], 0),
            (&[(Signal::AddressUsers, 10)], 30),
            (&[(Signal::AddressUsers, 20), (Signal::SolveMs, 699)], 55),
            (&[(Signal::SolveMs, 0), (Signal::UserAttempts, 99)], 20),
        ] {
            let signals = signals(values);
            assert_eq!(rules.score(&signals), score, "{values:?}");
            let points: u32 = Signal::ALL.into_iter().map(|signal| rules.points(&signals, signal)).sum();
            assert_eq!(points, score, "{values:?}");
        }
        assert_eq!(rules.limit(), 50);
        assert!(rules.asks_for(Signal::SolveMs) && !rules.asks_for(Signal::AccountHours));
    }

    #[test]
    fn no_signal_alone_looks_automated_by_the_default_rules() {
        let rules = rules(Rules::DEFAULT_TEXT);
        assert_eq!(rules, Rules::default());
        for signal in Signal::ALL {
            assert!(rules.asks_for(signal), "{signal:?}");
            for value in [0, u32::MAX] {
                assert!(rules.score(&signals(&[(signal, value)])) < rules.limit(), "{signal:?} {value}");
            }
        }
        // New customers of one school, at the very begin of a sale.
        let school = [(Signal::AddressUsers, 500), (Signal::AccountHours, 0), (Signal::PassAgeMs, 300)];
        assert!(rules.score(&signals(&school)) < rules.limit());
    }

    #[test]
    fn a_wrong_text_is_refused_with_its_place() {
        let rule = |text: &str| format!("limit = 1\n[[rules]]\n{text}");
        let row = r#"signal = "solve-ms""#;
        let syntax = |line| move |error: &RulesError| matches!(error, RulesError::Syntax { line: at, .. } if *at == line);
        type IsExpected = Box<dyn Fn(&RulesError) -> bool>;
        let cases: [(String, IsExpected); 12] = [
            ("limit =".into(), Box::new(syntax(Some(1)))),
            ("limit = 1\nlimits = 2".into(), Box::new(syntax(Some(2)))),
            ("limit = \"1\"".into(), Box::new(syntax(Some(1)))),
            (rule(&format!("{row}\nbelow = -1\npoints = 1")), Box::new(syntax(Some(4)))),
            (rule(&format!("{row}\nbelow = 1\npoints = 1\nlevel = 2")), Box::new(syntax(Some(6)))),
            ("limit = 0".into(), Box::new(|error| *error == RulesError::Limit(0))),
            ("limit = 1000001".into(), Box::new(|error| *error == RulesError::Limit(1_000_001))),
            (
                rule("signal = \"moon\"\nbelow = 1\npoints = 1"),
                Box::new(|error| *error == RulesError::UnknownSignal { rule: 1, name: "moon".into() }),
            ),
            (
                rule(&format!("{row}\npoints = 1")),
                Box::new(|error| *error == RulesError::Thresholds { rule: 1 }),
            ),
            (
                rule(&format!("{row}\nbelow = 1\nat-least = 1\npoints = 1")),
                Box::new(|error| *error == RulesError::Thresholds { rule: 1 }),
            ),
            (
                rule(&format!("{row}\nbelow = 1\npoints = 0")),
                Box::new(|error| *error == RulesError::Points { rule: 1, points: 0 }),
            ),
            ("#".repeat(Rules::TEXT_MAX_BYTES + 1), Box::new(|error| *error == RulesError::TooLong)),
        ];
        for (text, is_expected) in cases {
            let error = Rules::parse(&text).unwrap_err();
            assert!(is_expected(&error), "{text}: {error:?}");
        }
        let full =
            |count| format!("limit = 1\nrules = [{}]", "{signal='solve-ms',below=1,points=1},".repeat(count));
        assert_eq!(rules(&full(Rules::RULES_MAX)).rules.len(), Rules::RULES_MAX);
        assert_eq!(
            Rules::parse(&full(Rules::RULES_MAX + 1)),
            Err(RulesError::TooManyRules(Rules::RULES_MAX + 1))
        );
    }
}
