//! The operators' services, and the ledger check. Every action is written to the audit log before execution.

pub mod alerts;
pub mod archive;
pub mod backups;
pub mod bookkeeping;
mod break_glass;
pub mod cash;
pub mod claim_gateways;
pub mod dead_letters;
pub mod event_subscribers;
pub mod kiosks;
pub mod ledger;
pub mod levels;
mod mall_state;
pub mod orders;
mod overview;
pub mod printing;
pub mod reports;
pub mod retries;
pub mod reviews;
mod running_sales;
pub mod sales;
#[cfg(feature = "otlp")]
pub mod trace_collector;
pub mod users;
pub mod vouchers;

pub use archive::ArchiveAdmin;
pub use bookkeeping::Bookkeeping;
pub use cash::CashAdmin;
pub use claim_gateways::ClaimGatewayAdmin;
pub use dead_letters::DeadLetterAdmin;
pub use event_subscribers::EventAdmin;
pub use kiosks::KioskAdmin;
pub use ledger::LedgerCheck;
pub use levels::LevelAdmin;
pub use mall_state::MallState;
pub use orders::OrderAdmin;
pub use overview::{Overview, overview};
pub use printing::PrinterAdmin;
pub use reports::ReportAdmin;
pub use retries::RetryAdmin;
pub use reviews::ReviewAdmin;
pub use running_sales::running_sales;
pub use sales::SaleAdmin;
pub use users::UserAdmin;
pub use vouchers::VoucherAdmin;
