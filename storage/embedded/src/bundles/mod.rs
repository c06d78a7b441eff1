//! One constructor function for each bundle of ports.

pub(crate) mod base;
pub(crate) mod catalogue;
pub(crate) mod operator;
pub(crate) mod people;
pub(crate) mod selling;
pub(crate) mod writing;
