//! Posts: notes, comments and reviews, the content that users write.

use crate::{CommentId, NoteId, ReviewId};

/// Target of reports, and of likes: of these, reviews have none, but [`Votes`](crate::Votes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Post {
    /// A note, by id.
    Note(NoteId),
    /// A comment on a note, by id.
    Comment(CommentId),
    /// A review of a shop, by id.
    Review(ReviewId),
}

impl Post {
    /// Returns kind and id, as stored in a row.
    pub fn in_row(self) -> (i64, u64) {
        match self {
            Self::Note(note) => (0, note.get()),
            Self::Comment(comment) => (1, comment.get()),
            Self::Review(review) => (2, review.get()),
        }
    }

    /// Converts a stored kind and id; `None` for a kind never written.
    pub fn from_row(kind: i64, id: u64) -> Option<Self> {
        match kind {
            0 => Some(Self::Note(NoteId::new(id))),
            1 => Some(Self::Comment(CommentId::new(id))),
            2 => Some(Self::Review(ReviewId::new(id))),
            _ => None,
        }
    }

    /// Returns the table of the post. Posts with `status` 0 and 1 are visible.
    pub fn table(self) -> &'static str {
        match self {
            Self::Note(_) => "notes",
            Self::Comment(_) => "note_comments",
            Self::Review(_) => "reviews",
        }
    }
}
