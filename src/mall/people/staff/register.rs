//! The register of staff: one change or attempt at a time in the whole mall.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{HeldLock, LockOwner, Locker, StoreError};
use tokio::sync::OwnedMutexGuard;

use super::pins::{Pin, PinHasher, StaffKey};
use crate::mall::base::staff_list::StaffList;
use crate::mall::base::{Context, Failure};
use crate::mall::people::Passwords;

/// Lock of the list of staff and of attempts with a PIN.
const LOCK: &str = "staff";
/// Lease of the lock; renewed while its holder takes longer.
const LEASE: Duration = Duration::from_secs(10);
/// Longest wait for another attempt or change. Shorter than a call may take.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(1);

/// The list of staff, and the hashes of their PINs. Cheap to clone.
#[derive(Clone)]
pub struct StaffRegister {
    context: Context,
    pins: Arc<PinHasher>,
    /// One at a time in this process.
    turns: Arc<tokio::sync::Mutex<()>>,
    locker: Arc<Locker>,
}

/// The right to change the list, or to try a PIN.
pub(super) struct RegisterTurn {
    held: HeldLock,
    _here: OwnedMutexGuard<()>,
}

impl RegisterTurn {
    /// Ends the turn. Dropped without this call, the turn ends with its lease.
    pub(super) async fn leave(self) {
        if let Err(error) = self.held.leave().await {
            tracing::warn!(%error, "could not release the lock of the staff; it expires by itself");
        }
    }
}

impl StaffRegister {
    pub(super) fn new(context: Context, passwords: Passwords, key: StaffKey) -> Self {
        let locker = Arc::new(Locker::new(Arc::clone(&context.storage.base.locks)));
        let pins = Arc::new(PinHasher::new(context.clone(), passwords, key));
        Self { context, pins, turns: Arc::default(), locker }
    }

    /// Returns the stored form of a PIN.
    ///
    /// # Errors
    /// [`Refusal::Busy`](crate::mall::Refusal::Busy) if no slot for a hash becomes free in time;
    /// [`Failure::Store`] if the secret cannot be read.
    pub(in crate::mall) async fn hash(&self, pin: &Pin) -> Result<String, Failure> {
        self.pins.hash(pin).await
    }

    /// Waits for a turn.
    pub(super) async fn turn(&self) -> Result<RegisterTurn, Failure> {
        let here = Arc::clone(&self.turns).lock_owned().await;
        let held = self.locker.hold(LOCK, LockOwner::random(), LEASE, ACQUIRE_TIMEOUT).await?;
        let held = held.ok_or_else(|| StoreError::Unavailable {
            op: "take the lock of the staff",
            source: "another instance holds the lock".into(),
        })?;
        Ok(RegisterTurn { held, _here: here })
    }

    /// Changes the list.
    ///
    /// # Errors
    /// Those of `change`. After [`Failure::Store`] the list may or may not be changed.
    pub(in crate::mall) async fn change<T>(
        &self,
        change: impl FnOnce(&mut StaffList) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let turn = self.turn().await?;
        let changed = self.change_held(change).await;
        turn.leave().await;
        changed
    }

    async fn change_held<T>(
        &self,
        change: impl FnOnce(&mut StaffList) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut list = self.context.staff().await?;
        let changed = change(&mut list)?;
        self.context.storage.base.upkeep.put_setting(StaffList::SETTING, &list.to_setting()).await?;
        Ok(changed)
    }
}
