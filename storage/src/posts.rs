//! What people write where others see it.

use crate::{CommentId, NoteId};

/// What is liked and what is reported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Post {
    /// A note.
    Note(NoteId),
    /// A comment on one.
    Comment(CommentId),
}

impl Post {
    /// How it stands in a row: its kind, and its id.
    pub(crate) fn in_row(self) -> (i64, u64) {
        match self {
            Self::Note(note) => (0, note.get()),
            Self::Comment(comment) => (1, comment.get()),
        }
    }

    /// `None` for a kind that nothing writes.
    pub(crate) fn from_row(kind: i64, id: u64) -> Option<Self> {
        match kind {
            0 => Some(Self::Note(NoteId::new(id))),
            1 => Some(Self::Comment(CommentId::new(id))),
            _ => None,
        }
    }

    /// The table that has it, whose `status` 0 and 1 are to be seen.
    pub(crate) fn table(self) -> &'static str {
        match self {
            Self::Note(_) => "notes",
            Self::Comment(_) => "note_comments",
        }
    }
}
