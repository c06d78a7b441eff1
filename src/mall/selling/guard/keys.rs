//! Keys under which device tickets, challenges and passes are signed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{StoreError, Timestamp, Upkeep};
use parking_lot::Mutex;

use crate::mall::base::Random;
use crate::mall::base::kept_secret::kept_secret;

/// Time for which a key signs. It is taken for one period more.
pub(super) const PERIOD: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A key, with the number of its period as id.
#[derive(Clone)]
pub(super) struct GuardKey {
    id: u32,
    secret: Arc<[u8]>,
}

impl GuardKey {
    pub(super) fn new(id: u32, secret: &[u8]) -> Self {
        Self { id, secret: secret.into() }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn secret(&self) -> &[u8] {
        &self.secret
    }
}

/// The keys of the mall, one per period, shared by all instances: each is stored as a setting, and of several
/// instances the first decides. A token names its key.
pub(super) struct GuardKeys {
    upkeep: Arc<dyn Upkeep>,
    random: Arc<Random>,
    known: Mutex<BTreeMap<u32, GuardKey>>,
}

impl GuardKeys {
    pub(super) fn new(upkeep: Arc<dyn Upkeep>, random: Arc<Random>) -> Self {
        Self { upkeep, random, known: Mutex::default() }
    }

    /// Returns the key that signs at `now`.
    pub(super) async fn current(&self, now: Timestamp) -> Result<GuardKey, StoreError> {
        self.of_period(period(now)).await
    }

    /// Returns the key of a token at `now`. `None` for a key that is too old, or of the future. The clock of
    /// another instance may be ahead by a little.
    pub(super) async fn of_token(&self, id: u32, now: Timestamp) -> Result<Option<GuardKey>, StoreError> {
        let present = period(now);
        if id > period(now + Duration::from_secs(60)) || id < present.saturating_sub(1) {
            return Ok(None);
        }
        self.of_period(id).await.map(Some)
    }

    async fn of_period(&self, id: u32) -> Result<GuardKey, StoreError> {
        if let Some(known) = self.known.lock().get(&id) {
            return Ok(known.clone());
        }
        let name = format!("guard key {id}");
        let secret = kept_secret(&*self.upkeep, &name, || self.random.lasting_secret(&name)).await?;
        let key = GuardKey::new(id, secret.as_bytes());
        let mut known = self.known.lock();
        known.insert(id, key.clone());
        // Two periods are in use at a time, and another one while a clock is moved.
        while known.len() > 4 {
            known.pop_first();
        }
        Ok(key)
    }
}

fn period(at: Timestamp) -> u32 {
    let length = i64::try_from(PERIOD.as_millis()).unwrap_or(i64::MAX);
    u32::try_from(at.as_millis().div_euclid(length)).unwrap_or(0)
}
