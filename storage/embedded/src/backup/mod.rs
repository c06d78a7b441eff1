//! Backups of a directory: a copy of the database while the mall runs, a mall made of such a copy, and the
//! exchange of a directory's mall for another.
//!
//! A copy is kept up with the mall by the pages that change: [`DatabaseFollower`].
//!
//! Reasons and figures: `storage/decisions/0041-backups-of-a-directory.md` and
//! `storage/decisions/0042-following-the-database.md`.

mod copy;
mod exchange;
mod follow;
mod made_from_copy;

pub use copy::{CopiedPages, copy_base, copy_database, finish_copy};
pub(crate) use exchange::{BEFORE_UPGRADE, check_movable, finish_cut_short, names, remove};
pub use exchange::{Exchange, belongs_to_exchange, is_exchange_cut_short};
pub use follow::{ChangedPages, DatabaseFollower, Followed, LossReason, apply};
pub use made_from_copy::make_log;
