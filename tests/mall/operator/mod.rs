//! The operators' services and the ledger check.

mod cash;
mod dead_letters;
mod fencing;
mod ledger;
mod locked_settings;
mod orders;
mod sales;
mod stock;
mod tampering;
pub mod users;
mod waves;

use super::selling::{watched, world};
