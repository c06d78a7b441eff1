//! x
pub(crate) mod commit;
