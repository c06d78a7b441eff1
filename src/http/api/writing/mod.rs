//! Handlers of notes, comments, likes, feeds, reviews, reports and pictures.

pub mod comments;
pub mod feeds;
pub mod likes;
pub mod notes;
mod picture_form;
pub mod pictures;
pub mod reports;
pub(in crate::http) mod review_answer;
pub mod reviews;
