//! The embedded back end: sled for the order log and the sessions, SQLite for the database, memory for the
//! rest.
//!
//! Memory is rebuilt at start, never trusted: pending claims and sessions from the journal, buyers and
//! stock from pending claims and the database. The database's transactions record how far the log is
//! settled, so log and database cannot disagree for long, and never silently.
//!
//! Reasons and figures: `storage/decisions/0001-sled-and-sqlite.md`.

pub mod backup;
mod bundles;
mod buyers;
mod cache;
mod cache_sizes;
mod code_codec;
mod code_decisions;
mod code_state;
mod codes;
mod deadlines;
mod disk;
mod disk_faults;
mod event_streams;
mod evidence;
#[cfg(test)]
mod feed_tests;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod geo_index;
mod inboxes;
mod journal;
mod lock;
mod locks;
mod options;
mod order_log;
mod pending;
mod queue;
mod random;
mod rate_limits;
mod sales;
mod session_codec;
mod session_index;
mod session_state;
mod sessions;
mod settled;
mod sign_in_index;
mod sketch;
mod spent_passes;
mod sqlite;
mod stock;
mod thread_shard;
mod upgrade;
mod upkeep;
mod waiting_rooms;
mod way_back;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use mallbox_storage::{LoggedClaim, OpenError, Recovery, Storage, StoreError, UpgradeState};
use mallbox_storage_wal::WriteMode;

use self::cache_sizes::CacheSizes;
use self::disk::Disk;
pub use self::disk_faults::DiskFaults;
use self::evidence::{LOG_ID, unusable, witness};
use self::journal::contents::{Content, LogEvidence};
use self::journal::recovery::{self, Recovered};
use self::journal::{Collaborators, Journal, RECOVERED_GROUP, StartHold, StoreOptions, WriteBlock};
use self::lock::DirLock;
pub use self::options::EmbeddedOptions;
use self::pending::Pending;
use self::queue::Queue;
use self::random::random_id;
use self::settled::Settled;
pub use self::sqlite::payment_mode_in;
use self::sqlite::{Database, DatabaseOptions};
pub use self::upgrade::{PutBack, put_back};
pub use self::way_back::downgrade;

/// Opens a data directory. Reads all of the files, on a blocking thread.
pub async fn open(options: EmbeddedOptions) -> Result<Storage, OpenError> {
    let dir = options.dir.clone();
    let opened = tokio::task::spawn_blocking(move || open_here(&options)).await;
    opened.unwrap_or_else(|error| {
        Err(OpenError::Io { path: dir, what: "the opening was cancelled", source: error.into() })
    })
}

fn open_here(options: &EmbeddedOptions) -> Result<Storage, OpenError> {
    let lock = lock::DirLock::take(&options.dir)?;
    let is_copy = !backup::finish_cut_short(&options.dir)? && lock.is_of_copy();
    let before = upgrade::prepare(&options.dir, !options.upgrade_without_copy)?;
    match (open_locked(options, lock, is_copy), before) {
        (Ok(storage), Some(before)) => {
            tracing::warn!(
                before = before.schema,
                now = sqlite::NEWEST_SCHEMA,
                copy = %before.path.display(),
                "upgraded the mall; mallbox downgrade goes back and keeps what happens from now on, mallbox downgrade \
                 --before-upgrade to the copy; delete the copy when it is no longer needed"
            );
            Ok(storage)
        }
        (Err(OpenError::UpgradeFailed { path, detail, .. }), Some(before)) => {
            // Nothing was accepted meanwhile.
            let state = match upgrade::undo(&options.dir, &before.path) {
                Ok(()) => UpgradeState::Undone,
                Err(error) => {
                    tracing::error!(%error, "could not put the mall back as it was before the upgrade");
                    UpgradeState::Copied(before.path)
                }
            };
            Err(OpenError::UpgradeFailed { path, detail, state })
        }
        (Err(error @ (OpenError::LostLog { .. } | OpenError::DamagedRecord { .. })), _) if is_copy => {
            Err(OpenError::CopiedWhileRunning { path: options.dir.clone(), source: Box::new(error) })
        }
        (opened, _) => opened,
    }
}

fn open_locked(options: &EmbeddedOptions, lock: DirLock, is_copy: bool) -> Result<Storage, OpenError> {
    let began = Instant::now();
    let log_dir = options.dir.join("log");
    let record = options.dir.join("mall.sqlite");
    let (durability, faults) = (options.durability, options.disk_faults.clone());
    let caches = CacheSizes::within(options.cache_bytes);
    let database = Database::open_accepting(
        &record,
        DatabaseOptions { durability, accepted: options.accept_damaged_database, caches, faults },
    )?;
    let broken = |error: StoreError| unusable(&record, error);
    let witness = witness(&database).map_err(broken)?;
    if is_copy {
        tracing::warn!(
            dir = %options.dir.display(),
            "a copy of a mall that was not stopped: what a running mall changed while it was copied may be missing; \
             mallbox backup makes whole copies"
        );
    }
    way_back::make_good(&log_dir, &witness)?;
    let disk = Disk::new(&log_dir, options.disk_faults.clone());
    let store = StoreOptions { durability, cache_bytes: caches.log };
    let mut log = recovery::recover(&disk, &witness, store, options.accept_lost_log, random_id())?;
    let held = match expect_log(&log, &witness, &database).map_err(broken)? {
        None => open_log(&mut log, &log_dir)?,
        held => held,
    };

    let entries = std::mem::take(&mut log.content.entries);
    let (settled, pending, queue) = unsettled(&log.content, &witness, &database).map_err(broken)?;
    let (commits, claims) = (log.content.commits.len() as u64, pending.len());
    let of_journal = database.clone();
    let collaborators =
        Collaborators { disk, store, settled: Arc::clone(&settled), queue: Arc::clone(&queue) };
    let note = Box::new(move |checkpoint, applied| of_journal.note_log_checkpoint(checkpoint, applied));
    let journal = Journal::start(log, collaborators, note, held).map(Arc::new).map_err(|source| {
        OpenError::Io { path: log_dir.clone(), what: "cannot start the order log's threads", source }
    })?;
    let not_ours = |detail| OpenError::NotOurs { path: log_dir.clone(), detail };
    let (of_codes, of_sessions): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|(key, _)| codes::owns(key));
    let codes = codes::EmbeddedCodes::load(Arc::clone(&journal), &of_codes).map_err(not_ours)?;
    let sessions = sessions::EmbeddedSessions::load(Arc::clone(&journal), of_sessions).map_err(not_ours)?;
    let (codes, sessions) = (Arc::new(codes), Arc::new(sessions));
    let sign_ins = sqlite::EmbeddedSignIns::load(database.clone()).map_err(broken)?;
    let rate_limits = Arc::new(rate_limits::EmbeddedRateLimits::default());
    lock.note_opening();
    let last_stop = database.last_stop();
    // A copy says already that it is one, and its own last run is not known.
    let recovery = (!last_stop.is_clean && !is_copy).then(|| Recovery {
        took: began.elapsed(),
        commits,
        claims,
        is_database_checked: last_stop.is_checked,
    });
    Ok(Storage {
        operator: bundles::operator::ports(
            &database,
            Disk::new(&options.dir, options.disk_faults.clone()),
            sign_ins.signed(),
        ),
        people: bundles::people::ports(&database, Arc::clone(&codes), Arc::clone(&sessions), sign_ins),
        catalogue: bundles::catalogue::ports(&database).map_err(broken)?,
        writing: bundles::writing::ports(&database).map_err(broken)?,
        selling: bundles::selling::ports(&database, &journal, &pending, queue, settled),
        base: bundles::base::ports(
            &database,
            caches.values,
            Arc::clone(&rate_limits),
            upkeep::EmbeddedUpkeep {
                journal,
                pending,
                codes,
                sessions,
                rate_limits,
                database: database.clone(),
                durability: options.durability,
                swept_ms: 0.into(),
                recovery,
                lock,
            },
        ),
    })
}

/// Records in the database that the log must exist from now on, and that the last stop no longer counts as
/// clean. Runs before the first write to the log. If the disk has no room for the two rows, the log is held
/// until there is room.
fn expect_log(
    log: &Recovered,
    witness: &LogEvidence,
    database: &Database,
) -> Result<Option<StartHold>, StoreError> {
    let (database, log_id) = (database.clone(), log.log_id.to_string());
    // A new write-ahead log begins behind the mark, and the store has all changes so far.
    let checkpoint = witness.checkpoint.is_none().then_some(witness.applied);
    let expect = move || {
        // First: a start that is killed with the checkpoint noted goes on with a log of its own, which ends
        // behind the last stop.
        database.put_setting_blocking(upkeep::STOP, "")?;
        database.put_setting_blocking(LOG_ID, &log_id)?;
        checkpoint.map_or(Ok(()), |checkpoint| database.note_log_checkpoint(checkpoint, 0))
    };
    let shortage = match &log.shortage {
        Some(shortage) => shortage.clone(),
        None => match expect() {
            Err(StoreError::Full { detail, .. }) => detail,
            expected => return expected.map(|()| None),
        },
    };
    tracing::warn!(
        shortage,
        "too little free space on the disk: claims and logins are refused until there is more"
    );
    Ok(Some(StartHold { trouble: WriteBlock::Full(shortage), before_writing: Box::new(expect) }))
}

/// Opens the log for writing. If the disk became full meanwhile, the log is held until there is room.
fn open_log(log: &mut Recovered, log_dir: &Path) -> Result<Option<StartHold>, OpenError> {
    match log.open(log_dir) {
        Err(OpenError::Io { source, .. }) if source.kind() == std::io::ErrorKind::StorageFull => {
            let shortage = source.to_string();
            tracing::warn!(
                shortage,
                "the disk became full: claims and logins are refused until there is room"
            );
            Ok(Some(StartHold { trouble: WriteBlock::Full(shortage), before_writing: Box::new(|| Ok(())) }))
        }
        opened => opened.map(|()| None),
    }
}

/// Collects the claims of the log that are neither orders nor dead letters: counted, indexed, and queued
/// for the workers.
///
/// Commits above the `applied` mark may be partly settled, up to the last commit seen by the database.
fn unsettled(content: &Content, witness: &LogEvidence, database: &Database) -> Result<Unsettled, StoreError> {
    let settled = Arc::new(Settled::new(witness.applied));
    let (pending, queue) = (Arc::new(Pending::default()), Arc::new(Queue::default()));
    for (number, claims) in &content.commits {
        let in_record =
            if *number <= witness.seen { database.settled_among(claims)? } else { HashSet::default() };
        let open: Vec<LoggedClaim> = journal::logged(*number, claims)
            .filter(|logged| !in_record.contains(&logged.claim.order))
            .collect();
        settled.opened(*number, open.len());
        open.iter().for_each(|logged| pending.insert(logged.claim, RECOVERED_GROUP));
        queue.push(open);
    }
    Ok((settled, pending, queue))
}

type Unsettled = (Arc<Settled>, Arc<Pending>, Arc<Queue>);

/// Returns whether a mall with [`Durability::Power`](mallbox_storage::Durability::Power) in `dir` would
/// write its order log directly (`O_DIRECT`), and not through the page cache. Tries it in a directory that
/// it removes again.
///
/// # Errors
/// The file system refuses a call.
pub fn writes_log_directly(dir: &Path) -> std::io::Result<bool> {
    let probe = tempfile::Builder::new().prefix(".mallbox-probe-").tempdir_in(dir)?;
    Ok(journal::medium::write_mode(probe.path())? == WriteMode::Direct)
}

/// Returns the engines below the embedded back end with their versions, for `mallbox doctor`.
#[must_use]
pub fn versions() -> Vec<(&'static str, String)> {
    // sled has no function that returns its version; Cargo.toml pins it to this one.
    vec![("SQLite", rusqlite::version().to_owned()), ("sled", "0.34.7".to_owned())]
}
