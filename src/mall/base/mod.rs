//! Base of all areas: dependencies of services, time, randomness, caches, failures, background jobs, and the
//! audit log.

pub mod audit;
pub mod audited_action;
pub mod cache_aside;
pub(in crate::mall) mod caches;
pub mod chores;
pub mod clean_text;
mod client_network;
mod clock;
pub mod clock_doubt;
mod clock_gap;
pub mod clock_guard;
pub mod clock_jump;
mod context;
pub mod crowd_limit;
mod days;
pub(in crate::mall) mod detached;
pub mod event_bus;
mod failure;
pub(in crate::mall) mod hmac;
pub(in crate::mall) mod idempotency_key;
pub mod judgement_rules;
pub(in crate::mall) mod kept_secret;
pub mod kiosk_keys;
pub(in crate::mall) mod last_run;
pub mod levels;
pub(in crate::mall) mod locked_setting;
mod memory_budget;
pub(in crate::mall) mod outbound;
pub mod picture_path;
mod random;
pub(in crate::mall) mod recent;
pub mod request_signature;
pub mod retry;
mod settings;
mod shared_networks;
pub(in crate::mall) mod single_flight;
pub(in crate::mall) mod sparse_log;
pub mod staff_list;
#[cfg(feature = "https")]
pub(crate) mod tls;
pub mod wall_time;
pub(in crate::mall) mod webhook_client;
mod whole_seconds;

pub use audit::{AuditLog, PendingAction};
pub use audited_action::{AuditedAction, By, run_audited};
pub use caches::Caches;
pub use client_network::client_network;
pub use clock::{Clock, ManualClock, SystemClock, WatchedClock};
pub use clock_gap::ClockGap;
pub use context::{Context, SharedContext};
pub use failure::{
    CallbackError, CashRefusal, ClaimGatewayRefusal, ClockRefusal, FactorRefusal, Failure, GuardRefusal,
    InputError, PrinterRefusal, Refusal, StaffRefusal, SubscriberRefusal, WaitingRefusal,
};
pub use memory_budget::MemoryBudget;
pub use random::Random;
pub use settings::{IMPORTED, Settings, ZONE};
pub use shared_networks::SharedNetworks;
pub(crate) use whole_seconds::whole_seconds;
