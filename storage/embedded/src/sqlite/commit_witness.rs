//! Notes of the writer's commits in the witness.
//!
//! A note is written after the commit is durable, without a sync; the checkpointer syncs it within a second.
//! So a note may be missing after a power cut, and is never ahead of the `-wal` file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use mallbox_storage_integrity::{FileMark, Witness, WitnessFile, beside};
use rusqlite::Connection;

const WAL_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// The witness of one connection's commits.
pub(super) struct CommitWitness {
    file: WitnessFile,
    path: PathBuf,
    /// `None` until there is one.
    wal: Option<File>,
    last: Witness,
    page_size: u64,
    since: Arc<SinceNote>,
    unsynced: Arc<AtomicBool>,
}

/// Commits since the last note.
#[derive(Default)]
struct SinceNote {
    commits: AtomicU64,
    /// Frames in the `-wal` file after the last of them.
    frames: AtomicU32,
}

/// Syncs the witness for another thread.
pub(super) struct WitnessSync {
    file: File,
    unsynced: Arc<AtomicBool>,
}

impl CommitWitness {
    /// Notes the commits of `conn` from now on. `commits` are in the `-wal` file already.
    ///
    /// # Errors
    /// The system or SQLite refuses a call.
    pub(super) fn begin(
        conn: &mut Connection,
        path: &Path,
        file: WitnessFile,
        former: Option<Witness>,
        commits: u64,
        is_synced: bool,
    ) -> io::Result<(Self, WitnessSync)> {
        let path = beside(path, "-wal");
        let wal = open_wal(&path)?;
        let since = Arc::new(SinceNote::default());
        let counted = Arc::clone(&since);
        conn.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages: i32| {
            counted.commits.fetch_add(1, Ordering::Relaxed);
            counted.frames.store(pages.unsigned_abs(), Ordering::Relaxed);
            Ok(())
        }))
        .map_err(io::Error::other)?;
        let page_size: i64 =
            conn.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(io::Error::other)?;
        let unsynced = Arc::new(AtomicBool::new(true));
        let sync = WitnessSync { file: file.handle()?, unsynced: Arc::clone(&unsynced) };
        let last = Witness {
            is_synced,
            commits,
            header: wal.as_ref().map_or(Ok(None), header_of)?.unwrap_or_default(),
            starts: former.map_or(0, |former| former.starts),
            ..Witness::default()
        };
        let page_size = page_size.unsigned_abs();
        Ok((Self { file, path, wal, last, page_size, since, unsynced }, sync))
    }

    /// Notes the start, with `frames` frames in the `-wal` file. Syncs the file first: its last
    /// commit may be in memory alone, from a process that was killed.
    ///
    /// # Errors
    /// The system refuses a call.
    pub(super) fn note_start(&mut self, frames: u32) -> io::Result<()> {
        if self.wal.is_none() {
            self.wal = open_wal(&self.path)?;
        }
        if let Some(wal) = self.wal.as_ref().filter(|_| self.last.is_synced) {
            wal.sync_data()?;
        }
        self.last.starts = self.next_start();
        let commits = self.since.commits.swap(0, Ordering::Relaxed);
        if frames > 0 {
            return self.note_frames(commits, frames);
        }
        self.last.frames = 0;
        self.file.note(&self.last)
    }

    /// Number of the start under way, before [`note_start`](Self::note_start): the database has to know the
    /// number first, since a kill may come in between.
    pub(super) fn next_start(&self) -> u64 {
        self.last.starts + 1
    }

    /// Notes durably that there is no commit in the `-wal` file.
    ///
    /// # Errors
    /// The system refuses a call.
    pub(super) fn note_no_wal(&mut self) -> io::Result<()> {
        self.last.frames = 0;
        self.file.note(&self.last)?;
        if self.last.is_synced { self.file.handle()?.sync_data() } else { Ok(()) }
    }

    /// Notes the commits since the last note. To be called once they are durable, on the thread of the
    /// connection.
    pub(super) fn note(&mut self) {
        let commits = self.since.commits.swap(0, Ordering::Relaxed);
        if commits > 0
            && let Err(error) = self.note_frames(commits, self.since.frames.load(Ordering::Relaxed))
        {
            tracing::warn!(%error, "could not note a commit of the database in the witness");
        }
    }

    fn note_frames(&mut self, commits: u64, frames: u32) -> io::Result<()> {
        if self.wal.is_none() {
            self.wal = open_wal(&self.path)?;
        }
        let Some(wal) = &self.wal else { return Ok(()) };
        let offset = WAL_HEADER as u64 + u64::from(frames - 1) * (FRAME_HEADER as u64 + self.page_size);
        let mut frame = [0; FRAME_HEADER];
        wal.read_exact_at(&mut frame, offset)?;
        // Each frame repeats the salts of the header, which are others once the file was begun anew.
        if frame[8..16] != self.last.header[16..24] {
            self.last.header = header_of(wal)?.unwrap_or_default();
            self.last.commits = 0;
        }
        self.last.commits += commits;
        self.last.frames = frames;
        self.last.sum.copy_from_slice(&frame[16..]);
        self.file.note(&self.last)?;
        self.unsynced.store(true, Ordering::Release);
        Ok(())
    }
}

impl WitnessSync {
    /// Makes the last note durable, if it is not.
    pub(super) fn sync(&self) {
        if self.unsynced.swap(false, Ordering::Acquire)
            && let Err(error) = self.file.sync_data()
        {
            self.unsynced.store(true, Ordering::Release);
            tracing::warn!(%error, "could not sync the witness of the database's commits");
        }
    }
}

/// Notes a clean stop, after which there is no `-wal` file, and the state of the database file.
///
/// # Errors
/// The system refuses a call.
pub(super) fn note_closed(path: &Path, is_synced: bool) -> io::Result<()> {
    let (mut file, former) = WitnessFile::open(path)?;
    let starts = former.map_or(0, |former| former.starts);
    let mark = FileMark::of(path)?;
    file.note(&Witness { is_synced, is_closed: true, starts, file: mark, ..Witness::default() })?;
    if is_synced { file.handle()?.sync_data() } else { Ok(()) }
}

fn open_wal(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => file.map(Some),
    }
}

fn header_of(wal: &File) -> io::Result<Option<[u8; WAL_HEADER]>> {
    let mut header = [0; WAL_HEADER];
    match wal.read_exact_at(&mut header, 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        read => read.map(|()| Some(header)),
    }
}
