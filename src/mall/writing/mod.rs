//! Notes, comments, likes, feeds and pictures.

pub mod decisions;
pub mod feeds;
pub mod likes;
pub mod notes;
pub mod pictures;

pub use feeds::Feeds;
pub use likes::Likes;
pub use notes::{Comments, Notes};
pub use pictures::Pictures;
