//! Pages and pictures: every path outside the API.

pub mod files;
pub mod own_pages;
