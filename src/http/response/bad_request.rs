//! Malformed requests: the wrong value, and the expected value.

use std::fmt;

use serde::de;

use crate::language::{Bilingual, BilingualText, Language, both, sentence};

/// A mistake in a request. Stored without text, so that the message can be rendered in each language.
#[derive(Debug)]
pub enum BadRequest {
    /// The body is empty.
    EmptyBody,
    /// The body is incomplete.
    CutOff,
    /// The body is not JSON.
    NotJson(serde_json::Error),
    /// The body is JSON, but not an object; the kind of the value.
    NotAnObject(Bilingual),
    /// A value in the path is not UTF-8.
    NotUtf8(String),
    /// A parameter occurs twice.
    Twice(&'static str),
    /// A required field is missing.
    Missing(&'static str),
    /// A value of the wrong type or range.
    Value {
        /// The parameter or field.
        name: String,
        /// The expected value.
        expected: Expected,
        /// The actual value in serde's words: integer `1`.
        got: Option<String>,
    },
    /// Any other mistake, as a constant message.
    Constant(Bilingual),
    /// Any other mistake, as a formatted message.
    Formatted(BilingualText),
    /// A library's message, in its only language.
    Untranslated(String),
}

/// The expected kind of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expected {
    /// A whole number from 0 to this maximum.
    Within(u64),
    /// A whole number.
    Whole,
    /// A number, whole or not.
    Number,
    /// `true` or `false`.
    TrueOrFalse,
    /// Text of any kind.
    Text,
    /// A word from this list, in serde's format.
    OneOf(String),
    /// Any other expectation, in serde's words.
    Untranslated(String),
}

impl Expected {
    /// Maps a Rust type, or serde's name of the type, to an expectation for the client. A range is included,
    /// because a number out of range is as wrong as a word.
    pub(in crate::http) fn of(type_name: &str) -> Self {
        match type_name {
            "u8" => Self::Within(u8::MAX.into()),
            "u16" => Self::Within(u16::MAX.into()),
            "u32" => Self::Within(u32::MAX.into()),
            "u64" => Self::Within(u64::MAX),
            "i8" | "i16" | "i32" | "i64" => Self::Whole,
            "f32" | "f64" => Self::Number,
            "bool" | "a boolean" => Self::TrueOrFalse,
            "a string" | "str" => Self::Text,
            other if other.contains('`') => Self::OneOf(other.trim_start_matches("one of ").to_owned()),
            other => Self::Untranslated(other.to_owned()),
        }
    }

    fn words(&self, l: Language) -> String {
        match self {
            Self::Within(most) => sentence!(l, "0到{most}的整数", "a whole number from 0 to {most}"),
            Self::Whole => sentence!(l, "整数", "a whole number"),
            Self::Number => sentence!(l, "数字", "a number"),
            Self::TrueOrFalse => sentence!(l, "true或false", "true or false"),
            Self::Text => sentence!(l, "文本", "text"),
            Self::OneOf(words) => sentence!(l, "{words}之一", "one of {words}"),
            Self::Untranslated(text) => text.clone(),
        }
    }
}

impl BadRequest {
    /// Creates a mistake in a value of a parameter still unnamed.
    pub(in crate::http) fn value(expected: Expected) -> Self {
        Self::Value { name: String::new(), expected, got: None }
    }

    /// Adds the name of the parameter.
    pub(in crate::http) fn of(self, name: &str) -> Self {
        match self {
            Self::Value { expected, got, .. } => Self::Value { name: name.to_owned(), expected, got },
            Self::Untranslated(text) => Self::Untranslated(format!("{name}: {text}")),
            other => other,
        }
    }

    /// Parses serde_json's message on a field: `invalid type: string "x", expected u64`.
    pub(in crate::http) fn in_field(name: &str, error: &str) -> Self {
        let Some((got, expected)) = error.rsplit_once(", expected ") else {
            return Self::Untranslated(format!("{name}: {error}"));
        };
        let got = got.split_once(": ").map_or(got, |(_, got)| got);
        Self::Value { name: name.to_owned(), expected: Expected::of(expected), got: Some(got.to_owned()) }
    }

    /// Renders the message for the client, without the surrounding sentence.
    pub(in crate::http) fn words(&self, l: Language) -> String {
        match self {
            Self::EmptyBody => {
                sentence!(l, "请求体为空，应为JSON对象", "the body is empty: expected a JSON object")
            }
            Self::CutOff => sentence!(l, "请求体不完整", "the body is incomplete"),
            Self::NotJson(error) => {
                let (line, column) = (error.line(), error.column());
                sentence!(l, "不是合法的JSON（第{line}行第{column}列）", "invalid JSON: {error}")
            }
            Self::NotAnObject(kind) => {
                let kind = kind.spoken(l);
                sentence!(
                    l,
                    "请求体应为JSON对象，而不是{kind}",
                    "the body: expected a JSON object, not {kind}"
                )
            }
            Self::NotUtf8(name) => sentence!(l, "{name}：不是UTF-8文本", "{name}: not UTF-8"),
            Self::Twice(name) => sentence!(l, "{name}出现了两次", "{name}: duplicate parameter"),
            Self::Missing(name) => sentence!(l, "缺少{name}", "{name}: missing"),
            Self::Value { name, expected, got } => {
                let expected = expected.words(l);
                match got.as_deref().map(|got| named(got, l)) {
                    None => sentence!(l, "{name}应为{expected}", "{name}: expected {expected}"),
                    Some(got) => sentence!(
                        l,
                        "{name}应为{expected}，而不是{got}",
                        "{name}: expected {expected}, not {got}"
                    ),
                }
            }
            Self::Constant(both) => both.spoken(l).to_owned(),
            Self::Formatted(text) => text.spoken(l).to_owned(),
            Self::Untranslated(text) => text.clone(),
        }
    }
}

/// Translates serde's word for a kind of value, which precedes the value.
fn named(got: &str, l: Language) -> String {
    const KINDS: [(&str, Bilingual); 8] = [
        ("integer", both("整数", "integer")),
        ("floating point", both("小数", "floating point")),
        ("string", both("文本", "string")),
        ("boolean", both("布尔值", "boolean")),
        ("null", both("空值", "null")),
        ("map", both("对象", "an object")),
        ("sequence", both("列表", "a list")),
        ("unknown variant", both("", "")),
    ];
    let known = KINDS.iter().find_map(|(kind, words)| Some((words, got.strip_prefix(kind)?)));
    known.map_or_else(
        || got.to_owned(),
        |(words, value)| (words.spoken(l).to_owned() + value).trim().to_owned(),
    )
}

/// Required by serde; clients get `Wrong::words`.
impl fmt::Display for BadRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words(Language::En).fmt(f)
    }
}

impl std::error::Error for BadRequest {}

impl de::Error for BadRequest {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self::Untranslated(text.to_string())
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::Twice(name)
    }

    fn missing_field(name: &'static str) -> Self {
        Self::Missing(name)
    }

    fn unknown_variant(got: &str, expected: &'static [&'static str]) -> Self {
        let words = expected.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let got = Some(format!("`{got}`"));
        Self::Value { name: String::new(), expected: Expected::OneOf(words), got }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_reported_in_both_languages() {
        let not_json = serde_json::from_str::<u8>("{").unwrap_err();
        for wrong in [
            BadRequest::EmptyBody,
            BadRequest::CutOff,
            BadRequest::NotJson(not_json),
            BadRequest::NotAnObject(both("列表", "a list")),
            BadRequest::NotUtf8("id".to_owned()),
            BadRequest::Twice("phone"),
            BadRequest::Missing("phone"),
            BadRequest::value(Expected::Whole).of("x"),
            BadRequest::in_field("x", r#"invalid type: string "east", expected f64"#),
            BadRequest::Constant(both("不行", "no")),
        ] {
            let (zh, en) = (wrong.words(Language::Zh), wrong.words(Language::En));
            assert!(!zh.is_ascii() && en.is_ascii(), "{zh} / {en}");
        }
        for type_name in ["u8", "u16", "u32", "u64", "i64", "f64", "bool", "str", "one of `a`, `b`"] {
            let expected = Expected::of(type_name);
            assert!(expected.words(Language::En).is_ascii(), "{type_name}");
            assert!(!expected.words(Language::Zh).is_ascii(), "{type_name}");
        }
    }

    #[test]
    fn what_was_found_is_named_in_the_same_language() {
        for (error, zh, en) in [
            (
                "invalid type: integer `1`, expected a string",
                "x应为文本，而不是整数 `1`",
                "x: expected text, not integer `1`",
            ),
            (
                "invalid type: map, expected a boolean",
                "x应为true或false，而不是对象",
                "x: expected true or false, not an object",
            ),
            (
                "unknown variant `c`, expected `a` or `b`",
                "x应为`a` or `b`之一，而不是`c`",
                "x: expected one of `a` or `b`, not `c`",
            ),
        ] {
            let wrong = BadRequest::in_field("x", error);
            assert_eq!((wrong.words(Language::Zh).as_str(), wrong.words(Language::En).as_str()), (zh, en));
        }
    }
}
