//! The business rules, one area a file. Nothing here sees sled, SQL or axum.

mod clock;
mod context;
mod failure;
mod settings;

pub mod sales;

mod order_numbers;
mod sale_gate;
mod sale_terms;

pub mod cashier;
pub mod orders;
pub mod payments;

mod batch_size;
pub mod order_workers;

pub mod chores;
pub mod sale_chores;

pub mod books;

mod flights;
mod recent;

pub use clock::{Clock, ManualClock, SystemClock};
pub use context::Context;
pub use failure::{Failure, Mistake, Refusal};
pub use settings::Settings;
