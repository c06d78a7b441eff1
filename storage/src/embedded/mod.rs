//! The embedded back end: sled for the order log and the sessions, SQLite for the record, memory for the rest.

#[allow(dead_code, reason = "nothing opens it yet")]
mod record;
mod settled;

use crate::{EmbeddedOptions, OpenError, Storage};

pub(crate) fn open(_options: &EmbeddedOptions) -> Result<Storage, OpenError> {
    todo!()
}
