//! Checks of the database's files before SQLite opens them: the `-wal` file against the witness, pages
//! against their checksums. Repairs one flipped bit; other damage refuses the start and is counted.
//!
//! Reasons and figures: `storage/decisions/0038-silent-damage.md`.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use mallbox_storage::{Durability, OpenError};
use mallbox_storage_integrity::{
    FileMark, FileState, Inspection, PageChecksums, Witness, WitnessFile, beside, inspect, register,
};

/// `mall`: distinguishes a mall's database from other SQLite files.
pub(crate) const APPLICATION_ID: i64 = 0x6D61_6C6C;
/// Size limit of a check of all pages at the start, in bytes. A larger file would delay the start by more
/// than about a second; its pages are checked when SQLite reads them, and by the scrubber.
const SCAN_BELOW_BYTES: u64 = 256 << 20;
/// Ending of the file of checksums.
const CHECKSUMS: &str = "-checksums";

/// What the checks found, for the opening.
#[derive(Default)]
pub(super) struct Integrity {
    /// `None` if there is no room for their file, or the database is not a mall's.
    pub(super) checksums: Option<Arc<PageChecksums>>,
    /// The witness, with the last note.
    pub(super) witness: Option<(WitnessFile, Option<Witness>)>,
    /// Commits in the `-wal` file.
    pub(super) commits: u64,
    /// Whether commits are lost, as accepted or as the durability allows, so that the `-wal` file may be
    /// shorter than the database expects.
    pub(super) is_wal_accepted: bool,
    /// Commits of a `-wal` file that is missing, as the witness has noted; `None` if none is noted.
    pub(super) missing_commits: Option<u64>,
    /// Whether damage was accepted, so that the structure of the database has to be checked.
    pub(super) is_suspect: bool,
}

/// Checks the files of a database that no connection has open.
///
/// Damage is an error that names the loss, unless `accepted` is exactly the loss. Without room (`has_room`)
/// no file is written anew; if that leaves no checksums, pages are not checked until the next start.
///
/// # Errors
/// [`OpenError::DamagedRecord`], or [`OpenError::Io`] if the system refuses a call.
pub(super) fn check(
    path: &Path,
    durability: Durability,
    accepted: Option<u64>,
    has_room: bool,
) -> Result<Integrity, OpenError> {
    if !is_ours(path) {
        return Ok(Integrity::default());
    }
    let mut found = Integrity::default();
    let witness = match WitnessFile::open(path) {
        Err(error) if is_full(&error) => None,
        opened => Some(opened.map_err(|error| refused(path, error))?),
    };
    let noted = witness.as_ref().and_then(|(_, noted)| *noted);
    // Another program's changes must not be undone as flipped bits. Read before this start changes anything.
    let mark = FileMark::of(path).map_err(|error| refused(path, error))?;
    let is_foreign = noted.is_some_and(|noted| noted.is_closed && mark.is_changed_by_sqlite(&noted.file));
    let wal = inspect(&beside(path, "-wal"), path, noted.as_ref()).map_err(|error| refused(path, error))?;
    if let Some(wal) = &wal {
        found.is_wal_accepted = check_wal(path, wal, accepted)?;
        found.is_suspect = found.is_wal_accepted;
        found.commits = wal.commits;
    }
    let missing = noted.filter(|noted| wal.is_none() && !noted.is_closed && noted.frames > 0);
    found.missing_commits = missing.map(|noted| noted.commits);
    let missing_commits = found.missing_commits;
    let to_check = ToCheck {
        path,
        durability,
        wal: wal.as_ref(),
        missing_commits,
        is_foreign,
        is_noted: noted.is_some(),
        accepted,
        has_room,
    };
    match check_pages(&to_check) {
        Ok(checked) => {
            found.is_suspect |= checked.is_suspect;
            register(&checked.checksums);
            found.checksums = Some(checked.checksums);
        }
        // Pages change without their checksums from now on, which would look like damage later.
        Err(Fault::Io(error)) if is_full(&error) => {
            remove(path, CHECKSUMS).map_err(|error| refused(path, error))?
        }
        Err(Fault::Io(error)) => return Err(refused(path, error)),
        Err(Fault::Open(error)) => {
            if let Some((file, Some(noted))) = witness {
                stay_unchanged(path, file, &noted, mark.directory_ns);
            }
            return Err(error);
        }
    }
    found.witness = witness;
    Ok(found)
}

/// Notes the directory as it is after a refusal. Otherwise the files written by this start would count as
/// those of another program at the next one, which would take over the damage.
fn stay_unchanged(path: &Path, mut file: WitnessFile, noted: &Witness, directory_ns: i64) {
    if noted.file.directory_ns != directory_ns {
        return;
    }
    let noted =
        |now: FileMark| Witness { file: FileMark { directory_ns: now.directory_ns, ..noted.file }, ..*noted };
    if let Err(error) = FileMark::of(path).and_then(|now| file.note(&noted(now))) {
        tracing::warn!(%error, "could not note the refused start: the next one may take damage for a change");
    }
}

/// Repairs the `-wal` file, or returns the refusal of a damaged one. Returns whether
/// a loss was accepted, or is one that the durability in force allows.
fn check_wal(path: &Path, wal: &Inspection, accepted: Option<u64>) -> Result<bool, OpenError> {
    let io = |error| refused(path, error);
    if wal.repairs() > 0 {
        wal.repair().map_err(io)?;
        let (path, places) = (path.display(), wal.repairs());
        if wal.is_maybe_torn {
            tracing::warn!(%path, places, "completed the last transaction in the database's -wal file");
        } else {
            tracing::error!(
                %path,
                places,
                "repaired the database's -wal file; nothing is lost: replace the disk or memory"
            );
        }
    }
    match &wal.damage {
        None if wal.has_remains => wal.cut().map(|()| false).map_err(io),
        None => Ok(false),
        Some(damage) if !damage.was_synced => {
            let (detail, commits) = (&damage.detail, damage.lost_commits);
            tracing::warn!(commits, detail, "commits that were not synced are lost");
            wal.cut().map(|()| true).map_err(io)
        }
        Some(damage) if accepted == Some(damage.lost_commits) => {
            let kept = beside(path, "-wal.damaged");
            fs::copy(beside(path, "-wal"), &kept).and_then(|_| File::open(&kept)?.sync_all()).map_err(io)?;
            wal.cut().map_err(io)?;
            let (detail, commits) = (&damage.detail, damage.lost_commits);
            tracing::warn!(commits, detail, kept = %kept.display(), "starting without lost commits, as accepted");
            Ok(true)
        }
        Some(damage) => {
            let lost = damage.lost_commits;
            let detail = format!("{}; at least {lost} acknowledged commits are lost", damage.detail);
            Err(OpenError::DamagedRecord { path: path.to_owned(), detail, accept: Some(lost) })
        }
    }
}

/// Checked pages.
struct Checked {
    checksums: Arc<PageChecksums>,
    is_suspect: bool,
}

enum Fault {
    Io(io::Error),
    Open(OpenError),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What the check of pages depends on.
struct ToCheck<'a> {
    path: &'a Path,
    durability: Durability,
    wal: Option<&'a Inspection>,
    missing_commits: Option<u64>,
    /// Whether another program changed the database since the last stop.
    is_foreign: bool,
    /// Whether there is a witness.
    is_noted: bool,
    accepted: Option<u64>,
    has_room: bool,
}

fn check_pages(to_check: &ToCheck<'_>) -> Result<Checked, Fault> {
    let ToCheck { path, durability, wal, missing_commits, is_foreign, is_noted, accepted, has_room } =
        *to_check;
    let is_in_wal = |page| wal.is_some_and(|wal| wal.pages.contains(&page));
    let opened = PageChecksums::open(path, is_in_wal, durability == Durability::Power, has_room)?;
    let (checksums, found) = (Arc::new(opened.checksums), opened.found);
    let is_lost = found == FileState::Damaged || found == FileState::Missing && is_noted;
    if is_lost {
        tracing::error!(path = %path.display(), "the checksums of the database's pages are lost, and are taken anew");
    }
    let len = fs::metadata(path)?.len();
    let may_be_foreign = is_foreign || missing_commits.is_some();
    if len >= SCAN_BELOW_BYTES && !may_be_foreign && found != FileState::Torn {
        return Ok(Checked { checksums, is_suspect: is_lost });
    }
    let scan = if may_be_foreign { checksums.compare(1, u32::MAX)? } else { checksums.scan(1, u32::MAX)? };
    let mut is_suspect = is_lost;
    if !scan.damaged.is_empty() {
        let number = scan.damaged.len() as u64;
        if is_foreign {
            tracing::error!(
                path = %path.display(),
                pages = ?scan.damaged,
                "another program changed pages of the database since the last stop; they are taken as they are. If no \
                 other program did, restore a backup with mallbox restore"
            );
        } else if found == FileState::Torn {
            // After a power cut, pages of the torn record are in the -wal file.
            tracing::error!(pages = ?scan.damaged, "the end of the checksums is damaged; they are taken anew");
        } else if missing_commits.is_some() && accepted != missing_commits {
            return Err(Fault::Open(without_wal(path, missing_commits)));
        } else if accepted == Some(number) || missing_commits.is_some() {
            tracing::warn!(pages = ?scan.damaged, "starting with damaged pages of the database, as accepted");
        } else {
            return Err(Fault::Open(damaged_pages(path, &scan.damaged)));
        }
        checksums.accept(&scan.damaged)?;
        is_suspect = true;
    }
    if scan.taken > 0 || !scan.repaired.is_empty() || is_suspect {
        checksums.sync_all()?;
    }
    Ok(Checked { checksums, is_suspect })
}

/// Number of pages that a message names.
const NAMED_PAGES: usize = 8;

fn damaged_pages(path: &Path, pages: &[u32]) -> OpenError {
    let mut names: Vec<String> = pages.iter().take(NAMED_PAGES).map(u32::to_string).collect();
    if pages.len() > NAMED_PAGES {
        names.push("…".to_owned());
    }
    let (number, names) = (pages.len(), names.join(", "));
    let detail = format!("{number} pages do not match their checksums (page {names})");
    OpenError::DamagedRecord { path: path.to_owned(), detail, accept: Some(number as u64) }
}

/// Returns the refusal of a database whose `-wal` file is missing, with the number of commits if noted.
pub(super) fn without_wal(path: &Path, commits: Option<u64>) -> OpenError {
    let detail = match commits {
        None => "its -wal file with the latest writes is missing".to_owned(),
        Some(commits) => format!(
            "its -wal file with the latest {commits} commits is missing: lost, unless another program moved \
             them into the database, as a refused start of an earlier version does"
        ),
    };
    OpenError::DamagedRecord { path: path.to_owned(), detail, accept: commits }
}

/// Returns whether a file is a mall's database: by its header, or by the checksums beside it. SQLite explains
/// any other file, and a file that cannot be read.
fn is_ours(path: &Path) -> bool {
    let mut id = [0; 4];
    let read = File::open(path).and_then(|file| file.read_exact_at(&mut id, 68));
    let is_marked = read.is_ok() && i64::from(u32::from_be_bytes(id)) == APPLICATION_ID;
    is_marked || PageChecksums::belong_to(path)
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn refused(path: &Path, source: io::Error) -> OpenError {
    OpenError::Io { path: path.to_owned(), what: "cannot check the database", source }
}

/// Removes checksums and witness of a closed database, for programs that do not know of them.
///
/// # Errors
/// The system refuses a call.
pub(crate) fn forget(path: &Path) -> io::Result<()> {
    remove(path, CHECKSUMS)?;
    remove(path, "-witness")
}

fn remove(path: &Path, ending: &str) -> io::Result<()> {
    match fs::remove_file(beside(path, ending)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
