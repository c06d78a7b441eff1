//! Notes, comments, likes, feeds, reviews, votes and pictures.

mod authors;
pub mod decisions;
pub mod feeds;
pub mod likes;
pub mod notes;
pub mod pictures;
mod post_pictures;
mod removal;
pub mod reviews;

pub use feeds::Feeds;
pub use likes::Likes;
pub use notes::{Comments, Notes};
pub use pictures::Pictures;
pub use removal::Remover;
pub use reviews::Reviews;

use mallbox_storage::{Timestamp, UserId};

use super::base::{Context, Failure};

/// Counts what a user writes: one rate limit covers notes, comments, reviews and reports.
async fn within_limit(context: &Context, user: UserId, now: Timestamp) -> Result<(), Failure> {
    context.within(context.settings.writing_limit, "write", user, now).await
}
