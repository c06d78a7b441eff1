//! The audit log: who did what, written before it is done.

use std::sync::Arc;

use mallbox_storage::{Actor, Audit, AuditCheck, AuditEntry, StoreError, Timestamp};
use serde_json::{Value, json};

use crate::mall::{Clock, Context, Failure};

/// Writes down what operators do, and shows it. Cheap to clone.
#[derive(Clone)]
pub struct AuditLog {
    context: Context,
}

/// Entries on a page, at the most.
const PAGE: u32 = 500;

impl AuditLog {
    /// Of this mall.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Writes down that somebody is about to do something. Only when this has answered may it be done; what came of it
    /// goes through [`Doing::ended`].
    ///
    /// `detail` must hold no password, code or token, and no phone number: the log is for ever.
    ///
    /// # Errors
    /// The store is in trouble: the action must not be done.
    pub async fn doing(
        &self,
        actor: Actor,
        action: &'static str,
        subject: String,
        detail: Value,
        now: Timestamp,
    ) -> Result<Doing, Failure> {
        let audit = Arc::clone(&self.context.storage.audit);
        let entry = audit.append(now, actor, action, &subject, &detail.to_string()).await?;
        let clock = Arc::clone(&self.context.clock);
        Ok(Doing { entry, audit, clock, is_open: true })
    }

    /// The newest entries, or those below `before`, newest first: at most `max`, and never more than 500.
    ///
    /// # Errors
    /// Only if the store is in trouble, or an entry cannot be read.
    pub async fn page(&self, before: Option<u64>, max: u32) -> Result<Vec<AuditEntry>, Failure> {
        Ok(self.context.storage.audit.page(before, max.min(PAGE)).await?)
    }

    /// Walks the chain and names the first entry that does not fit.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn verify(&self) -> Result<AuditCheck, Failure> {
        Ok(self.context.storage.audit.verify().await?)
    }
}

/// An action that is in the log and under way.
///
/// Dropped without [`ended`](Self::ended), when the request was cut off, it leaves a second entry which says that
/// nobody knows how it ended.
#[must_use = "what came of it goes through `ended`"]
pub struct Doing {
    entry: AuditEntry,
    audit: Arc<dyn Audit>,
    clock: Arc<dyn Clock>,
    is_open: bool,
}

impl Doing {
    /// Passes the result on. A refusal or failure is written down as a second entry, which names the first.
    ///
    /// # Errors
    /// The result's own. That the second entry could not be written is for the log of the program.
    pub async fn ended<T>(mut self, result: Result<T, Failure>) -> Result<T, Failure> {
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
        async move { audit.append(now, actor, &action, &subject, &detail.to_string()).await }
    }
}

impl Drop for Doing {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        let (first, second) = (self.entry.clone(), self.second_entry("unknown", None));
        // Without a runtime the program is coming to its end.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { report(&first, second.await) });
        }
    }
}

fn report(first: &AuditEntry, second: Result<AuditEntry, StoreError>) {
    if let Err(error) = second {
        let (entry, action) = (first.number, &first.action);
        tracing::error!(%error, entry, action, "how an action ended could not be written to the audit log");
    }
}
