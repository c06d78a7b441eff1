//! Handlers of notes, comments, likes, feeds, reports and pictures.

pub mod comments;
pub mod feeds;
pub mod likes;
pub mod notes;
mod picture_form;
pub mod pictures;
pub mod reports;
