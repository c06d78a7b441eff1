//! Shared parts of the end-to-end tests: the real binary as a child process, a prepared mall, clients that
//! buy and record every response, and the check of the mall against the recorded history.

#![allow(dead_code, reason = "each test binary uses the part it needs")]

pub mod aftermath;
pub mod ballast;
pub mod control_group;
pub mod deliveries;
pub mod dice;
pub mod http;
pub mod image;
pub mod inspection;
pub mod log_ins;
pub mod mall;
pub mod moment;
pub mod network_namespace;
pub mod pending;
pub mod rush;
pub mod server;
pub mod shoppers;
