//! What is measured of each port: a file per port.

pub(crate) mod cache;
pub(crate) mod claim;
pub(crate) mod deadlines;
pub(crate) mod feed;
pub(crate) mod follows;
pub(crate) mod geo;
pub(crate) mod ids;
pub(crate) mod likes;
pub(crate) mod locks;
pub(crate) mod order_log;
pub(crate) mod rate_limits;
pub(crate) mod sessions;
pub(crate) mod sign_ins;
pub(crate) mod visitors;
pub(crate) mod votes;
