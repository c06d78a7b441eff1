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

pub use act::{AuditedAction, By, run_audited};
pub use audit::{AuditLog, PendingAction};
pub use dead_letters::DeadLetterAdmin;
pub use orders::OrderAdmin;
pub use overview::{Overview, overview};
pub use people::UserAdmin;
pub use reports::ReportAdmin;
pub use running::running_sales;
pub use sales::SaleAdmin;
pub use vouchers::VoucherAdmin;
