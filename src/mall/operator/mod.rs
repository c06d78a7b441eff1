//! What operators do. Every action is in the audit log before it is done.

pub mod audit;

pub use audit::{AuditLog, Doing};
