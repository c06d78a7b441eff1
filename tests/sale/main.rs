//! Sales, orders, payments, workers, background jobs and the ledger check, on a real back end.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary: a failure is a failed test")]

mod books;
mod claims;
mod clock;
mod dead_letters;
mod forgetful;
mod operator_orders;
mod operator_sales;
mod orders;
mod payments;
mod several;
mod stock;
mod tampering;
mod watched;
mod workers;
mod world;
