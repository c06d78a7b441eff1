//! The API of writing: notes, comments, likes, feeds, reviews, votes and pictures.

pub mod bad_requests;
mod comments;
mod feeds;
mod notes;
mod picture_files;
pub mod reviews;
pub mod uploads;
mod votes;

use super::world;
