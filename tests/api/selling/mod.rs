//! The API of selling: sales, orders, receipts and payment modes.

mod clock;
pub mod counter_payments;
mod home;
mod orders;
mod payment_modes;
mod receipts;
mod write_budget;

use super::world;
