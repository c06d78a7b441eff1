//! The API of writing: notes, comments, likes, feeds and pictures.

pub mod bad_requests;
mod comments;
mod feeds;
mod notes;
mod picture_files;
pub mod uploads;

use super::world;
