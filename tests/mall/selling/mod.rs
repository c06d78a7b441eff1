//! Sales, orders, payments, workers and background jobs.

mod batch_claims;
mod batch_repeats;
mod challenge_service;
mod claim_limits;
mod claims;
mod clock;
mod counter;
mod forgetful;
mod guards;
mod judgement;
mod kiosks;
mod levels;
mod order_ids;
mod order_workers;
mod orders;
mod payments;
mod several;
mod thresholds;
mod units_per_user;
mod waiting_lists;
mod waiting_rooms;
pub mod watched;
pub mod world;
