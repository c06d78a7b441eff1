//! Handlers of sales, claims, orders and receipts.

pub mod orders;
pub mod receipts;
pub mod sales;
