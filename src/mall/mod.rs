//! The business rules, one area a file. Nothing here sees sled, SQL or axum.

pub mod accounts;
pub mod clean_text;
mod clock;
mod context;
mod failure;
mod passwords;
mod random;
mod settings;
pub mod shops;
pub mod sms;
pub mod vouchers;
pub mod wall_time;

pub use accounts::Accounts;
pub use clock::{Clock, ManualClock, SystemClock};
pub use context::Context;
pub use failure::{Failure, Mistake, Refusal};
pub use random::Random;
pub use settings::Settings;
pub use shops::ShopDirectory;
pub use vouchers::VoucherShelf;
