//! Privacy: the export of a user's own data, and the deletion of accounts.

mod deletion;
mod export;

pub use deletion::AccountDeletion;
pub use export::{DataExport, ExportedOrder, VotePlace};
