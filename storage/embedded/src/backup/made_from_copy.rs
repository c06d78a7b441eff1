//! A mall made of a copy of a database: an order log with the claims that were pending.

use std::collections::BTreeMap;
use std::path::Path;

use mallbox_storage::{Claim, Durability, OpenError};

use crate::disk::Disk;
use crate::evidence::{LOG_ID, unusable, witness};
use crate::journal::contents::Content;
use crate::journal::recovery;
use crate::lock::DirLock;
use crate::random::random_id;
use crate::sqlite::Database;

/// Claims per commit of the new log.
const CLAIMS_PER_COMMIT: usize = 1_000;

/// Makes the order log beside a [copy](super::copy_database) of a database in `dir`, with the `claims` that
/// were pending. Claims that the database has as orders or dead letters are left out. Settings whose names
/// begin with one of `forgotten` are removed, and `settings` are stored. An older schema is migrated.
///
/// # Errors
/// [`OpenError`]: the directory holds no such copy, or cannot be written.
pub async fn make_log(
    dir: &Path,
    claims: Vec<Claim>,
    forgotten: &'static [&'static str],
    settings: Vec<(&'static str, String)>,
) -> Result<(), OpenError> {
    let (dir, path) = (dir.to_owned(), dir.join("mall.sqlite"));
    let made = tokio::task::spawn_blocking(move || make(&dir, &claims, forgotten, &settings)).await;
    let (database, _lock) = made.unwrap_or_else(|error| {
        Err(OpenError::Io {
            path: path.clone(),
            what: "the making of a log was cancelled",
            source: error.into(),
        })
    })?;
    database.close(true).await.map_err(|error| unusable(&path, error))
}

fn make(
    dir: &Path,
    claims: &[Claim],
    forgotten: &[&str],
    settings: &[(&str, String)],
) -> Result<(Database, DirLock), OpenError> {
    let lock = DirLock::take(dir)?;
    let (log_dir, path) = (dir.join("log"), dir.join("mall.sqlite"));
    let broken = |error| unusable(&path, error);
    if !path.exists() {
        let detail = "there is no database to make a mall of".to_owned();
        return Err(OpenError::NotOurs { path: dir.to_owned(), detail });
    }
    let database = Database::open(&path, Durability::Power, None)?;
    database.forget_settings_blocking(forgotten).map_err(broken)?;
    for (name, value) in settings {
        database.put_setting_blocking(name, value).map_err(broken)?;
    }
    let evidence = witness(&database).map_err(broken)?;
    let settled = database.settled_among(claims).map_err(broken)?;
    let open: Vec<Claim> = claims.iter().filter(|claim| !settled.contains(&claim.order)).copied().collect();
    let commits = (1..).zip(open.chunks(CLAIMS_PER_COMMIT).map(<[Claim]>::to_vec));
    let commits: BTreeMap<u64, Vec<Claim>> = commits.collect();
    let last_commit = commits.last_key_value().map_or(0, |(number, _)| *number);
    let content = Content { commits, last_commit, ..Content::default() };
    let (disk, id) = (Disk::new(&log_dir, None), random_id());
    recovery::create(&disk, &evidence, &content, id)?;
    database.put_setting_blocking(LOG_ID, &id.to_string()).map_err(broken)?;
    database.note_log_checkpoint(last_commit, 0).map_err(broken)?;
    Ok((database, lock))
}
