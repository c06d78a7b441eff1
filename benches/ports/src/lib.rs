//! Measurements of the storage ports on both back ends, beside the commands that tutorials use for the same
//! purpose.
//!
//! A run is a [`plan`] of parts. [`measure_part`] measures a part in a process of its own, which calls
//! [`run_part`]; so no part inherits memory of an earlier one, and a part that dies ends no run.
//! [`ProgressFile`] keeps complete parts, so that an interrupted run can be resumed.
//!
//! To add a port: a file in `ports/` with `parts` and `measure`, and a line in `catalogue.rs`.

mod bench;
mod catalogue;
mod claims;
mod content;
mod error;
mod insist;
mod load;
mod mall;
mod measurement;
mod part;
mod ports;
mod process_memory;
mod progress;
mod raw_redis;
mod run;
mod servers;
mod settings;
mod worker;

pub use catalogue::{PORTS, plan};
pub use claims::NOON;
pub use content::{follow, import, insert_kind, note, shop, users};
pub use error::{BenchError, ensure};
pub use load::{Load, Timed, drive};
pub use mall::{Keep, Mall};
pub use measurement::Measurement;
pub use part::Part;
pub use progress::{DonePart, ProgressFile, RunKey};
pub use raw_redis::RawRedis;
pub use run::measure_part;
pub use servers::{OwnServers, ServerAddresses};
pub use settings::{Effort, Settings, Side};
pub use worker::run_part;
