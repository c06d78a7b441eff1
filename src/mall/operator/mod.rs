//! The operators' services. Every action is written to the audit log before execution.

mod act;
pub mod audit;
pub mod dead_letters;
pub mod orders;
mod overview;
pub mod people;
pub mod reports;
mod running;
pub mod sales;
pub mod vouchers;

pub use act::{By, Deed, act};
pub use audit::{AuditLog, Doing};
pub use dead_letters::DeadLetterOffice;
pub use orders::OrderOffice;
pub use overview::{Overview, overview};
pub use people::PeopleOffice;
pub use reports::ReportOffice;
pub use running::running_sales;
pub use sales::SaleOffice;
pub use vouchers::VoucherOffice;
