//! Notes: what people write about shops.

use std::collections::BTreeSet;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{NoteId, Page, ShopId, StoreError, Timestamp, UserId};

/// What a person writes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NoteText {
    /// About which shop; 0 or any other number that no shop has for none.
    pub shop: ShopId,
    /// Its title.
    pub title: String,
    /// Comma-separated picture paths as pages put them, each of 255 bytes at the most; `""` for none.
    pub images: String,
    /// What it says.
    pub content: String,
}

impl NoteText {
    /// The pictures that it shows, each once.
    #[must_use]
    pub fn pictures(&self) -> BTreeSet<String> {
        self.images.split(',').map(picture_name).filter(|name| !name.is_empty()).collect()
    }
}

/// What a picture is called wherever its path stands: `/blogs/1/2/a.jpg` for `/imgs//blogs/1/2/a.jpg`.
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

/// Who gets to see a note or a comment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Visibility {
    /// Everybody.
    Shown,
    /// Everybody still: somebody reported it, and no operator has decided.
    Reported,
    /// Nobody: an operator decided so, and may decide otherwise.
    Hidden,
    /// Nobody ever again: there is nothing left but its place.
    Deleted,
}

impl Visibility {
    /// Whether everybody sees it.
    #[must_use]
    pub fn is_seen(self) -> bool {
        matches!(self, Self::Shown | Self::Reported)
    }
}

/// A note.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Note {
    /// Which.
    pub id: NoteId,
    /// Whose.
    pub author: UserId,
    /// What it says; nothing if it is deleted.
    pub text: NoteText,
    /// How often it is liked: likes that it came with from elsewhere, and those given here.
    pub liked: u64,
    /// How many comments it has that are seen: those that it came with, and those written here.
    pub comments: u64,
    /// Who gets to see it.
    pub visibility: Visibility,
    /// Since when.
    pub created: Timestamp,
    /// Last change of its text or of who gets to see it.
    pub updated: Timestamp,
}

/// Notes: part of the record.
///
/// - Ids are given in ascending order and never again. Nobody is asked whether author and shop are there: that is the
///   service's.
/// - Every change is its own transaction and durable when it answers; the next read, by whomever, sees it.
/// - A deleted note keeps its row, so that whatever refers to it still finds its place. It has no text and no pictures.
/// - A list that changes while its pages are turned may show a note twice or leave one out. A page costs what stands before
///   it.
#[async_trait]
pub trait Notes: Send + Sync {
    /// Adds a note, which everybody sees from then on. Inboxes of feeds do not have it yet.
    ///
    /// # Errors
    /// [`StoreError`]: nothing was added, or the answer was lost.
    async fn insert(&self, author: UserId, text: &NoteText, now: Timestamp) -> Result<NoteId, StoreError>;

    /// A note by id, whoever may see it.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn get(&self, note: NoteId) -> Result<Option<Note>, StoreError>;

    /// The notes of these ids, in the order in which they are asked for, whoever may see them; ids of none are left out.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn those(&self, notes: &[NoteId]) -> Result<Vec<Note>, StoreError>;

    /// Notes that are seen: the most liked first, of those with as many likes the newest, of one instant the higher id.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn hot(&self, page: Page) -> Result<Vec<Note>, StoreError>;

    /// Somebody's notes that are seen: the newest first, of one instant the higher id.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn of_author(&self, author: UserId, page: Page) -> Result<Vec<Note>, StoreError>;

    /// Decides who gets to see a note, whatever was decided before. Answers what it was; `None` for no note.
    ///
    /// What was reported of it is thereby decided, unless it is put to [`Visibility::Reported`].
    /// [`Visibility::Deleted`] empties the note and is final: no later call changes anything.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
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
