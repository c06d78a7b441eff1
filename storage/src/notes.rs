//! Notes: users' posts about shops.

use std::collections::BTreeSet;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{NoteId, Page, ShopId, StoreError, Timestamp, UserId};

/// Contents of a note, as written by the author.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NoteText {
    /// The shop described; 0 or any other unused number for none.
    pub shop: ShopId,
    /// Title of the note.
    pub title: String,
    /// Comma-separated picture paths as used in pages, each at most 255 bytes; `""` for none.
    pub images: String,
    /// Text of the note.
    pub content: String,
}

impl NoteText {
    /// Returns the names of the pictures shown, without duplicates.
    #[must_use]
    pub fn pictures(&self) -> BTreeSet<String> {
        picture_names(&self.images)
    }
}

/// Returns the names in a comma-separated list of picture paths, without duplicates.
#[must_use]
pub fn picture_names(images: &str) -> BTreeSet<String> {
    images.split(',').map(picture_name).filter(|name| !name.is_empty()).collect()
}

/// Returns the canonical name of a picture path: `/blogs/1/2/a.jpg` for `/imgs//blogs/1/2/a.jpg`.
#[must_use]
pub fn picture_name(path: &str) -> String {
    let mut name = String::with_capacity(path.len());
    for letter in path.trim().chars() {
        if letter != '/' || !name.ends_with('/') {
            name.push(letter);
        }
    }
    match name.strip_prefix("/imgs") {
        Some(rest) if rest.starts_with('/') => rest.to_owned(),
        _ => name,
    }
}

/// Visibility of a note or comment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Visibility {
    /// Visible to everybody.
    Shown,
    /// Still visible to everybody; reported, and waiting for an operator's decision.
    Reported,
    /// Visible to nobody, by an operator's reversible decision.
    Hidden,
    /// Visible to nobody, irreversibly: the contents are erased, only the row remains.
    Deleted,
}

impl Visibility {
    /// Returns whether everybody sees the note or comment.
    #[must_use]
    pub fn is_seen(self) -> bool {
        matches!(self, Self::Shown | Self::Reported)
    }
}

/// A note with counts and visibility.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Note {
    /// Id of the note.
    pub id: NoteId,
    /// Author of the note.
    pub author: UserId,
    /// Contents of the note; empty if deleted.
    pub text: NoteText,
    /// Number of likes, imported ones included.
    pub liked: u64,
    /// Number of visible comments, imported ones included.
    pub comments: u64,
    /// Visibility of the note.
    pub visibility: Visibility,
    /// Time of writing.
    pub created: Timestamp,
    /// Time of the last change of contents or visibility.
    pub updated: Timestamp,
}

/// Notes in the database.
///
/// - Ids are assigned in ascending order and never reused. The existence of author and shop is checked by the
///   service, not here.
/// - Every change is a transaction of its own, durable when the call returns and visible to the next read by
///   any caller.
/// - A deleted note keeps its row, so that references to the note stay valid. Text and pictures are erased.
/// - If a list changes while a client pages through, a note may appear twice or be missed. A page costs as
///   much as its offset.
#[async_trait]
pub trait Notes: Send + Sync {
    /// Inserts a note, visible to everybody at once. Delivery to feed inboxes is a separate step
    /// ([`Feeds::pass_on`](crate::Feeds::pass_on)).
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing was inserted, or the response was lost.
    async fn insert(&self, author: UserId, text: &NoteText, now: Timestamp) -> Result<NoteId, StoreError>;

    /// Returns a note by id, whatever its visibility.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn get(&self, note: NoteId) -> Result<Option<Note>, StoreError>;

    /// Returns the notes with these ids, whatever their visibility, in the order of `notes`; unknown ids are
    /// left out.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn those(&self, notes: &[NoteId]) -> Result<Vec<Note>, StoreError>;

    /// Returns a page of the visible notes: most likes first, then newest, then highest id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn hot(&self, page: Page) -> Result<Vec<Note>, StoreError>;

    /// Returns a page of an author's visible notes: newest first, then highest id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn of_author(&self, author: UserId, page: Page) -> Result<Vec<Note>, StoreError>;

    /// Sets the visibility of a note, overriding earlier decisions. Returns the former visibility; `None` for
    /// an unknown note.
    ///
    /// The change closes all reports of the note, except a change to [`Visibility::Reported`].
    /// [`Visibility::Deleted`] erases the contents and is final: later calls change nothing.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_visibility(
        &self,
        note: NoteId,
        visibility: Visibility,
        now: Timestamp,
    ) -> Result<Option<Visibility>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_one_name_however_its_path_is_put() {
        for (path, name) in [
            ("/imgs/blogs/1/2/a.jpg", "/blogs/1/2/a.jpg"),
            ("/imgs//blogs//1/2/a.jpg", "/blogs/1/2/a.jpg"),
            (" /blogs/1/2/a.jpg", "/blogs/1/2/a.jpg"),
            ("//imgs/blogs/a.jpg", "/blogs/a.jpg"),
            ("/imgsy/a.jpg", "/imgsy/a.jpg"),
            ("/imgs", "/imgs"),
            ("", ""),
        ] {
            assert_eq!(picture_name(path), name, "{path}");
        }
    }

    #[test]
    fn a_note_shows_each_picture_once() {
        let images = "/imgs/blogs/b.jpg,,/imgs//blogs/b.jpg,/blogs/a.jpg,".to_owned();
        let text = NoteText { shop: ShopId::new(0), title: String::new(), images, content: String::new() };
        assert_eq!(text.pictures().into_iter().collect::<Vec<_>>(), ["/blogs/a.jpg", "/blogs/b.jpg"]);
    }
}
