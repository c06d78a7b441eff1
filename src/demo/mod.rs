//! The demo mall: content and pictures.

pub mod catalogue;
pub mod pictures;
pub mod seed;
