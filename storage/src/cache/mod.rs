//! What can be found out again, kept for a while so that the record need not be asked.

mod memory;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

pub(crate) use memory::Memory;

use crate::{StoreError, Timestamp};

/// What is kept: a kind of things, and which one of them. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CacheKey(Arc<str>);

impl CacheKey {
    /// Of a kind whose name is letters and `-`.
    #[must_use]
    pub fn new(kind: &str, id: u64) -> Self {
        Self(format!("{kind}:{id}").into())
    }

    /// The same as another process wrote it.
    pub(crate) fn written(text: &str) -> Self {
        Self(text.into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is kept under a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// What it is.
    pub bytes: Arc<[u8]>,
    /// First instant at which it is not kept any more.
    pub expires_at: Timestamp,
    /// Whether it was found in this process' own memory.
    pub is_near: bool,
}

/// The right to put what is read after this was handed out. It ends when the key is forgotten.
#[derive(Clone, Copy, Debug)]
pub struct CacheTicket {
    /// How often the key, or one that shares its count, was forgotten in this process.
    pub(crate) near: u64,
    /// How often it was forgotten by anybody, and since when that is known; `None` if it cannot be told.
    pub(crate) shared: Option<(u64, tokio::time::Instant)>,
}

/// What a look found.
#[derive(Clone, Debug)]
pub struct Looked {
    /// What is kept.
    pub kept: Option<Kept>,
    /// For putting something in its place.
    pub ticket: CacheTicket,
}

/// Bytes under keys, for a time. What is kept is a copy of something: it may be gone at any moment.
///
/// - An entry is live while `now < expires_at`. `now` is the caller's; what frees memory by another clock is never seen.
/// - **Nothing old comes back.** Who is to put something takes a ticket by a [`look`](Cache::look), reads the record, and
///   puts. Who changes the record forgets the key afterwards. Then whatever was read before the change is refused, however
///   long its reader took in between: [`forget`](Cache::forget) ends every ticket of the key. A ticket may end for other
///   reasons too.
/// - Several processes may share what is kept. Each may have a near copy of it in its own memory, of which the others do not
///   know. A key that one of them forgets is forgotten there at once, and elsewhere as soon as the message comes; if it is
///   lost, within 3 s of real time.
/// - What is shared may be away. Then near copies serve on for those 3 s, and nothing waits: a call that cannot be answered
///   within a quarter of a second says so, and the next ones at once.
/// - An entry of more than [`MAX_BYTES`](CacheTicket::MAX_BYTES) is not kept. Memory is bounded; what is asked for often
///   stays.
#[async_trait]
pub trait Cache: Send + Sync {
    /// What is kept under a key and live, from the nearest place.
    ///
    /// # Errors
    /// [`StoreError`]: ask the record.
    async fn get(&self, key: &CacheKey, now: Timestamp) -> Result<Option<Kept>, StoreError>;

    /// What all processes have there, without a look at near copies, and a ticket. While what is shared is away it finds
    /// nothing, and the ticket is for a near copy.
    ///
    /// # Errors
    /// [`StoreError`]: ask the record, and keep nothing.
    async fn look(&self, key: &CacheKey, now: Timestamp) -> Result<Looked, StoreError>;

    /// Keeps something in place of what was there. Answers whether it did: not if the ticket has ended.
    ///
    /// # Errors
    /// [`StoreError`]: perhaps it was kept.
    async fn put(
        &self,
        key: &CacheKey,
        ticket: CacheTicket,
        bytes: Arc<[u8]>,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Forgets keys: what they are of has changed. No key, no change.
    ///
    /// # Errors
    /// [`StoreError`]: others may still have them. This process does not serve what was there before, and goes on telling
    /// the others until they have heard.
    async fn forget(&self, keys: &[CacheKey]) -> Result<(), StoreError>;

    /// Forgets everything. A ticket of a key that was not kept may live on: for when nobody else uses the mall.
    ///
    /// # Errors
    /// [`StoreError`]: some may still be there; call again.
    async fn clear(&self) -> Result<(), StoreError>;
}

impl CacheTicket {
    /// The largest entry.
    pub const MAX_BYTES: usize = 256 << 10;
}
