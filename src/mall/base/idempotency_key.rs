//! Idempotency keys chosen by callers: a repeat after a lost reply is recognised by its key.

use super::Refusal;

/// Checks a key: 1 to 64 characters without control characters; otherwise [`Refusal::BadValue`].
pub(in crate::mall) fn check_idempotency_key(name: String) -> Result<String, Refusal> {
    /// Longer than any UUID.
    const KEY_MAX_CHARS: usize = 64;
    let is_fit = (1..=KEY_MAX_CHARS).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if is_fit { Ok(name) } else { Err(Refusal::BadValue("requestId")) }
}
