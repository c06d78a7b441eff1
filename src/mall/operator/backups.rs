//! What a backup begins with, and what a restored mall does not take over.

use mallbox_storage::{Claim, Storage, StoreError};

use crate::mall::base::Context;

/// Name of the setting with the incarnation: a random number in hexadecimal that a mall gets when it is
/// restored. Absent in a mall that never was.
pub const INCARNATION: &str = "incarnation";
/// Name of the setting with the time of the backup from which the mall was restored, RFC 3339 in UTC.
pub const RESTORED_FROM: &str = "restored from";
/// Beginnings of the names of settings with secrets that a restored mall makes anew: whoever had the backup
/// could sign receipts and passes with them, or try PINs. The secrets behind order ids and second factors
/// stay: without them ids could repeat, and nobody could log in with a second factor.
pub const RENEWED_SECRETS: &[&str] = &["receipt secret", "guard key ", "login code key", "staff pin secret"];

/// What a backup begins with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackupBasis {
    /// The durable claims that are pending. A copy of the database made after this contains all others.
    pub claims: Vec<Claim>,
    /// Pages of the database that do not match their checksums.
    pub damaged_pages: u64,
    /// The mall's incarnation; `None` if it was never restored.
    pub incarnation: Option<String>,
}

/// Checks every page of the database, and returns what a backup begins with.
///
/// # Errors
/// Any [`StoreError`]: call again.
pub async fn backup_basis(context: &Context) -> Result<BackupBasis, StoreError> {
    let damaged_pages = context.storage.base.upkeep.check_pages().await?.map_or(0, |pages| pages.damaged);
    Ok(BackupBasis { damaged_pages, ..point_basis(context).await? })
}

/// Returns what a point of a stream begins with, without a check of the pages: they were checked for the
/// backup that the stream belongs to.
///
/// # Errors
/// Any [`StoreError`]: call again.
pub async fn point_basis(context: &Context) -> Result<BackupBasis, StoreError> {
    let storage = &context.storage;
    let incarnation = storage.base.upkeep.setting(INCARNATION).await?;
    let claims = storage.selling.order_log.pending().await?;
    Ok(BackupBasis { claims, damaged_pages: 0, incarnation })
}

/// Reports that the mall was restored: users and events may have numbers that the mall before gave to others.
///
/// # Errors
/// Any [`StoreError`]: call again.
pub async fn report_incarnation(storage: &Storage) -> Result<(), StoreError> {
    let upkeep = &storage.base.upkeep;
    if let Some(incarnation) = upkeep.setting(INCARNATION).await? {
        let restored_from = upkeep.setting(RESTORED_FROM).await?;
        tracing::info!(incarnation, restored_from, "the mall was restored from a backup");
    }
    Ok(())
}
