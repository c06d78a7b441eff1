//! Sales, claims, orders, payments and receipts.

mod backpressure;
pub mod batch_claims;
mod batch_size;
pub mod cashier;
pub mod challenge_service;
mod challenges;
mod closed_orders;
mod counter_till;
pub mod guard;
pub mod http_gateway;
mod judgement;
pub mod order_numbers;
pub mod order_queries;
pub mod order_workers;
pub mod orders;
mod overdue_orders;
pub mod payments;
mod payments_in_progress;
mod poll_times;
pub mod receipts;
pub mod reconciliation;
mod refunds;
pub mod sale_chores;
mod sale_terms;
pub mod sales;
pub(in crate::mall) mod terms_lease;
mod timed_gateway;
mod timetables;
mod voucher_cache;
mod wave_releases;

pub use batch_claims::BatchClaims;
pub use cashier::Cashier;
pub use order_queries::OrderQueries;
pub use orders::Orders;
pub use receipts::Receipts;
pub use sales::FlashSales;
