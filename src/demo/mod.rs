//! The demo mall: what is in it, and what it looks like.

pub mod catalogue;
pub mod pictures;
pub mod seed;
