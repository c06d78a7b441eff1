//! The business rules, one area a file. Nothing here sees sled, SQL or axum.

mod clock;
mod context;
mod failure;
mod random;
mod settings;

pub mod accounts;
mod batch_size;
pub mod books;
pub mod cashier;
pub mod chores;
pub mod clean_text;
mod detached;
mod flights;
pub mod operator;
mod order_numbers;
pub mod order_workers;
pub mod orders;
mod passwords;
pub mod payments;
mod recent;
pub mod sale_chores;
mod sale_gate;
mod sale_terms;
pub mod sales;
mod salted_md5;
pub mod shops;
pub mod sms;
pub mod vouchers;
pub mod wall_time;
mod whole;

pub use accounts::Accounts;
pub use books::Books;
pub use cashier::Cashier;
pub use clock::{Clock, ManualClock, SystemClock};
pub use context::Context;
pub use failure::{Failure, Mistake, Refusal};
pub use operator::{AuditLog, PeopleOffice};
pub use orders::OrderDesk;
pub use passwords::Passwords;
pub use random::Random;
pub use sales::SaleCounter;
pub use settings::{IMPORTED, Settings, ZONE};
pub use shops::ShopDirectory;
pub use vouchers::VoucherShelf;
pub use whole::{Background, Mall, Means};
