//! An action: written down, then done to its end.

use mallbox_storage::{Actor, Timestamp, UserId};
use serde_json::Value;

use super::AuditLog;
use crate::mall::detached::detached;
use crate::mall::{Failure, Refusal};

/// By whom, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct By {
    /// Who.
    pub actor: Actor,
    /// The mall's time.
    pub at: Timestamp,
}

impl By {
    /// An operator who is logged in.
    #[must_use]
    pub fn operator(user: UserId, at: Timestamp) -> Self {
        Self { actor: Actor::User(user), at }
    }
}

/// What is done, in the words of the audit log.
#[derive(Clone, PartialEq, Debug)]
pub struct Deed {
    /// What, in a word: `sale.pause`.
    pub action: &'static str,
    /// To what: `sale 7`.
    pub subject: String,
    /// How. No password, code, token or phone number.
    pub detail: Value,
}

/// A reason that an operator gives, if it has 1 to 200 characters; else [`Refusal::BadValue`].
pub(super) fn fit_reason(reason: String) -> Result<String, Refusal> {
    const LONGEST: usize = 200;
    let is_fit = (1..=LONGEST).contains(&reason.chars().count());
    if is_fit { Ok(reason) } else { Err(Refusal::BadValue("reason")) }
}

/// Writes the deed down, and only then begins the work, which goes on even if the caller goes away.
///
/// # Errors
/// The work's own; or the store is in trouble, and nothing was done.
pub async fn act<T: Send + 'static>(
    audit: &AuditLog,
    by: By,
    deed: Deed,
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let doing = audit.doing(by.actor, deed.action, deed.subject, deed.detail, by.at).await?;
    detached(async move { doing.ended(work.await).await }).await
}
