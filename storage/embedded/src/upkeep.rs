//! The [`Upkeep`] port.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    Durability, Health, PageFindings, PartHealth, Recovery, StoreError, Timestamp, Upkeep,
};

use super::codes::EmbeddedCodes;
use super::journal::{Journal, WriteBlock};
use super::lock::DirLock;
use super::pending::Pending;
use super::rate_limits::EmbeddedRateLimits;
use super::sessions::EmbeddedSessions;
use super::sqlite::Database;

/// Interval of the sweep for expired sessions, codes and rate limits, in milliseconds: a sweep visits every
/// session.
const SWEEP_EVERY_MS: i64 = 60_000;

pub(crate) struct EmbeddedUpkeep {
    pub(crate) journal: Arc<Journal>,
    pub(crate) pending: Arc<Pending>,
    pub(crate) codes: Arc<EmbeddedCodes>,
    pub(crate) sessions: Arc<EmbeddedSessions>,
    pub(crate) rate_limits: Arc<EmbeddedRateLimits>,
    pub(crate) database: Database,
    pub(crate) durability: Durability,
    pub(crate) swept_ms: AtomicI64,
    pub(crate) recovery: Option<Recovery>,
    /// Held while any file of the mall is open.
    pub(crate) lock: DirLock,
}

/// Setting for a clean stop: `<last commit> <claims pending>`, empty while the mall runs.
pub(crate) const STOP: &str = "order-log.stop";

impl EmbeddedUpkeep {
    fn database_troubles(&self) -> Vec<String> {
        let damaged = self.database.page_findings().unwrap_or_default().damaged;
        let of_pages = (damaged > 0).then(|| {
            format!(
                "the database is damaged: {damaged} pages do not match their checksums. Stop the mall and restore the \
                 directory from a backup, or start it again: a start names the pages"
            )
        });
        self.database.trouble().into_iter().chain(of_pages).collect()
    }
}

#[async_trait]
impl Upkeep for EmbeddedUpkeep {
    async fn health(&self) -> Health {
        let part = |name, durability: Option<Durability>, trouble: Option<String>| PartHealth {
            name,
            address: None,
            durability: durability.map(Durability::name),
            troubles: trouble.into_iter().collect(),
            warnings: Vec::new(),
            circuits: Vec::new(),
        };
        let (full, of_log) = match self.journal.trouble() {
            Some(trouble @ WriteBlock::Full(_)) => (Some(trouble.text()), None),
            trouble => {
                let scarce = self.journal.sale_shortage().map(|detail| format!("disk nearly full: {detail}"));
                (scarce, trouble.map(|trouble| trouble.text()))
            }
        };
        let in_force = Some(self.durability);
        let parts = vec![
            PartHealth {
                warnings: self.journal.disk_warning().into_iter().collect(),
                ..part("disk", None, full)
            },
            part("order log", in_force, of_log),
            PartHealth { troubles: self.database_troubles(), ..part("SQLite", in_force, None) },
        ];
        Health {
            backend: "embedded",
            durability: self.durability,
            parts,
            pages: self.database.page_findings(),
            clock: None,
            recovery: self.recovery,
        }
    }

    async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        let last = self.swept_ms.load(Ordering::Relaxed);
        if (now.as_millis() - last).abs() >= SWEEP_EVERY_MS {
            self.swept_ms.store(now.as_millis(), Ordering::Relaxed);
            self.codes.sweep(now);
            self.sessions.sweep(now);
            self.rate_limits.sweep(now);
        }
        Ok(())
    }

    async fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.database.setting(name).await
    }

    async fn put_setting(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.database.put_setting(name, value).await
    }

    async fn keep_setting(&self, name: &str, value: &str) -> Result<String, StoreError> {
        self.database.insert_setting_if_absent(name, value).await
    }

    async fn check_pages(&self) -> Result<Option<PageFindings>, StoreError> {
        self.database.check_pages().await
    }

    async fn stalled_threads(&self, patience: Duration) -> Vec<&'static str> {
        let journal = Arc::clone(&self.journal);
        let of_log = tokio::task::spawn_blocking(move || journal.is_stalled(patience));
        let of_database = tokio::time::timeout(patience, self.database.probe_writer());
        let (of_log, of_database) = tokio::join!(of_log, of_database);
        let log = of_log.unwrap_or(false).then_some("order log");
        log.into_iter().chain((of_database != Ok(true)).then_some("SQLite")).collect()
    }

    async fn close(&self) -> Result<(), StoreError> {
        let journal = Arc::clone(&self.journal);
        let closed = tokio::task::spawn_blocking(move || journal.close()).await;
        let in_order = closed.is_ok() && self.journal.trouble() == Some(WriteBlock::Closed);
        if in_order {
            let stop = format!("{} {}", self.journal.last_commit(), self.pending.len());
            self.database.put_setting(STOP, &stop).await?;
        }
        self.database.close(in_order).await?;
        if in_order {
            self.lock.note_stop();
        }
        Ok(())
    }
}
