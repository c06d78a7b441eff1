//! Execution of an audited action: logged first, then run to completion.

use mallbox_storage::{Actor, Timestamp, UserId};
use serde_json::Value;

use super::AuditLog;
use super::detached::detached;
use super::{Failure, Refusal};

/// Actor and instant of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct By {
    /// Operator or command line.
    pub actor: Actor,
    /// Instant by the mall's clock.
    pub at: Timestamp,
}

impl By {
    /// Returns the actor of a logged-in operator.
    #[must_use]
    pub fn operator(user: UserId, at: Timestamp) -> Self {
        Self { actor: Actor::User(user), at }
    }

    /// Returns the user who acts, for actions at a counter.
    ///
    /// # Errors
    /// [`Failure::Bug`] for the command line, which has no such commands.
    pub(in crate::mall) fn user(self) -> Result<UserId, Failure> {
        match self.actor {
            Actor::User(user) => Ok(user),
            Actor::CommandLine => Err(Failure::Bug("an action at a counter by the command line".to_owned())),
        }
    }
}

/// An audited action, as named in the audit log.
#[derive(Clone, PartialEq, Debug)]
pub struct AuditedAction {
    /// Name of the action, such as `sale.pause`.
    pub action: &'static str,
    /// Object of the action, such as `sale 7`.
    pub subject: String,
    /// Parameters. Must hold no password, code, token or phone number.
    pub detail: Value,
}

/// Validates an operator's reason: 1 to 200 characters, else [`Refusal::BadValue`].
pub(in crate::mall) fn validate_reason(reason: String) -> Result<String, Refusal> {
    const REASON_MAX_CHARS: usize = 200;
    let is_fit = (1..=REASON_MAX_CHARS).contains(&reason.chars().count());
    if is_fit { Ok(reason) } else { Err(Refusal::BadValue("reason")) }
}

/// Logs the action, then runs `work`. The work completes even if the caller is cancelled.
///
/// # Errors
/// The work's own error. [`Failure::Store`] if the audit log cannot be written: nothing was done then.
pub async fn run_audited<T: Send + 'static>(
    audit: &AuditLog,
    by: By,
    action: AuditedAction,
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let doing = audit.begin(by.actor, action.action, action.subject, action.detail, by.at).await?;
    // On the heap: a future of the caller would contain several copies of the work.
    let work = Box::pin(work);
    detached(async move { doing.finish(work.await).await }).await
}
