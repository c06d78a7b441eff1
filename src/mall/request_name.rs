//! Names that callers give to what they ask for, so that a repeat after a lost answer is known as one.

use super::Refusal;

/// A name of 1 to 64 characters, none of them a control character; else [`Refusal::BadValue`].
pub(super) fn fit_request(name: String) -> Result<String, Refusal> {
    /// Longer than any UUID.
    const LONGEST: usize = 64;
    let is_fit = (1..=LONGEST).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if is_fit { Ok(name) } else { Err(Refusal::BadValue("requestId")) }
}
