//! The body of a refusal, constant or built at run time.

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
        /// Id of the existing order or review that the refusal is about, if any.
        existing: Option<u64>,
        /// The field of the body that the code concerns, if the code alone leaves a doubt.
        field: Option<&'static str>,
    },
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
    let sentence = match language {
        Language::Zh => zh,
        Language::En => en,
    };
    RefusalBody::Made { code, sentence, existing: None, field: None }
}
