//! Users: accounts, login codes, passwords, staff, follows, sign-ins, levels and visits.

pub mod accounts;
pub mod follows;
pub mod levels;
mod passwords;
mod salted_md5;
pub mod sign_ins;
pub mod sms;
pub mod staff;
pub mod visits;

pub use accounts::Accounts;
pub use follows::Follows;
pub use levels::Levels;
pub use passwords::Passwords;
pub use sign_ins::SignIns;
pub use staff::Staff;
pub use visits::Visits;
