//! The audit log: who did what, written before the action.

use std::sync::Arc;

use mallbox_storage::{Actor, Audit, AuditCheck, AuditEntry, StoreError, Timestamp};
use serde_json::{Value, json};

use super::{Clock, Context, Failure};

/// Writes and reads the audit log. Cheap to clone.
#[derive(Clone)]
pub struct AuditLog {
    context: Context,
}

/// Maximum number of entries per page.
const PAGE: u32 = 500;
/// Name of the detail with the name of a staff member who acts.
pub const STAFF_NAME: &str = "staff";

impl AuditLog {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Logs an action about to be done. The action may start only after a successful return, and its result
    /// must pass through [`PendingAction::finish`].
    ///
    /// The entry of a staff member names the person in `detail`: the list of staff forgets people in time.
    ///
    /// `detail` must hold no password, code, token or phone number, because entries are kept for ever.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails: the action must not be done.
    pub async fn begin(
        &self,
        actor: Actor,
        action: &'static str,
        subject: String,
        mut detail: Value,
        now: Timestamp,
    ) -> Result<PendingAction, Failure> {
        let staff = self.staff_name(actor).await?;
        name_staff(&mut detail, staff.as_deref());
        let audit = Arc::clone(&self.context.storage.operator.audit);
        let entry = audit.append(now, actor, action, &subject, &detail.to_string()).await?;
        let clock = Arc::clone(&self.context.clock);
        Ok(PendingAction { entry, audit, clock, staff, is_open: true })
    }

    async fn staff_name(&self, actor: Actor) -> Result<Option<String>, Failure> {
        match actor {
            Actor::User(user) if user.staff_number().is_some() => {
                Ok(self.context.staff().await?.name(user).map(str::to_owned))
            }
            _ => Ok(None),
        }
    }

    /// Returns the newest entries, or the newest entries below `before`, newest first: at most `max`, and
    /// never more than 500.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails or an entry cannot be decoded.
    pub async fn page(&self, before: Option<u64>, max: u32) -> Result<Vec<AuditEntry>, Failure> {
        Ok(self.context.storage.operator.audit.page(before, max.min(PAGE)).await?)
    }

    /// Verifies the hash chain and reports the first broken entry.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn verify(&self) -> Result<AuditCheck, Failure> {
        Ok(self.context.storage.operator.audit.verify().await?)
    }
}

/// A logged action in progress.
///
/// Dropped without [`ended`](Self::finish), for a cancelled request, the action leaves a second entry with an
/// unknown outcome.
#[must_use = "what came of it goes through `ended`"]
pub struct PendingAction {
    entry: AuditEntry,
    audit: Arc<dyn Audit>,
    clock: Arc<dyn Clock>,
    /// Name of the staff member who acts.
    staff: Option<String>,
    is_open: bool,
}

impl PendingAction {
    /// Passes the result through. A refusal or failure is logged as a second entry with the first entry's
    /// number.
    ///
    /// # Errors
    /// The result's own. A failure to write the second entry appears only in the program's log.
    pub async fn finish<T>(mut self, result: Result<T, Failure>) -> Result<T, Failure> {
        if let Err(failure) = &result {
            let how = match failure {
                Failure::Refused(_) => "refused",
                Failure::Store(_) | Failure::Bug(_) => "failed",
            };
            let written = self.second_entry(how, Some(failure.to_string())).await;
            report(&self.entry, written);
        }
        self.is_open = false;
        result
    }

    fn second_entry(
        &self,
        how: &'static str,
        why: Option<String>,
    ) -> impl Future<Output = Result<AuditEntry, StoreError>> + Send + use<> {
        let (audit, now) = (Arc::clone(&self.audit), self.clock.now());
        let AuditEntry { number, actor, action, subject, .. } = self.entry.clone();
        let mut detail = json!({ "entry": number, "ended": how });
        if let Some(why) = why {
            detail["why"] = why.into();
        }
        name_staff(&mut detail, self.staff.as_deref());
        async move { audit.append(now, actor, &action, &subject, &detail.to_string()).await }
    }
}

impl Drop for PendingAction {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        let (first, second) = (self.entry.clone(), self.second_entry("unknown", None));
        // Without a runtime the program is about to exit.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { report(&first, second.await) });
        }
    }
}

fn name_staff(detail: &mut Value, name: Option<&str>) {
    let Some(name) = name else { return };
    if detail.is_null() {
        *detail = json!({});
    }
    if let Some(detail) = detail.as_object_mut() {
        detail.insert(STAFF_NAME.to_owned(), name.into());
    }
}

fn report(first: &AuditEntry, second: Result<AuditEntry, StoreError>) {
    if let Err(error) = second {
        let (entry, action) = (first.number, &first.action);
        tracing::error!(%error, entry, action, "could not write the outcome of an action to the audit log");
    }
}
