//! Secrets of the mall itself, kept in its settings.

use mallbox_storage::{StoreError, Upkeep};

/// Returns the secret in the setting `name`. Stores the secret made by `make` if there is none; of several
/// instances the first decides.
///
/// # Errors
/// Any [`StoreError`]: call again.
pub(in crate::mall) async fn kept_secret(
    upkeep: &dyn Upkeep,
    name: &str,
    make: impl FnOnce() -> String,
) -> Result<String, StoreError> {
    match upkeep.setting(name).await? {
        Some(kept) => Ok(kept),
        None => upkeep.keep_setting(name, &make()).await,
    }
}
