//! Handlers of sales, claims, orders, payments and receipts.

pub mod batch_claims;
pub mod guards;
pub mod orders;
pub mod payment_callbacks;
pub mod receipts;
pub mod sales;
pub mod waiting_lists;
pub mod waiting_rooms;
