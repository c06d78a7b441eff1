//! The ports of writing: the database, and feed inboxes in memory.

use std::sync::Arc;

use mallbox_storage::backend::FanOutFeeds;
use mallbox_storage::{StoreError, WritingPorts};

use crate::inboxes::MemoryInboxes;
use crate::sqlite::{
    Database, EmbeddedComments, EmbeddedFeedRows, EmbeddedLikes, EmbeddedNotes, EmbeddedPictures,
    EmbeddedReports, EmbeddedReviews, EmbeddedVoteLines, EmbeddedVotes,
};

/// Creates the ports. Reads from the database whether any author has many followers.
pub(crate) fn ports(database: &Database) -> Result<WritingPorts, StoreError> {
    let feed_rows = Arc::new(EmbeddedFeedRows::load(database.clone())?);
    Ok(WritingPorts {
        notes: Arc::new(EmbeddedNotes::new(database.clone())),
        comments: Arc::new(EmbeddedComments::new(database.clone())),
        likes: Arc::new(EmbeddedLikes::new(database.clone())),
        feeds: Arc::new(FanOutFeeds::new(MemoryInboxes::default(), feed_rows)),
        reviews: Arc::new(EmbeddedReviews::new(database.clone())),
        votes: Arc::new(EmbeddedVotes::new(database.clone())),
        vote_lines: Arc::new(EmbeddedVoteLines::new(database.clone())),
        reports: Arc::new(EmbeddedReports::new(database.clone())),
        pictures: Arc::new(EmbeddedPictures::new(database.clone())),
    })
}
