//! Pictures uploaded by users.
//!
//! Reasons and figures: `storage/decisions/0014-uploads-as-rows.md`.

use async_trait::async_trait;

use crate::{Page, StoreError, Timestamp, UserId};

/// Format of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureKind {
    /// JPEG, stored as 1.
    Jpeg,
    /// WebP, stored as 2.
    Webp,
}

/// A picture to upload.
#[derive(Clone, PartialEq, Eq)]
pub struct NewPicture {
    /// Path requested by pages, `/blogs/1/2/….jpg`, without the prefix `/imgs`.
    pub name: String,
    /// The user who uploads.
    pub owner: UserId,
    /// Format of `content`.
    pub kind: PictureKind,
    /// The encoded picture: a few megabytes at most, since the time of a call is limited.
    pub content: Vec<u8>,
}

/// A stored picture.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// Format of `content`.
    pub kind: PictureKind,
    /// The encoded picture.
    pub content: Vec<u8>,
}

/// Number and total size of pictures: a user's usage, or quota.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PictureUsage {
    /// Number of pictures.
    pub pictures: u64,
    /// Total size in bytes.
    pub bytes: u64,
}

impl PictureUsage {
    /// Returns the usage after adding a picture of `bytes` bytes.
    #[must_use]
    pub fn with(self, bytes: usize) -> Self {
        Self { pictures: self.pictures.saturating_add(1), bytes: self.bytes.saturating_add(bytes as u64) }
    }

    /// Returns whether neither value exceeds the quota `most`.
    #[must_use]
    pub fn is_within(self, most: Self) -> bool {
        self.pictures <= most.pictures && self.bytes <= most.bytes
    }
}

/// Outcome of an upload.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PutOutcome {
    /// The picture is stored.
    Put,
    /// The upload would exceed the owner's quota; the current usage.
    NoRoom(PictureUsage),
    /// A picture with the same name exists, of any owner: choose another name.
    NameTaken,
}

/// Outcome of a removal.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemoveOutcome {
    /// The picture is removed.
    Removed,
    /// The picture stays while in use, and is then removed by a sweep.
    Shown,
    /// The picture does not exist, or belongs to another user.
    NotTheirs,
}

/// Result of a sweep.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PictureSweep {
    /// Number of pictures removed.
    pub removed: u64,
    /// Whether more pictures may be due for a check.
    pub has_more: bool,
}

/// Maximum length of a picture's name, in bytes.
const PICTURE_NAME_MAX_BYTES: usize = 255;

/// Returns whether an import registers a picture of this canonical name as a file: a path, not an external
/// address, that fits the column.
#[must_use]
pub fn is_picture_file(name: &str) -> bool {
    name.starts_with('/') && name.len() > 1 && name.len() <= PICTURE_NAME_MAX_BYTES
}

/// Uploaded pictures by name, in the database. The contents are stored there too, so that a picture exists
/// completely or not at all, and every process of a mall can serve it.
///
/// - The contents of a name never change.
/// - Every change is a transaction of its own, durable when the call returns and visible to the next read by
///   any caller.
/// - A picture is *shown* (in use) while its name appears in a row of `note_pictures` or `review_pictures`,
///   or, with or without the prefix `/imgs`, as the icon of a user or shop type or in a shop's picture list.
///   An unused picture remains for as long as it is *touched*: by [`put`](Self::put), by
///   [`keep`](Self::keep), and by a sweep that found it shown.
/// - A picture is *withheld* while hidden notes or reviews show it, and no visible note or review, user, shop
///   type or shop does.
///   [`get`](Self::get) does not return a withheld picture; nothing else differs. The change of a note's
///   visibility withholds or returns its pictures in the same transaction.
/// - A *picture file* is a picture of an imported note or user. The file is beside the database, which knows
///   the canonical name alone. The same rules withhold a picture file; besides, a file is withheld when its
///   note or user no longer shows it (the note or user was deleted, or the user has another icon), and
///   nothing else does. Other files, of a front end for example, are unknown here and never withheld, unless
///   erased.
/// - `put` enforces the quota under concurrent uploads of one owner, too. The existence of the owner is not
///   checked; but in MySQL the guarantee holds only for existing users, whose row serves as the lock.
#[async_trait]
pub trait Pictures: Send + Sync {
    /// Stores a new picture if the owner's usage then stays within `most`.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing was stored, or the response was lost. In the latter case a sweep removes
    /// the picture, since nothing shows it.
    async fn put(
        &self,
        picture: NewPicture,
        most: PictureUsage,
        now: Timestamp,
    ) -> Result<PutOutcome, StoreError>;

    /// Returns the picture with this name; `None` while the picture is withheld.
    ///
    /// Cost: next to the look-up of the name, one look-up of the notes that show the picture.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn get(&self, name: &str) -> Result<Option<Picture>, StoreError>;

    /// Touches the pictures in `names` that belong to the owner. Returns the other names, in the given order.
    /// Costs one lookup per name.
    ///
    /// # Errors
    /// Any [`StoreError`]: no picture was touched, or the response was lost; call again.
    async fn keep(&self, owner: UserId, names: &[String], now: Timestamp) -> Result<Vec<String>, StoreError>;

    /// Removes the owner's picture unless shown.
    ///
    /// # Errors
    /// Any [`StoreError`]: the picture remains, or the response was lost; call again.
    async fn remove(&self, owner: UserId, name: &str) -> Result<RemoveOutcome, StoreError>;

    /// Removes a picture of any owner, even while shown. References to the picture stay. A file with this
    /// name is withheld from then on. Returns whether the picture existed: an upload, a picture file, or any
    /// name that a row shows, and not erased before.
    ///
    /// # Errors
    /// Any [`StoreError`]: the picture remains, or the response was lost; call again.
    async fn erase(&self, name: &str, now: Timestamp) -> Result<bool, StoreError>;

    /// Returns whether the file with this canonical name is withheld. False for a name that is neither a
    /// picture file nor erased.
    ///
    /// Cost: a look-up by key; for a picture file, one more of the notes that show it.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn is_file_withheld(&self, name: &str) -> Result<bool, StoreError>;

    /// Returns a page of the picture files that may be removed from disks: erased, or given up by note or
    /// user, after `since` and at `until` or before, oldest first. Files that anything still shows are left
    /// out.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn gone_files(
        &self,
        since: Timestamp,
        until: Timestamp,
        page: Page,
    ) -> Result<Vec<String>, StoreError>;

    /// Returns the owner's usage.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn usage(&self, owner: UserId) -> Result<PictureUsage, StoreError>;

    /// Checks up to `max` pictures not touched since `untouched_since`, least recently touched first. Removes
    /// those not shown, and touches the others to postpone their next check.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn sweep(
        &self,
        untouched_since: Timestamp,
        max: u32,
        now: Timestamp,
    ) -> Result<PictureSweep, StoreError>;
}
