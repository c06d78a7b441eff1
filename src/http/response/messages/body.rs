//! The body of a refusal, constant or built at run time.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::language::Language;

/// The body of a refusal.
#[derive(Debug)]
pub(in crate::http) enum RefusalBody {
    /// A constant body built at compile time, for refusals sent thousands of times a second.
    Fixed {
        /// The stable code.
        code: &'static str,
        /// The whole body as JSON.
        body: &'static str,
    },
    /// A body built at run time.
    Made {
        /// The stable code.
        code: &'static str,
        /// The message for people.
        sentence: String,
        /// Details for programs.
        details: Details,
    },
}

impl RefusalBody {
    /// Returns code, message and details, for a refusal that is a part of a response.
    pub(in crate::http) fn into_parts(self) -> (&'static str, String, Details) {
        match self {
            Self::Fixed { code, body } => {
                let sentence = body.split_once(SENTENCE).and_then(|(_, rest)| rest.split_once(r#"","code""#));
                (code, sentence.map_or_else(String::new, |(text, _)| text.to_owned()), Details::default())
            }
            Self::Made { code, sentence, details } => (code, sentence, details),
        }
    }
}

/// Text before the message in a constant body.
const SENTENCE: &str = r#""errorMsg":""#;

/// Details of a refusal for programs.
#[derive(Default, Debug)]
pub(in crate::http) struct Details {
    /// Id of the existing order or review that the refusal is about, if any.
    pub existing: Option<u64>,
    /// The field of the body that the code concerns, if the code alone leaves a doubt.
    pub field: Option<&'static str>,
    /// The next wave of a sale without units.
    pub next_wave: Option<NextWave>,
    /// Milliseconds until a guarded sale issues passes.
    pub pass_in_ms: Option<u64>,
}

/// The next release of units, in a response. The interval is independent of the client's clock.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct NextWave {
    /// Milliseconds to the wave.
    pub in_ms: u64,
    /// Units of the wave.
    pub units: u64,
}

impl NextWave {
    /// Creates the value for a wave after this time.
    pub fn new(wave_in: Duration, units: u64) -> Self {
        Self { in_ms: millis(wave_in), units }
    }
}

/// Returns a time span in a response.
pub(in crate::http) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Builds the constant bodies of a refusal in both languages, and selects the body for the language.
macro_rules! fixed {
    ($language:expr, $code:literal, $zh:literal, $en:literal) => {
        RefusalBody::Fixed {
            code: const {
                assert!($crate::http::response::messages::is_code($code), "the code is not in CODES");
                $code
            },
            body: match $language {
                Language::Zh => {
                    concat!(r#"{"success":false,"errorMsg":""#, $zh, r#"","code":""#, $code, r#""}"#)
                }
                Language::En => {
                    concat!(r#"{"success":false,"errorMsg":""#, $en, r#"","code":""#, $code, r#""}"#)
                }
            },
        }
    };
}
pub(in crate::http) use fixed;

/// Builds a message at run time.
pub(in crate::http) fn made(language: Language, code: &'static str, zh: String, en: String) -> RefusalBody {
    detailed(language, code, (zh, en), Details::default())
}

/// Builds a message at run time, with details for programs.
pub(in crate::http) fn detailed(
    language: Language,
    code: &'static str,
    (zh, en): (String, String),
    details: Details,
) -> RefusalBody {
    let sentence = match language {
        Language::Zh => zh,
        Language::En => en,
    };
    RefusalBody::Made { code, sentence, details }
}
