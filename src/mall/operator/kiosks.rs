//! Trusted kiosks, from the operator's side.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::mall::base::kiosk_keys::{Kiosk, Kiosks};
use crate::mall::base::locked_setting::{SettingLock, SettingTurn};
use crate::mall::base::{AuditLog, AuditedAction, By, Context, Failure, Random, Refusal, run_audited};

/// Lock of the list of kiosks.
const LOCK: &str = "kiosks";
/// Longest wait for a change on another instance.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// The operators' service for trusted kiosks. Cheap to clone.
#[derive(Clone)]
pub struct KioskAdmin {
    context: Context,
    audit: AuditLog,
    random: Arc<Random>,
    lock: SettingLock,
}

/// A new kiosk.
#[derive(Clone, PartialEq, Eq)]
pub struct NewKiosk {
    /// The kiosk.
    pub kiosk: Kiosk,
    /// Its key: never shown again.
    pub key: String,
}

impl KioskAdmin {
    /// Longest name, in characters.
    pub const NAME_MAX: usize = 40;

    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog, random: Arc<Random>) -> Self {
        let lock = SettingLock::new(context.clone(), LOCK, ACQUIRE_TIMEOUT);
        Self { context, audit, random, lock }
    }

    /// Returns the kiosks in the order of creation.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails; [`Failure::Bug`] if the list is unknown to this version.
    pub async fn list(&self) -> Result<Vec<Kiosk>, Failure> {
        Ok(self.stored().await?.list().to_vec())
    }

    /// Adds a kiosk, and makes its key.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for a name that is empty, too long or taken, and for too many kiosks. After
    /// [`Failure::Store`] the kiosk may or may not be in the list; its key is lost.
    pub async fn add(&self, by: By, name: &str) -> Result<NewKiosk, Failure> {
        let name = name.trim().to_owned();
        if name.is_empty() || name.chars().count() > Self::NAME_MAX {
            return Err(Refusal::BadValue("kioskName").into());
        }
        let key = self.random.token();
        let action =
            AuditedAction { action: "kiosk.add", subject: format!("kiosk {name}"), detail: json!({}) };
        let admin = self.clone();
        run_audited(&self.audit, by, action, async move {
            let kiosk = admin
                .change(|kiosks| {
                    if kiosks.has_name(&name) {
                        return Err(Refusal::BadValue("kioskNameTaken"));
                    }
                    kiosks.add(&name, &key, by.at).ok_or(Refusal::BadValue("kiosks"))
                })
                .await?;
            Ok(NewKiosk { kiosk, key })
        })
        .await
    }

    /// Removes a kiosk. Within five seconds, its key and the sessions of staff that began there are good for
    /// nothing.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]. After [`Failure::Store`] the kiosk may or may not be in the list.
    pub async fn remove(&self, by: By, id: u32) -> Result<Kiosk, Failure> {
        let action =
            AuditedAction { action: "kiosk.remove", subject: format!("kiosk {id}"), detail: json!({}) };
        let admin = self.clone();
        run_audited(&self.audit, by, action, async move {
            admin.change(|kiosks| kiosks.remove(id).ok_or(Refusal::NotFound("kiosk"))).await
        })
        .await
    }

    async fn change<T>(&self, change: impl FnOnce(&mut Kiosks) -> Result<T, Refusal>) -> Result<T, Failure> {
        let turn = self.lock.turn().await?;
        let changed = self.change_held(&turn, change).await;
        turn.leave().await;
        changed
    }

    async fn change_held<T>(
        &self,
        turn: &SettingTurn,
        change: impl FnOnce(&mut Kiosks) -> Result<T, Refusal>,
    ) -> Result<T, Failure> {
        let mut kiosks = self.stored().await?;
        let changed = change(&mut kiosks)?;
        let stored = turn.put(Kiosks::SETTING, &kiosks.to_setting()).await;
        // After an error too: the write may have happened although the reply was lost.
        self.context.copies.kiosks.changed(&[()]).await;
        stored?;
        Ok(changed)
    }

    async fn stored(&self) -> Result<Kiosks, Failure> {
        let text = self.context.storage.base.upkeep.setting(Kiosks::SETTING).await?;
        Kiosks::from_setting(text.as_deref())
            .ok_or_else(|| Failure::Bug("the list of kiosks is unknown to this version".to_owned()))
    }
}
