//! The [`Archive`] port: files in the folder `archive`, registered in SQLite.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mallbox_storage::backend::PART_MAX_BYTES;
use mallbox_storage::{
    Archive, ArchiveDraft, ArchiveLedger, ArchivedDay, Day, RegisterOutcome, StoreError, Timestamp, UserId,
    archive_file_name,
};

use super::Database;
use super::archive_rows as rows;
use crate::disk::Disk;
use crate::random::random_id;

/// End of the names of drafts.
const DRAFT_SUFFIX: &str = ".part";

#[derive(Clone)]
pub(crate) struct EmbeddedArchive {
    database: Database,
    disk: Disk,
    folder: PathBuf,
    /// Serializes registrations: of two drafts of a day, the second must not replace the first one's file.
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl EmbeddedArchive {
    /// Creates the port for a data directory.
    pub(crate) fn new(database: Database, disk: Disk) -> Self {
        let folder = disk.dir().join("archive");
        Self { database, disk, folder, turn: Arc::default() }
    }

    fn draft(&self, draft: ArchiveDraft) -> PathBuf {
        let name = archive_file_name(draft.ledger, draft.day);
        self.folder.join(format!(".{name}.{:016x}{DRAFT_SUFFIX}", draft.number))
    }

    fn file(&self, ledger: ArchiveLedger, day: Day) -> PathBuf {
        self.folder.join(archive_file_name(ledger, day))
    }

    /// Runs a job on the files, on a thread that may block.
    async fn on_files<T: Send + 'static>(
        &self,
        op: &'static str,
        job: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let this = self.clone();
        let done = tokio::task::spawn_blocking(move || job(&this).map_err(|error| this.explain(op, error)));
        done.await.unwrap_or_else(|error| Err(StoreError::Unavailable { op, source: error.into() }))
    }

    fn explain(&self, op: &'static str, error: io::Error) -> StoreError {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                StoreError::Full { op, detail: self.disk.room() }
            }
            kind => StoreError::Unavailable {
                op,
                source: io::Error::new(kind, format!("{}: {error}", self.folder.display())).into(),
            },
        }
    }

    fn sync_folder(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }

    /// Removes drafts of a ledger's day: this process alone writes, so they were left by a crash.
    fn begin_draft(&self, ledger: ArchiveLedger, day: Day) -> io::Result<u64> {
        if !self.folder.try_exists()? {
            match fs::DirBuilder::new().mode(0o700).create(&self.folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            File::open(self.disk.dir())?.sync_all()?;
        }
        let left = format!(".{}.", archive_file_name(ledger, day));
        for name in names(&self.folder)? {
            if name.starts_with(&left) && name.ends_with(DRAFT_SUFFIX) {
                fs::remove_file(self.folder.join(name))?;
            }
        }
        Ok(random_id())
    }
}

#[async_trait]
impl Archive for EmbeddedArchive {
    async fn begin(&self, ledger: ArchiveLedger, day: Day, _: Timestamp) -> Result<ArchiveDraft, StoreError> {
        const OP: &str = "begin archive";
        self.disk.check_room(OP)?;
        let number = self.on_files(OP, move |this| this.begin_draft(ledger, day)).await?;
        let draft = ArchiveDraft { ledger, day, number };
        let path = self.draft(draft);
        self.on_files(OP, move |_| {
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(drop)
        })
        .await?;
        Ok(draft)
    }

    async fn append(
        &self,
        draft: ArchiveDraft,
        at: u64,
        part: Vec<u8>,
        users: Vec<UserId>,
    ) -> Result<bool, StoreError> {
        const OP: &str = "append to archive";
        self.disk.check_room(OP)?;
        let path = self.draft(draft);
        let written = self
            .on_files(OP, move |_| match OpenOptions::new().write(true).open(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                Err(error) => Err(error),
                Ok(file) => file.write_all_at(&part, at).map(|()| true),
            })
            .await?;
        if written {
            let ArchiveDraft { ledger, day, .. } = draft;
            self.database.write_bulk(OP, move |conn| rows::insert_users(conn, ledger, day, &users)).await?;
        }
        Ok(written)
    }

    async fn register(&self, draft: ArchiveDraft, day: ArchivedDay) -> Result<RegisterOutcome, StoreError> {
        const OP: &str = "register archive";
        let _turn = self.turn.lock().await;
        if self.day(draft.ledger, draft.day).await?.is_some() {
            self.discard(draft).await?;
            return Ok(RegisterOutcome::AlreadyArchived);
        }
        let (from, to) = (self.draft(draft), self.file(draft.ledger, draft.day));
        let renamed = self
            .on_files(OP, move |this| {
                let file = match File::open(&from) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                    file => file?,
                };
                if file.metadata()?.len() != day.bytes {
                    return Ok(false);
                }
                this.disk.before_sync()?;
                file.sync_all()?;
                fs::rename(&from, &to)?;
                this.sync_folder()?;
                Ok(true)
            })
            .await?;
        if !renamed {
            return Ok(RegisterOutcome::DraftGone);
        }
        self.database.write(OP, move |conn| rows::insert(conn, &day)).await?;
        Ok(RegisterOutcome::Registered)
    }

    async fn discard(&self, draft: ArchiveDraft) -> Result<(), StoreError> {
        let path = self.draft(draft);
        self.on_files("discard archive", move |_| match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        })
        .await
    }

    async fn days(
        &self,
        ledger: ArchiveLedger,
        after: Option<Day>,
        max: u32,
    ) -> Result<Vec<ArchivedDay>, StoreError> {
        self.database.read("archived days", move |conn| rows::list(conn, ledger, after, max)).await
    }

    async fn day(&self, ledger: ArchiveLedger, day: Day) -> Result<Option<ArchivedDay>, StoreError> {
        self.database.read("archived day", move |conn| rows::find(conn, ledger, day)).await
    }

    async fn days_of(
        &self,
        ledger: ArchiveLedger,
        user: UserId,
        after: Option<Day>,
        max: u32,
    ) -> Result<Vec<ArchivedDay>, StoreError> {
        let job = move |conn: &rusqlite::Connection| rows::list_of(conn, ledger, user, after, max);
        self.database.read("archived days of user", job).await
    }

    async fn read(&self, ledger: ArchiveLedger, day: Day, at: u64) -> Result<Option<Vec<u8>>, StoreError> {
        if self.day(ledger, day).await?.is_none() {
            return Ok(None);
        }
        let path = self.file(ledger, day);
        self.on_files("read archive", move |_| match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => read_at(&file?, at).map(Some),
        })
        .await
    }

    async fn strays(&self, max: u32) -> Result<Vec<String>, StoreError> {
        let days = self
            .database
            .read("archived days", |conn| {
                let mut days = Vec::new();
                for ledger in ArchiveLedger::ALL {
                    days.extend(rows::list(conn, ledger, None, u32::MAX)?);
                }
                Ok(days)
            })
            .await?;
        self.on_files("files of archive", move |this| {
            let known: std::collections::HashSet<String> = days.iter().map(ArchivedDay::file_name).collect();
            let mut names = match names(&this.folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                names => names?,
            };
            names.retain(|name| !known.contains(name) && !name.ends_with(DRAFT_SUFFIX));
            names.sort();
            names.truncate(max as usize);
            Ok(names)
        })
        .await
    }
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// Reads up to [`PART_MAX_BYTES`] from an offset on.
fn read_at(file: &File, at: u64) -> io::Result<Vec<u8>> {
    // The system takes no offset beyond the longest possible file.
    if at >= file.metadata()?.len() {
        return Ok(Vec::new());
    }
    let mut bytes = vec![0; PART_MAX_BYTES];
    let mut length = 0;
    while length < bytes.len() {
        match file.read_at(&mut bytes[length..], at.saturating_add(length as u64)) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}
