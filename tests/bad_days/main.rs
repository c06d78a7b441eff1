//! Failure drills: a real server process under load, a full or failing disk, disruptive clients, a shutdown
//! in the middle of a rush. Afterwards every acknowledged effect exists, every other request took effect
//! completely or not at all, and the mall has continued without a restart.
//!
//! Each drill prints its measurements (`cargo test --test bad_days -- --nocapture`). Clock jumps are tested
//! in `tests/api/selling/clock.rs`, where the clock can be set.

#[path = "../common/mod.rs"]
mod common;

mod connections;
mod directory;
mod disk_full;
mod drain;
mod drill;
mod failing_disk;
mod file_limit;
mod passwords;
mod starts;
