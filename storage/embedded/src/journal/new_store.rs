//! A new generation of the store with given contents.

use std::path::Path;

use super::contents::Content;
use super::store::{Change, Store, StoreFault, StoreOptions};

/// Creates a new generation of the store with `content`, and makes the generation current. A failure
/// discards the generation.
pub(super) fn make(
    log_dir: &Path,
    generation: u64,
    id: u64,
    options: StoreOptions,
    content: &Content,
) -> Result<Store, StoreFault> {
    let made = fill(|| Store::create(log_dir, generation, id, options), content);
    if made.is_err() {
        Store::discard(log_dir, generation);
    }
    made
}

fn fill(create: impl FnOnce() -> Result<Store, StoreFault>, content: &Content) -> Result<Store, StoreFault> {
    let store = create()?;
    for (number, claims) in &content.commits {
        store.write(Some((*number, claims)), &[], &[])?;
    }
    for (key, value) in &content.entries {
        store.write(None, &[Change { key: key.clone(), value: Some(value.clone()) }], &[])?;
    }
    store.set_position(content.last_commit)?;
    store.make_current()?;
    Ok(store)
}
