//! A mall from a dump of an hm-dianping database.

pub mod dump;
