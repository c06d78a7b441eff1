//! Ports of writing.

pub mod comments;
pub mod feeds;
pub mod feeds_model;
pub mod likes;
pub mod notes;
pub mod picture_files;
pub mod pictures;
pub mod reports;
pub mod review_lists;
pub mod reviews;
pub mod votes;

use crate::case::Case;

/// The cases of the area, by module.
pub(crate) const CASES: &[(&str, &[Case])] = &[
    ("comments", comments::CASES),
    ("feeds", feeds::CASES),
    ("feeds_model", feeds_model::CASES),
    ("likes", likes::CASES),
    ("notes", notes::CASES),
    ("picture_files", picture_files::CASES),
    ("pictures", pictures::CASES),
    ("reports", reports::CASES),
    ("review_lists", review_lists::CASES),
    ("reviews", reviews::CASES),
    ("votes", votes::CASES),
];
