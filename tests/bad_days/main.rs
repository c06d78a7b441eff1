//! Bad days, one drill each: a real server process under load, a disk that is full or failing, clients that are in the way,
//! a stop in the middle of a rush. Afterwards nothing that was answered is missing, what was not answered is wholly there
//! or wholly absent, and the mall has gone on without a restart.
//!
//! Each drill prints its figures (`cargo test --test bad_days -- --nocapture`). A clock that jumps is in `tests/api/clock.rs`,
//! where it can be set.

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
