//! What holds on servers alone: faults of Redis and MySQL, failovers, several instances, and ways to set
//! servers up.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary: a failure is a failed test")]

mod cache_faults;
mod events;
mod feed_faults;
mod mysql_faults;
mod mysql_import;
mod mysql_processes;
mod mysql_setups;
mod redis_epochs;
mod redis_faults;
mod redis_geo;
mod redis_instances;
mod redis_sessions;
mod redis_setups;
mod redis_world;
mod session_copies;
mod shop_copies;
mod sign_faults;
mod visit_faults;
mod world;
