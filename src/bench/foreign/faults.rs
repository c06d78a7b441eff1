//! What can be wrong in a dialect.

use super::answers::RuleFault;
use super::template::{Placeholder, RequestTemplate};

/// A dialect that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DialectError {
    /// Not TOML, or a field that is missing, unknown, or of another type.
    Syntax {
        /// Line, counted from 1, if known.
        line: Option<usize>,
        /// The parser's message.
        message: String,
    },
    /// A rule of `[answers]` without a meaning.
    Rule {
        /// The list that holds the rule.
        list: &'static str,
        /// The reason.
        fault: RuleFault,
    },
    /// A text that cannot be sent.
    Text {
        /// The field, as in `claim.path`.
        field: String,
        /// The text.
        text: String,
    },
    /// A placeholder where it has no value.
    Stranger {
        /// The part of the dialect, as in `log-in.ask`.
        part: &'static str,
        /// The placeholder, with its braces.
        placeholder: &'static str,
    },
    /// A placeholder that is missing, or that occurs twice.
    NotOnce {
        /// The part of the dialect.
        part: &'static str,
        /// The placeholder, with its braces.
        placeholder: &'static str,
    },
    /// A JSON pointer that does not begin with `/`.
    Pointer(String),
    /// The source of the login codes or of the orders is not exactly one.
    NotOneSource {
        /// The part of the dialect.
        part: &'static str,
        /// The fields to choose from.
        choice: &'static str,
    },
}

/// Returns whether a text can stand at the start of a path.
pub(super) fn is_path(text: &str) -> bool {
    text.starts_with('/')
        && !text.ends_with('/')
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"?{}".contains(&byte))
}

/// Checks a request that may hold the allowed placeholders.
pub(super) fn check_request(
    part: &'static str,
    request: &RequestTemplate,
    allowed: &[Placeholder],
) -> Result<(), DialectError> {
    if let Some((field, text)) = request.fault() {
        return Err(DialectError::Text { field: format!("{part}.{field}"), text: text.to_owned() });
    }
    request.texts().try_for_each(|text| check_placeholders(part, text, allowed))
}

pub(super) fn check_placeholders(
    part: &'static str,
    text: &str,
    allowed: &[Placeholder],
) -> Result<(), DialectError> {
    match Placeholder::stranger_in(text, allowed) {
        None => Ok(()),
        Some(stranger) => Err(DialectError::Stranger { part, placeholder: stranger.word() }),
    }
}

/// Checks a JSON pointer.
pub(super) fn check_pointer(pointer: &str) -> Result<(), DialectError> {
    if pointer.starts_with('/') { Ok(()) } else { Err(DialectError::Pointer(pointer.to_owned())) }
}
