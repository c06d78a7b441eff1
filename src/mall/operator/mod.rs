//! What operators do. Every action is in the audit log before it is done.

mod act;
pub mod audit;
pub mod people;
mod running;

pub use act::By;
pub use audit::{AuditLog, Doing};
pub use people::PeopleOffice;
pub use running::running_sales;
