//! The API of selling: sales, orders, receipts and payment modes.

pub mod batch_claims;
mod challenge_service;
mod clock;
pub mod counter_payments;
mod endpoint_limits;
mod gateway_world;
pub mod guards;
mod home;
mod judgement;
mod kiosks;
mod orders;
pub mod payment_callbacks;
mod payment_gateway;
mod payment_modes;
mod receipts;
mod thresholds;
mod units_per_user;
mod waiting_lists;
mod waiting_rooms;
mod write_budget;

use super::world;
