//! Pages and pictures: every path outside the API.

pub mod files;
#[cfg(feature = "ladder")]
pub mod learn_pages;
pub mod own_pages;
