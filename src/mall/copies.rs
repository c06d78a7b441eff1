//! Copies of what one service reads and others change: shops, notes, people as others see them, and the payment mode.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    Card, Note, NoteId, PaymentMode, Post, Shop, ShopId, Storage, StoreError, Timestamp, UserId,
};
use serde::{Deserialize, Serialize};

use super::cache_aside::{CacheAside, CacheFigures, Cached, Policy};

/// Cheap to clone; clones are one. Whoever changes one of these in the record says so here.
#[derive(Clone)]
pub struct Copies {
    /// Shops.
    pub(super) shops: CacheAside<Shop>,
    /// Notes, whoever may see them, with their counts.
    pub(super) notes: CacheAside<Note>,
    /// People.
    pub(super) people: CacheAside<Person>,
    /// How new orders are paid for.
    pub(super) payment: CacheAside<PaymentSetting>,
}

/// The stored payment mode, as it stands: a newer version may have written one that this version does not know.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct PaymentSetting(pub(super) Option<String>);

#[async_trait]
impl Cached for PaymentSetting {
    const KIND: &'static str = "payment-mode";
    type Id = ();

    async fn load(storage: &Storage, (): (), _: Timestamp) -> Result<Option<Self>, StoreError> {
        Ok(Some(Self(storage.upkeep.setting(PaymentMode::SETTING).await?)))
    }
}

/// A person as others see them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Person {
    /// The name others see.
    pub(super) nick_name: String,
    /// Path of the picture, `""` if none.
    pub(super) icon: String,
    /// What they tell about themselves.
    pub(super) card: Card,
}

#[async_trait]
impl Cached for Shop {
    const KIND: &'static str = "shop";
    type Id = ShopId;

    async fn load(storage: &Storage, shop: ShopId, _: Timestamp) -> Result<Option<Self>, StoreError> {
        storage.shops.get(shop).await
    }
}

#[async_trait]
impl Cached for Note {
    const KIND: &'static str = "note";
    type Id = NoteId;

    async fn load(storage: &Storage, note: NoteId, _: Timestamp) -> Result<Option<Self>, StoreError> {
        storage.notes.get(note).await
    }
}

#[async_trait]
impl Cached for Person {
    const KIND: &'static str = "person";
    type Id = UserId;

    async fn load(storage: &Storage, user: UserId, _: Timestamp) -> Result<Option<Self>, StoreError> {
        let (Some(is), Some(card)) = (storage.users.get(user).await?, storage.users.card(user).await?) else {
            return Ok(None);
        };
        Ok(Some(Self { nick_name: is.nick_name, icon: is.icon, card }))
    }
}

impl Copies {
    /// Of what is stored there.
    #[must_use]
    pub fn of(storage: &Storage) -> Self {
        // A note that many read is liked by many, and all of them look at its count.
        let (fresh, stale) = (Duration::from_secs(5), Duration::from_secs(30));
        let notes = Policy { fresh, stale, ..Policy::default() };
        // Nobody is asked for by so many that instances had to take turns.
        let people = Policy { turns: false, ..Policy::default() };
        // Nobody buys by a mode that another instance changed longer ago, even if its message was lost.
        let payment = Policy { fresh, stale: Duration::ZERO, turns: false, ..Policy::default() };
        Self {
            shops: CacheAside::new(storage, Policy::default()),
            notes: CacheAside::new(storage, notes),
            people: CacheAside::new(storage, people),
            payment: CacheAside::new(storage, payment),
        }
    }

    /// A note is another than before; and what is copied of a comment, nothing, is what it was.
    pub(super) async fn changed(&self, post: Post) {
        if let Post::Note(note) = post {
            self.notes.changed(&[note]).await;
        }
    }

    /// What has been counted about them, but for shops, of which [their directory](super::ShopDirectory) tells.
    #[must_use]
    pub(super) fn figures(&self) -> [Arc<CacheFigures>; 3] {
        [self.notes.figures(), self.people.figures(), self.payment.figures()]
    }
}
