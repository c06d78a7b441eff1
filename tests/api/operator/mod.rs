//! The operators' API.

mod accounts;
pub mod bad_requests;
mod cash;
mod counter_codes;
pub mod events;
mod interrupted_sales;
pub mod live;
mod ops;
#[path = "../../common/paper.rs"]
mod paper;
mod printing;
pub mod retries;
mod security_events;
pub mod staff;
mod staff_log_ins;
mod users;
#[path = "../../common/webhook_receiver.rs"]
mod webhook_receiver;
mod webhooks;

use super::world;
