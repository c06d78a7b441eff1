//! The API of writing: notes, comments, likes, feeds, reviews, votes and pictures.

pub mod bad_requests;
mod comments;
mod feeds;
mod notes;
mod picture_files;
mod recommended;
pub mod reviews;
pub mod uploads;
pub mod votes;

use super::world;
