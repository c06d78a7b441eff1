//! One constructor function for each bundle of ports.

pub(super) mod base;
pub(super) mod catalogue;
pub(super) mod operator;
pub(super) mod people;
pub(super) mod selling;
pub(super) mod writing;
