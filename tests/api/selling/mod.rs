//! The API of selling: sales, orders, receipts and payment modes.

mod clock;
mod home;
mod orders;
mod payment_modes;
mod receipts;

use super::world;
