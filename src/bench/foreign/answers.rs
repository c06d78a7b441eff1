//! How the answers of a mall are told apart.

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an answer to a claim says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::bench) enum AnswerKind {
    Accepted,
    SoldOut,
    AlreadyBought,
    /// Any other answer with a status of success.
    Refused,
    /// Any other answer.
    Rejected,
}

/// A rule as written in a dialect: all of its conditions hold.
#[derive(Clone, Default, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::bench) struct Rule {
    /// Status of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bench) status: Option<u16>,
    /// JSON pointer to a value of the body, as in `/data/code`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bench) at: Option<String>,
    /// The value at the pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bench) is: Option<Value>,
    /// A text within the string at the pointer; without a pointer, within the body as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bench) contains: Option<String>,
}

impl Rule {
    /// Returns what is wrong with the rule.
    fn fault(&self) -> Option<RuleFault> {
        match self {
            Self { status: None, is: None, contains: None, .. } => Some(RuleFault::Empty),
            Self { contains: Some(text), .. } if text.is_empty() => Some(RuleFault::Empty),
            Self { at: Some(pointer), .. } if !pointer.starts_with('/') => {
                Some(RuleFault::BadPointer(pointer.clone()))
            }
            Self { at: Some(pointer), is: None, contains: None, .. } => {
                Some(RuleFault::OnlyPointer(pointer.clone()))
            }
            Self { at: None, is: Some(_), .. } => Some(RuleFault::NoPointer),
            _ => None,
        }
    }
}

/// Reason why a rule has no meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RuleFault {
    /// The list has no rule, so that nothing would count as success.
    NoRule,
    /// The rule has no condition, or an empty text.
    Empty,
    /// `at` is not a JSON pointer; the value.
    BadPointer(String),
    /// `at` without a condition on the value; the pointer.
    OnlyPointer(String),
    /// `is` without `at`.
    NoPointer,
}

/// The rules of a dialect. Refusals come first: a refusal never counts as success.
#[derive(Clone, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::bench) struct AnswerRules {
    pub(in crate::bench) sold_out: Vec<Rule>,
    pub(in crate::bench) already_bought: Vec<Rule>,
    pub(in crate::bench) accepted: Vec<Rule>,
}

impl AnswerRules {
    /// Returns the first rule without a meaning, as the name of its list, and the reason.
    pub(super) fn fault(&self) -> Option<(&'static str, RuleFault)> {
        let lists = [
            ("sold-out", &self.sold_out),
            ("already-bought", &self.already_bought),
            ("accepted", &self.accepted),
        ];
        if self.accepted.is_empty() {
            return Some(("accepted", RuleFault::NoRule));
        }
        lists.iter().find_map(|(name, rules)| Some((*name, rules.iter().find_map(Rule::fault)?)))
    }

    /// Prepares the rules for many answers.
    pub(in crate::bench) fn prepared(&self) -> PreparedRules {
        let lists = [
            (AnswerKind::SoldOut, &self.sold_out),
            (AnswerKind::AlreadyBought, &self.already_bought),
            (AnswerKind::Accepted, &self.accepted),
        ];
        let prepared = lists.into_iter().flat_map(|(kind, rules)| {
            rules.iter().map(move |rule| PreparedRule {
                kind,
                finder: rule.contains.as_ref().map(|text| Finder::new(text.as_bytes()).into_owned()),
                rule: rule.clone(),
            })
        });
        PreparedRules(prepared.collect())
    }
}

/// The rules with their search tables.
#[derive(Debug)]
pub(in crate::bench) struct PreparedRules(Vec<PreparedRule>);

#[derive(Debug)]
struct PreparedRule {
    kind: AnswerKind,
    rule: Rule,
    finder: Option<Finder<'static>>,
}

impl PreparedRules {
    /// Returns what an answer says. A body is parsed at most once, and only for a rule that looks inside.
    pub(in crate::bench) fn kind(&self, status: u16, body: &[u8]) -> AnswerKind {
        let mut parsed = None;
        let unknown = if (200..300).contains(&status) { AnswerKind::Refused } else { AnswerKind::Rejected };
        let rule = self.0.iter().find(|rule| rule.matches(status, body, &mut parsed));
        rule.map_or(unknown, |rule| rule.kind)
    }
}

impl PreparedRule {
    fn matches(&self, status: u16, body: &[u8], parsed: &mut Option<Value>) -> bool {
        if self.rule.status.is_some_and(|wanted| wanted != status) {
            return false;
        }
        let found = |text: &[u8]| self.finder.as_ref().is_none_or(|finder| finder.find(text).is_some());
        let Some(pointer) = &self.rule.at else { return found(body) };
        let parsed = parsed.get_or_insert_with(|| serde_json::from_slice(body).unwrap_or(Value::Null));
        let Some(value) = parsed.pointer(pointer) else { return false };
        self.rule.is.as_ref().is_none_or(|wanted| wanted == value)
            && (self.finder.is_none() || value.as_str().is_some_and(|text| found(text.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> AnswerRules {
        toml::from_str(text).unwrap()
    }

    const RULES: &str = r#"
        sold-out = [{ contains = "库存不足" }, { at = "/code", is = 1 }]
        already-bought = [{ at = "/msg", contains = "重复" }]
        accepted = [{ status = 200, at = "/success", is = true }]
    "#;

    #[test]
    fn a_refusal_never_counts_as_success() {
        let prepared = rules(RULES).prepared();
        for (status, body, kind) in [
            (200, r#"{"success":true,"data":7}"#, AnswerKind::Accepted),
            (200, "{ \"success\" : true }\n", AnswerKind::Accepted),
            (200, r#"{"success":true,"errorMsg":"库存不足！"}"#, AnswerKind::SoldOut),
            (409, r#"{"errorMsg":"库存不足"}"#, AnswerKind::SoldOut),
            (200, r#"{"success":true,"code":1}"#, AnswerKind::SoldOut),
            (200, r#"{"success":true,"msg":"\u91cd\u590d"}"#, AnswerKind::AlreadyBought),
            (200, r#"{"success":false,"msg":["重复"]}"#, AnswerKind::Refused),
            (200, r#"{"success":"true"}"#, AnswerKind::Refused),
            (200, r#"{"success":true"#, AnswerKind::Refused),
            (200, "", AnswerKind::Refused),
            (201, r#"{"success":true}"#, AnswerKind::Refused),
            (401, r#"{"success":true}"#, AnswerKind::Rejected),
            (302, "", AnswerKind::Rejected),
        ] {
            assert_eq!(prepared.kind(status, body.as_bytes()), kind, "{status} {body}");
        }
    }

    #[test]
    fn a_rule_without_a_meaning_is_found() {
        let accepted =
            |rule: &str| rules(&format!("sold-out=[]\nalready-bought=[]\naccepted=[{rule}]")).fault();
        let of_accepted = |fault| Some(("accepted", fault));
        assert_eq!(rules(RULES).fault(), None);
        assert_eq!(accepted("{ status = 200 }"), None);
        assert_eq!(accepted(""), of_accepted(RuleFault::NoRule));
        assert_eq!(accepted("{}"), of_accepted(RuleFault::Empty));
        assert_eq!(accepted("{ contains = '' }"), of_accepted(RuleFault::Empty));
        assert_eq!(accepted("{ is = 1 }"), of_accepted(RuleFault::NoPointer));
        assert_eq!(
            accepted("{ at = 'code', is = 1 }"),
            of_accepted(RuleFault::BadPointer("code".to_owned()))
        );
        assert_eq!(
            accepted("{ status = 1, at = '/code' }"),
            of_accepted(RuleFault::OnlyPointer("/code".to_owned()))
        );
    }
}
