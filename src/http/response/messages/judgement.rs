//! Messages about the judgement of claims.

use super::body::{RefusalBody, made};
use crate::language::Language;
use crate::mall::base::judgement_rules::{Rules, RulesError};

/// Returns the message for a text that is no table of rules.
pub(super) fn of_rules_error(error: &RulesError, l: Language) -> RefusalBody {
    let (zh, en) = match error {
        RulesError::TooLong => {
            let most = Rules::TEXT_MAX_BYTES / 1_024;
            (format!("规则不能超过{most} KiB"), format!("the rules exceed {most} KiB"))
        }
        RulesError::Syntax { line: Some(line), message } => {
            (format!("第{line}行：{message}"), format!("line {line}: {message}"))
        }
        RulesError::Syntax { line: None, message } => (message.clone(), message.clone()),
        RulesError::Limit(limit) => (
            format!("limit须为1到{}，现在是{limit}", Rules::POINTS_MAX),
            format!("limit: expected 1 to {}, found {limit}", Rules::POINTS_MAX),
        ),
        RulesError::TooManyRules(count) => (
            format!("规则最多{}条，现在有{count}条", Rules::RULES_MAX),
            format!("expected at most {} rules, found {count}", Rules::RULES_MAX),
        ),
        RulesError::UnknownSignal { rule, name } => (
            format!("第{rule}条规则：没有名为“{name}”的信号"),
            format!("rule {rule}: there is no signal “{name}”"),
        ),
        RulesError::Thresholds { rule } => (
            format!("第{rule}条规则：at-least和below须写一个，且只写一个"),
            format!("rule {rule}: expected either at-least or below"),
        ),
        RulesError::Points { rule, points } => (
            format!("第{rule}条规则：points须为1到{}，现在是{points}", Rules::POINTS_MAX),
            format!("rule {rule}: points: expected 1 to {}, found {points}", Rules::POINTS_MAX),
        ),
    };
    made(l, "BAD_REQUEST", format!("规则有误：{zh}"), format!("Bad rules: {en}."))
}
