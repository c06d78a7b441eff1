//! The order log as the version before wrote it: a sled store alone, with every commit above the settled
//! mark, and an empty one for the last if there is none.

use std::path::Path;

use mallbox_storage::{Durability, OpenError};

use super::contents::LogEvidence;
use super::loss;
use super::new_store;
use super::recovery::{Recovered, explained};
use super::store::{self, StoreOptions};

/// Writes a recovered log, into which nothing was written yet, as a new generation of the store.
///
/// # Errors
/// [`OpenError::Io`] if there is too little free space, or if the system refuses an operation.
pub(crate) fn write(log_dir: &Path, recovered: Recovered, witness: &LogEvidence) -> Result<(), OpenError> {
    let Recovered { store, log_id, mut content, shortage, .. } = recovered;
    if let Some(shortage) = shortage {
        let source = std::io::Error::new(std::io::ErrorKind::StorageFull, shortage);
        return Err(OpenError::Io { path: log_dir.to_owned(), what: "cannot be rewritten", source });
    }
    // sled lets nobody else open the directory.
    drop(store);
    loss::fill_gaps(&mut content, witness);
    if content.commits.is_empty() && content.last_commit > 0 {
        content.commits.insert(content.last_commit, Vec::new());
    }
    let generation = store::last_generation(log_dir) + 1;
    let made = new_store::make(log_dir, generation, log_id, StoreOptions::usual(Durability::Power), &content);
    made.map(drop).map_err(|fault| explained(log_dir, &fault))
}
