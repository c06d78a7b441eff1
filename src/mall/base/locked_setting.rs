//! Settings that are read, edited and written as a whole, one edit at a time in the whole mall.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{HeldLock, LockOwner, Locker, StoreError};
use tokio::sync::OwnedMutexGuard;

use super::{Context, Failure};

/// Lease of the lock; renewed while its holder takes longer.
const LEASE: Duration = Duration::from_secs(10);

/// A lock around edits of settings. Cheap to clone.
#[derive(Clone)]
pub(in crate::mall) struct SettingLock {
    context: Context,
    name: &'static str,
    acquire_timeout: Duration,
    /// One at a time in this process.
    turns: Arc<tokio::sync::Mutex<()>>,
    locker: Arc<Locker>,
}

/// The right to write the settings behind a lock.
pub(in crate::mall) struct SettingTurn {
    context: Context,
    name: &'static str,
    held: HeldLock,
    _here: OwnedMutexGuard<()>,
}

impl SettingLock {
    /// Creates the lock `name`. Turns of other instances are waited for up to `acquire_timeout`.
    pub(in crate::mall) fn new(context: Context, name: &'static str, acquire_timeout: Duration) -> Self {
        let locker = Arc::new(Locker::new(Arc::clone(&context.storage.base.locks)));
        Self { context, name, acquire_timeout, turns: Arc::default(), locker }
    }

    /// Waits for a turn.
    ///
    /// # Errors
    /// [`Failure::Store`] if another instance keeps the lock too long, or the store fails.
    pub(in crate::mall) async fn turn(&self) -> Result<SettingTurn, Failure> {
        let here = Arc::clone(&self.turns).lock_owned().await;
        let held = self.locker.hold(self.name, LockOwner::random(), LEASE, self.acquire_timeout).await?;
        let held = held.ok_or_else(|| StoreError::Unavailable {
            op: "take the lock of a setting",
            source: format!("another instance holds the lock {}", self.name).into(),
        })?;
        Ok(SettingTurn { context: self.context.clone(), name: self.name, held, _here: here })
    }
}

impl SettingTurn {
    /// Writes a setting, unless the lock may be lost: another instance may then have written after the read
    /// of this turn, and its edit would be undone.
    ///
    /// # Errors
    /// [`Failure::Store`]: nothing was written if the lock was lost; otherwise the setting may or may not be
    /// written.
    pub(in crate::mall) async fn put(&self, setting: &str, text: &str) -> Result<(), Failure> {
        if !self.held.is_held() {
            return Err(StoreError::Unavailable {
                op: "write a locked setting",
                source: format!("the lock {} was lost", self.name).into(),
            }
            .into());
        }
        Ok(self.context.storage.base.upkeep.put_setting(setting, text).await?)
    }

    /// Ends the turn. Dropped without this call, the turn ends with its lease.
    pub(in crate::mall) async fn leave(self) {
        if let Err(error) = self.held.leave().await {
            tracing::warn!(%error, lock = self.name, "could not release a lock; it expires by itself");
        }
    }
}
