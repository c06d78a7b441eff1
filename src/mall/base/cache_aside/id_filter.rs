//! Bloom filters of existing ids.

use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use fastbloom::BloomFilter;
use mallbox_storage::{NoteId, ShopId, Storage, StoreError, UserId, VoucherId};
use parking_lot::RwLock;

/// The id of a cached value.
pub trait CacheId: Copy + Eq + Hash + Send + Sync + 'static {
    /// Returns the id as a number.
    fn number(self) -> u64;
}

/// An id that can be listed and is assigned in rising order.
#[async_trait]
pub trait Listed: CacheId {
    /// Returns at most `max` existing ids above `number`, in rising order.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    async fn above(storage: &Storage, number: u64, max: u32) -> Result<Vec<Self>, StoreError>;
}

impl CacheId for () {
    fn number(self) -> u64 {
        0
    }
}

macro_rules! numbers {
    ($($Id:ident),+) => {$(
        impl CacheId for $Id {
            fn number(self) -> u64 {
                self.get()
            }
        }
    )+};
}

macro_rules! listed {
    ($($Id:ident in $port:ident),+) => {$(
        #[async_trait]
        impl Listed for $Id {
            async fn above(storage: &Storage, number: u64, max: u32) -> Result<Vec<Self>, StoreError> {
                storage.catalogue.$port.ids(Self::new(number), max).await
            }
        }
    )+};
}

numbers! { ShopId, VoucherId, NoteId, UserId }
listed! { ShopId in shops, VoucherId in vouchers }

/// A Bloom filter of existing ids: false positives are possible, false negatives are not. Cheap to clone;
/// clones share their state.
///
/// Ids newer than the last fill always pass, so additions need no notification, neither here nor from other
/// instances. Deleted ids pass until the next fill.
#[derive(Clone)]
pub struct IdFilter<I: Listed> {
    /// `None` before the first fill: every id passes.
    filled: Arc<RwLock<Option<Filled>>>,
    of: PhantomData<I>,
}

struct Filled {
    bloom: BloomFilter,
    /// Every existing id up to this one is certainly in the filter.
    up_to: u64,
}

/// False-positive rate of the Bloom filter.
const FALSE_POSITIVE_RATE: f64 = 0.01;
/// Ids assigned at the same time may become visible out of order. This number of newest ids always passes:
/// far more than there are concurrent transactions.
const NEWEST_ALWAYS_PASS: u64 = 1_024;

impl<I: Listed> Default for IdFilter<I> {
    fn default() -> Self {
        Self { filled: Arc::default(), of: PhantomData }
    }
}

impl<I: Listed> IdFilter<I> {
    /// Returns whether the id may exist.
    #[must_use]
    pub fn may_be(&self, id: I) -> bool {
        let number = id.number();
        self.filled
            .read()
            .as_ref()
            .is_none_or(|filled| number > filled.up_to || filled.bloom.contains(&number))
    }

    /// Replaces the filter with the ids that exist now. Memory per id: 8 bytes during the fill, 1.2 bytes
    /// afterwards.
    ///
    /// # Errors
    /// [`StoreError`]: the filter is unchanged.
    pub async fn fill(&self, storage: &Storage) -> Result<(), StoreError> {
        /// Ids per read.
        const PAGE: u32 = 20_000;
        let mut numbers: Vec<u64> = Vec::new();
        loop {
            let last = numbers.last().copied().unwrap_or(0);
            let page = I::above(storage, last, PAGE).await?;
            numbers.extend(page.iter().map(|id| id.number()));
            if page.len() < PAGE as usize {
                break;
            }
        }
        let up_to = numbers.last().copied().unwrap_or(0).saturating_sub(NEWEST_ALWAYS_PASS);
        let bloom = BloomFilter::with_false_pos(FALSE_POSITIVE_RATE).seed(&0).items(numbers.iter());
        *self.filled.write() = Some(Filled { bloom, up_to });
        Ok(())
    }
}

#[cfg(test)]
mod tests {

    use mallbox_storage::{Durability, Timestamp};
    use mallbox_storage_contract::samples;
    use mallbox_storage_embedded::EmbeddedOptions;
    use tokio::task::JoinSet;

    use super::*;

    /// More vouchers than the newest ids that always pass.
    const VOUCHERS: u64 = NEWEST_ALWAYS_PASS + 500;

    async fn add(storage: &Storage, vouchers: u64) {
        let text = samples::voucher();
        let mut inserts = JoinSet::new();
        for _ in 0..vouchers {
            let (storage, text) = (storage.clone(), text.clone());
            inserts.spawn(async move {
                storage.catalogue.vouchers.insert(&text, None, Timestamp::from_millis(0)).await
            });
        }
        assert!(inserts.join_all().await.iter().all(Result::is_ok));
    }

    #[tokio::test]
    async fn what_is_there_always_passes_and_most_of_what_is_not_there_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let options = EmbeddedOptions { durability: Durability::Memory, ..EmbeddedOptions::new(dir.path()) };
        let storage = mallbox_storage_embedded::open(options).await.unwrap();
        let filter = IdFilter::<VoucherId>::default();
        assert!(filter.may_be(VoucherId::new(7)), "nothing is known yet");
        filter.fill(&storage).await.unwrap();
        assert!(!filter.may_be(VoucherId::new(0)) && filter.may_be(VoucherId::new(1)), "one may come");

        add(&storage, VOUCHERS).await;
        for _ in 0..2 {
            assert!((1..=VOUCHERS + 5).all(|id| filter.may_be(VoucherId::new(id))));
            filter.fill(&storage).await.unwrap();
        }
        // Simulates the deletion of all other vouchers.
        let few = [3_u64, 5];
        let bloom = BloomFilter::with_false_pos(FALSE_POSITIVE_RATE).seed(&0).items(few.iter());
        *filter.filled.write() = Some(Filled { bloom, up_to: VOUCHERS - NEWEST_ALWAYS_PASS });
        let passed =
            (0..=VOUCHERS - NEWEST_ALWAYS_PASS).filter(|id| filter.may_be(VoucherId::new(*id))).count();
        assert!((2..50).contains(&passed), "{passed}");
        filter.fill(&storage).await.unwrap();
        assert!((1..=VOUCHERS).all(|id| filter.may_be(VoucherId::new(id))), "those that came back");
        storage.base.upkeep.close().await.unwrap();
    }
}
