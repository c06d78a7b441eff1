//! Business rules in seven areas. No file depends on sled, SQL or axum.
//!
//! Areas depend in one direction: `base`, `people`, `selling`, `catalogue`, `writing`, `privacy`, `operator`.
//! Each may use the areas before it, and only `running` knows them all.

pub mod base;
pub mod catalogue;
pub mod operator;
pub mod people;
pub mod privacy;
mod running;
pub mod selling;
pub mod writing;

pub use base::{
    AuditLog, Caches, CallbackError, CashRefusal, ClaimGatewayRefusal, Clock, ClockRefusal, Context,
    FactorRefusal, Failure, IMPORTED, InputError, ManualClock, PrinterRefusal, Random, Refusal, Settings,
    SystemClock, WatchedClock, ZONE,
};
pub use catalogue::{Shops, Vouchers};
pub use operator::{LedgerCheck, LevelAdmin, UserAdmin};
pub use people::{Accounts, Follows, Levels, Passwords, SignIns, Visits};
pub use privacy::{AccountDeletion, DataExport};
pub use running::{Background, Dependencies, Mall};
pub use selling::{BatchClaims, Cashier, FlashSales, Orders, Receipts};
pub use writing::{Comments, Feeds, Likes, Notes, Pictures, Reviews};
