//! Feed inboxes in memory. There are none after a start: each inbox is filled when its reader comes.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use foldhash::fast::RandomState;
use mallbox_storage::FeedEntry;
use mallbox_storage::backend::{INBOX_MAX_ENTRIES, INBOX_TTL, Inbox, Inboxes};
use mallbox_storage::{StoreError, Timestamp, UserId};
use parking_lot::Mutex;

const SHARDS: usize = 64;
/// Capacity of a shard in entries: 1 MiB, so 64 MiB for all shards. Beyond it, the inboxes filled first are
/// evicted.
const SHARD_ENTRIES_MAX: usize = 65_536;

/// Inboxes by reader.
pub(crate) struct MemoryInboxes {
    shards: [Mutex<Shard>; SHARDS],
    fillings: AtomicU64,
}

#[derive(Default)]
struct Shard {
    slots: HashMap<UserId, Slot, RandomState>,
    /// Entries of all slots together.
    entries: usize,
}

#[derive(Default)]
struct Slot {
    /// The filling in progress.
    filling: Option<u64>,
    /// End of life of a filled inbox.
    until: Option<Timestamp>,
    floor: Option<Timestamp>,
    /// Newest entry last: new entries arrive at the end.
    entries: Vec<FeedEntry>,
}

impl Slot {
    fn is_live(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| now < until)
    }

    fn add(&mut self, entry: FeedEntry) {
        if let Err(place) = self.entries.binary_search_by_key(&Reverse(entry), |held| Reverse(*held)) {
            self.entries.insert(place, entry);
        }
        if self.entries.len() > INBOX_MAX_ENTRIES as usize {
            let oldest = self.entries.remove(0);
            self.floor = self.floor.max(Some(oldest.written));
        }
    }
}

impl Shard {
    /// Changes a slot, creating an empty one if absent, and updates the entry count.
    fn change(&mut self, reader: UserId, change: impl FnOnce(&mut Slot)) {
        let slot = self.slots.entry(reader).or_default();
        let before = slot.entries.len();
        change(slot);
        self.entries = self.entries + slot.entries.len() - before;
    }

    fn remove(&mut self, reader: UserId) {
        if let Some(slot) = self.slots.remove(&reader) {
            self.entries -= slot.entries.len();
        }
    }

    /// Evicts the inboxes filled first, except `but`'s, until the shard is within [`SHARD_ENTRIES_MAX`].
    fn shrink(&mut self, but: UserId) {
        while self.entries > SHARD_ENTRIES_MAX {
            let others = self.slots.iter().filter(|(reader, _)| **reader != but);
            let Some((first, _)) = others.min_by_key(|(_, slot)| slot.until) else { return };
            let first = *first;
            self.remove(first);
        }
    }
}

impl MemoryInboxes {
    fn shard(&self, reader: UserId) -> &Mutex<Shard> {
        #[expect(clippy::cast_possible_truncation, reason = "ids are dense: any of their bits do")]
        let place = reader.get() as usize % SHARDS;
        &self.shards[place]
    }
}

impl Default for MemoryInboxes {
    fn default() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()), fillings: AtomicU64::new(0) }
    }
}

#[async_trait]
impl Inboxes for MemoryInboxes {
    async fn read(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
        now: Timestamp,
    ) -> Result<Option<Inbox>, StoreError> {
        let shard = self.shard(reader).lock();
        let slot = shard.slots.get(&reader).filter(|slot| slot.is_live(now));
        Ok(slot.map(|slot| {
            let down = slot.entries.iter().rev().skip_while(|entry| entry.written > from);
            let above = down.take_while(|entry| slot.floor.is_none_or(|floor| entry.written > floor));
            Inbox { entries: above.take(most as usize).copied().collect(), floor: slot.floor }
        }))
    }

    async fn begin(&self, reader: UserId, now: Timestamp) -> Result<u64, StoreError> {
        let filling = self.fillings.fetch_add(1, Ordering::Relaxed);
        self.shard(reader).lock().change(reader, |slot| {
            if !slot.is_live(now) && slot.filling.is_none() {
                *slot = Slot::default();
            }
            slot.filling = Some(filling);
        });
        Ok(filling)
    }

    async fn fill(
        &self,
        reader: UserId,
        filling: u64,
        inbox: &Inbox,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut shard = self.shard(reader).lock();
        if shard.slots.get(&reader).is_some_and(|slot| slot.filling == Some(filling)) {
            shard.change(reader, |slot| {
                (slot.filling, slot.until) = (None, Some(now + INBOX_TTL));
                slot.floor = slot.floor.max(inbox.floor);
                inbox.entries.iter().for_each(|entry| slot.add(*entry));
            });
            shard.shrink(reader);
        }
        Ok(())
    }

    async fn push(&self, entry: FeedEntry, readers: &[UserId], now: Timestamp) -> Result<(), StoreError> {
        for reader in readers {
            let mut shard = self.shard(*reader).lock();
            match shard.slots.get(reader) {
                None => {}
                Some(slot) if slot.is_live(now) || slot.filling.is_some() => {
                    shard.change(*reader, |slot| slot.add(entry));
                }
                Some(_) => shard.remove(*reader),
            }
        }
        Ok(())
    }

    async fn drop(&self, readers: &[UserId]) -> Result<(), StoreError> {
        readers.iter().for_each(|reader| self.shard(*reader).lock().remove(*reader));
        Ok(())
    }
}
