//! Caches shared by several services: shops, notes, public profiles, the payment mode, the table of levels,
//! the rules of the judgement and the trusted kiosks.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    Note, NoteId, Page, PaymentMode, Post, Profile, Shop, ShopId, Storage, StoreError, Timestamp, UserId,
};
use serde::{Deserialize, Serialize};

use super::cache_aside::{CacheAside, CacheMetrics, Cached, Policy};
use super::judgement_rules::Rules;
use super::kiosk_keys::Kiosks;
use super::levels::LevelTable;

/// The shared caches. Cheap to clone; clones share their state. After changing a cached value in the
/// database, invalidate the entry here.
#[derive(Clone)]
pub struct Caches {
    /// Shops by id.
    pub(in crate::mall) shops: CacheAside<Shop>,
    /// Notes with their counts, hidden and deleted notes included.
    pub(in crate::mall) notes: CacheAside<Note>,
    /// The first hot notes.
    pub(in crate::mall) hot: CacheAside<HotNotes>,
    /// Public profiles of users.
    pub(in crate::mall) people: CacheAside<PublicProfile>,
    /// Payment mode for new orders.
    pub(in crate::mall) payment: CacheAside<PaymentSetting>,
    /// Table of member levels.
    pub(in crate::mall) levels: CacheAside<LevelSetting>,
    /// Rules of the judgement.
    pub(in crate::mall) judgement: CacheAside<JudgementSetting>,
    /// Trusted kiosks.
    pub(in crate::mall) kiosks: CacheAside<KioskSetting>,
}

/// The first [`HotNotes::MAX`] visible notes, hottest first.
#[derive(Clone, Serialize, Deserialize)]
pub(in crate::mall) struct HotNotes(pub(in crate::mall) Vec<NoteId>);

impl HotNotes {
    /// The pages that most readers look at.
    pub(in crate::mall) const MAX: u32 = 30;
}

#[async_trait]
impl Cached for HotNotes {
    const KIND: &'static str = "hot-notes";
    type Id = ();

    async fn load(storage: &Storage, (): (), _: Timestamp) -> Result<Option<Self>, StoreError> {
        let notes = storage.writing.notes.hot(Page::new(1, Self::MAX)).await?;
        Ok(Some(Self(notes.into_iter().map(|note| note.id).collect())))
    }
}

/// The payment mode as stored: perhaps a newer version's mode, unknown to this version.
#[derive(Clone, Serialize, Deserialize)]
pub(in crate::mall) struct PaymentSetting(pub(in crate::mall) Option<String>);

#[async_trait]
impl Cached for PaymentSetting {
    const KIND: &'static str = "payment-mode";
    type Id = ();

    async fn load(storage: &Storage, (): (), _: Timestamp) -> Result<Option<Self>, StoreError> {
        Ok(Some(Self(storage.base.upkeep.setting(PaymentMode::SETTING).await?)))
    }
}

/// The table of levels as stored.
#[derive(Clone, Serialize, Deserialize)]
pub(in crate::mall) struct LevelSetting(pub(in crate::mall) Option<String>);

#[async_trait]
impl Cached for LevelSetting {
    const KIND: &'static str = "level-table";
    type Id = ();

    async fn load(storage: &Storage, (): (), _: Timestamp) -> Result<Option<Self>, StoreError> {
        Ok(Some(Self(storage.base.upkeep.setting(LevelTable::SETTING).await?)))
    }
}

/// The rules of the judgement as stored.
#[derive(Clone, Serialize, Deserialize)]
pub(in crate::mall) struct JudgementSetting(pub(in crate::mall) Option<String>);

#[async_trait]
impl Cached for JudgementSetting {
    const KIND: &'static str = "judgement-rules";
    type Id = ();

    async fn load(storage: &Storage, (): (), _: Timestamp) -> Result<Option<Self>, StoreError> {
        Ok(Some(Self(storage.base.upkeep.setting(Rules::SETTING).await?)))
    }
}

/// The trusted kiosks as stored.
#[derive(Clone, Serialize, Deserialize)]
pub(in crate::mall) struct KioskSetting(pub(in crate::mall) Option<String>);

#[async_trait]
impl Cached for KioskSetting {
    const KIND: &'static str = "kiosks";
    type Id = ();

    async fn load(storage: &Storage, (): (), _: Timestamp) -> Result<Option<Self>, StoreError> {
        Ok(Some(Self(storage.base.upkeep.setting(Kiosks::SETTING).await?)))
    }
}

/// The public profile of a user.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(in crate::mall) struct PublicProfile {
    pub(in crate::mall) nick_name: String,
    /// Path of the profile picture, `""` if none.
    pub(in crate::mall) icon: String,
    /// The user's own description.
    pub(in crate::mall) card: Profile,
    /// Whether the account is deleted. Absent in copies written by older instances.
    #[serde(default)]
    pub(in crate::mall) is_deleted: bool,
    /// Time of registration. Absent in copies written by older instances.
    #[serde(default)]
    pub(in crate::mall) created: Option<Timestamp>,
}

#[async_trait]
impl Cached for Shop {
    const KIND: &'static str = "shop";
    type Id = ShopId;

    async fn load(storage: &Storage, shop: ShopId, _: Timestamp) -> Result<Option<Self>, StoreError> {
        storage.catalogue.shops.get(shop).await
    }
}

#[async_trait]
impl Cached for Note {
    const KIND: &'static str = "note";
    type Id = NoteId;

    async fn load(storage: &Storage, note: NoteId, _: Timestamp) -> Result<Option<Self>, StoreError> {
        storage.writing.notes.get(note).await
    }
}

#[async_trait]
impl Cached for PublicProfile {
    const KIND: &'static str = "person";
    type Id = UserId;

    async fn load(storage: &Storage, user: UserId, _: Timestamp) -> Result<Option<Self>, StoreError> {
        let (Some(is), Some(card)) =
            (storage.people.users.get(user).await?, storage.people.users.card(user).await?)
        else {
            return Ok(None);
        };
        let is_deleted = is.deleted.is_some();
        let created = Some(is.created);
        Ok(Some(Self { nick_name: is.nick_name, icon: is.icon, card, is_deleted, created }))
    }
}

impl Caches {
    /// Creates empty caches over `storage`.
    #[must_use]
    pub fn of(storage: &Storage) -> Self {
        // Each reader of a much-read note also sees the number of likes, and many of the readers like the
        // note.
        let (fresh, stale) = (Duration::from_secs(5), Duration::from_secs(30));
        let notes = Policy { fresh, stale, ..Policy::default() };
        // No single user is read often enough to need a distributed lock between instances.
        let people = Policy { turns: false, ..Policy::default() };
        // Bounds how long buyers can use a mode or a table changed by another instance, even if the message
        // is lost.
        let payment = Policy { fresh, stale: Duration::ZERO, turns: false, ..Policy::default() };
        Self {
            shops: CacheAside::new(storage, Policy::default()),
            notes: CacheAside::new(storage, notes),
            // Each like may change the order.
            hot: CacheAside::new(storage, Policy { turns: false, ..notes }),
            people: CacheAside::new(storage, people),
            payment: CacheAside::new(storage, payment),
            levels: CacheAside::new(storage, payment),
            judgement: CacheAside::new(storage, payment),
            kiosks: CacheAside::new(storage, payment),
        }
    }

    /// Invalidates the cached note and the order of the hot notes if `post` is a note. Comments are not
    /// cached.
    pub(in crate::mall) async fn changed(&self, post: Post) {
        if let Post::Note(note) = post {
            self.notes.changed(&[note]).await;
            self.hot.changed(&[()]).await;
        }
    }

    /// Returns the metrics of these caches, except shops: `Shops` reports
    /// them.
    #[must_use]
    pub(in crate::mall) fn figures(&self) -> [Arc<CacheMetrics>; 7] {
        [
            self.notes.figures(),
            self.hot.figures(),
            self.people.figures(),
            self.payment.figures(),
            self.levels.figures(),
            self.judgement.figures(),
            self.kiosks.figures(),
        ]
    }
}
