//! The embedded back end: sled for the order log and the sessions, SQLite for the record, memory for the rest.

mod buyers;
mod journal;
mod lane;
mod pending;
mod settled;
mod stock;

use crate::{EmbeddedOptions, OpenError, Storage};

pub(crate) fn open(_options: &EmbeddedOptions) -> Result<Storage, OpenError> {
    todo!()
}
