//! The handlers of the API, by the areas of `mall`.

pub mod catalogue;
pub mod operator;
pub mod people;
pub mod selling;
pub mod writing;
