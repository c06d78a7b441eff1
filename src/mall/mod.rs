//! The business rules, one area a file. Nothing here sees sled, SQL or axum.

mod clock;
mod context;
mod failure;
mod settings;

pub mod cashier;
mod flights;
mod order_numbers;
pub mod orders;
pub mod payments;
mod recent;
mod sale_gate;
mod sale_terms;
pub mod sales;

pub use clock::{Clock, ManualClock, SystemClock};
pub use context::Context;
pub use failure::{Failure, Mistake, Refusal};
pub use settings::Settings;
