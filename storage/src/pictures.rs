//! Pictures that people upload.

use async_trait::async_trait;

use crate::{StoreError, Timestamp, UserId};

/// What a picture's bytes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureKind {
    /// JPEG.
    Jpeg,
    /// WebP.
    Webp,
}

/// A picture that is uploaded.
#[derive(Clone, PartialEq, Eq)]
pub struct NewPicture {
    /// Where pages ask for it, `/blogs/1/2/….jpg`, without the `/imgs` before it.
    pub name: String,
    /// Who uploads it.
    pub owner: UserId,
    /// What its bytes are.
    pub kind: PictureKind,
    /// Its bytes: some megabytes at the most, since a call's time is short.
    pub content: Vec<u8>,
}

/// A picture as it is shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// What its bytes are.
    pub kind: PictureKind,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// How many pictures, and how many bytes they have together: what somebody has, or may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PictureRoom {
    /// Pictures.
    pub pictures: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl PictureRoom {
    /// The same with one picture more.
    #[must_use]
    pub fn with(self, bytes: usize) -> Self {
        Self { pictures: self.pictures.saturating_add(1), bytes: self.bytes.saturating_add(bytes as u64) }
    }

    /// Whether neither is more than there.
    #[must_use]
    pub fn is_within(self, most: Self) -> bool {
        self.pictures <= most.pictures && self.bytes <= most.bytes
    }
}

/// What became of an upload.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PicturePut {
    /// It is there.
    Put,
    /// The owner has this much already, and may not have so much more.
    NoRoom(PictureRoom),
    /// There is a picture of this name, by whomever: take another name.
    NameTaken,
}

/// What became of a removal.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureRemoval {
    /// It is gone.
    Removed,
    /// It stays for as long as something shows it, and is then swept.
    Shown,
    /// There is none of this name, or it is somebody else's.
    NotTheirs,
}

/// What a sweep did.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PictureSweep {
    /// Pictures that are gone.
    pub removed: u64,
    /// Whether there may be more to look at.
    pub has_more: bool,
}

/// Uploads by name: part of the record, their bytes too, so that a picture is there whole or not at all and every process
/// of a mall shows it.
///
/// - What a name shows never changes.
/// - Every change is its own transaction and durable when it answers; the next read, by whomever, sees it.
/// - A picture is *shown* while a row of `note_pictures`, the icon of a user or of a kind of shops, or a shop's list of
///   pictures has its name, all but the first with or without `/imgs` before it. One that is not shown stays for as long as it is *touched*: by
///   [`put`](Self::put), [`keep`](Self::keep), and by a sweep that found it shown.
/// - `put` holds of a rush of one owner too: they never have more than they may. Nobody is asked whether an owner is a user,
///   but in MySQL only those who are have that promise: their row is the lock.
#[async_trait]
pub trait Pictures: Send + Sync {
    /// A new picture, if with it the owner has no more than `most`.
    ///
    /// # Errors
    /// [`StoreError`]: it is not there, or the answer was lost; then it is swept, since nothing shows it.
    async fn put(
        &self,
        picture: NewPicture,
        most: PictureRoom,
        now: Timestamp,
    ) -> Result<PicturePut, StoreError>;

    /// The picture of this name.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn get(&self, name: &str) -> Result<Option<Picture>, StoreError>;

    /// Touches those of these that are the owner's, and answers which are not, in the order given. Costs a look each.
    ///
    /// # Errors
    /// [`StoreError`]: none is touched, or the answer was lost; call again.
    async fn keep(&self, owner: UserId, names: &[String], now: Timestamp) -> Result<Vec<String>, StoreError>;

    /// Removes the owner's picture unless it is shown.
    ///
    /// # Errors
    /// [`StoreError`]: it stays, or the answer was lost; call again.
    async fn remove(&self, owner: UserId, name: &str) -> Result<PictureRemoval, StoreError>;

    /// What somebody has.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn usage(&self, owner: UserId) -> Result<PictureRoom, StoreError>;

    /// Looks at up to `max` pictures that were not touched after `untouched_since`, the longest untouched first: removes those
    /// that are not shown, and touches the others, so that they are not looked at again for as long.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn sweep(
        &self,
        untouched_since: Timestamp,
        max: u32,
        now: Timestamp,
    ) -> Result<PictureSweep, StoreError>;
}
