//! The register of staff: one change or attempt at a time in the whole mall.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::Timestamp;

use super::pins::{Pin, PinHasher, StaffKey};
use crate::mall::base::locked_setting::{SettingLock, SettingTurn};
use crate::mall::base::staff_list::{StaffList, WrongPins};
use crate::mall::base::{Context, Failure, Refusal, StaffRefusal};
use crate::mall::people::Passwords;

/// Lock of the list of staff and of attempts with a PIN.
const LOCK: &str = "staff";
/// Longest wait for another attempt or change. Shorter than a call may take.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(1);
/// Setting with the wrong PINs by the number of the kiosk.
const WRONG_PINS: &str = "staff.wrong-pins";
/// Number in place of a kiosk's for chosen PINs that another person has: each tells the operator a PIN.
const TAKEN_PINS: u32 = 0;

/// The list of staff, and the hashes of their PINs. Cheap to clone.
#[derive(Clone)]
pub struct StaffRegister {
    context: Context,
    pins: Arc<PinHasher>,
    lock: SettingLock,
}

impl StaffRegister {
    pub(super) fn new(context: Context, passwords: Passwords, key: StaffKey) -> Self {
        let lock = SettingLock::new(context.clone(), LOCK, ACQUIRE_TIMEOUT);
        let pins = Arc::new(PinHasher::new(context.clone(), passwords, key));
        Self { context, pins, lock }
    }

    /// Returns the stored form of a PIN.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if no slot for a hash becomes free in time; [`Failure::Store`] if the secret cannot
    /// be read.
    pub(in crate::mall) async fn hash(&self, pin: &Pin) -> Result<String, Failure> {
        self.pins.hash(pin).await
    }

    /// Waits for the right to change the list, or to try a PIN.
    pub(super) async fn turn(&self) -> Result<SettingTurn, Failure> {
        self.lock.turn().await
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
        let changed = self.change_held(&turn, change).await;
        turn.leave().await;
        changed
    }

    /// Gives a person a chosen PIN, as [`change`](Self::change) does. A PIN that another person has counts as
    /// a wrong one does at a kiosk: nobody finds the PINs of others by choosing them.
    ///
    /// # Errors
    /// [`Refusal::TooManyTries`] after taken PINs, whether or not this one is taken; those of `change`.
    pub(in crate::mall) async fn change_to_chosen<T>(
        &self,
        now: Timestamp,
        change: impl FnOnce(&mut StaffList) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let turn = self.turn().await?;
        let changed = self.change_to_chosen_held(&turn, now, change).await;
        turn.leave().await;
        changed
    }

    async fn change_to_chosen_held<T>(
        &self,
        turn: &SettingTurn,
        now: Timestamp,
        change: impl FnOnce(&mut StaffList) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let attempts = self.attempts(TAKEN_PINS, now).await?;
        let changed = self.change_held(turn, change).await;
        if let Err(Failure::Refused(Refusal::Staff(StaffRefusal::PinTaken))) = changed {
            attempts.count_wrong(turn, now).await?;
        }
        changed
    }

    async fn change_held<T>(
        &self,
        turn: &SettingTurn,
        change: impl FnOnce(&mut StaffList) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut list = self.context.staff().await?;
        let changed = change(&mut list)?;
        turn.put(StaffList::SETTING, &list.to_setting()).await?;
        Ok(changed)
    }

    /// Returns the attempts at a kiosk, which does not have to wait. Within a turn.
    ///
    /// # Errors
    /// [`Refusal::TooManyTries`] if it has to wait; [`Failure::Store`]; [`Failure::Bug`].
    pub(super) async fn attempts(&self, kiosk: u32, now: Timestamp) -> Result<Attempts, Failure> {
        let text = self.context.storage.base.upkeep.setting(WRONG_PINS).await?;
        let read = text.map_or_else(|| Ok(BTreeMap::new()), |text| serde_json::from_str(&text));
        let wrong: BTreeMap<u32, WrongPins> = read
            .map_err(|error| Failure::Bug(format!("the wrong PINs are unknown to this version: {error}")))?;
        let retry_after = WrongPins::wait(wrong.get(&kiosk).copied(), now);
        if retry_after.is_zero() {
            Ok(Attempts { kiosk, wrong })
        } else {
            Err(Refusal::TooManyTries { retry_after }.into())
        }
    }
}

/// Attempts at a kiosk that does not have to wait.
pub(super) struct Attempts {
    kiosk: u32,
    wrong: BTreeMap<u32, WrongPins>,
}

impl Attempts {
    /// Counts a wrong PIN. Returns whether the kiosk has to wait from now on.
    ///
    /// # Errors
    /// [`Failure::Store`]: the outcome of the attempt must stay hidden.
    pub(super) async fn count_wrong(mut self, turn: &SettingTurn, now: Timestamp) -> Result<bool, Failure> {
        let counted = WrongPins::one_more(self.wrong.get(&self.kiosk).copied(), now);
        self.wrong.retain(|_, wrong| !wrong.is_forgiven(now));
        self.wrong.insert(self.kiosk, counted);
        turn.put(WRONG_PINS, &serde_json::to_string(&self.wrong).unwrap_or_default()).await?;
        Ok(!WrongPins::wait(Some(counted), now).is_zero())
    }
}
