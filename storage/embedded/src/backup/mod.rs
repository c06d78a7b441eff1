//! Backups of a directory: a copy of the database while the mall runs, a mall made of such a copy, and the
//! exchange of a directory's mall for another.
//!
//! Reasons and figures: `storage/decisions/0041-backups-of-a-directory.md`.

mod copy;
mod exchange;
mod made_from_copy;

pub use copy::{CopiedPages, copy_database};
pub(crate) use exchange::finish_cut_short;
pub use exchange::{Exchange, belongs_to_exchange, is_exchange_cut_short};
pub use made_from_copy::make_log;
