//! One process per data directory.
//!
//! Both the directory and the file `lock` inside are locked. The file can be removed under a running mall;
//! the directory cannot. mallbox up to 0.1 checks the file alone.
//!
//! The file has the process id of the owner. From a successful opening to a clean stop, a second line has the
//! file's own inode: in a copy made meanwhile, the inode is another one.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use mallbox_storage::OpenError;
use rustix::io::Errno;

/// The lock on a data directory. The system releases the lock when the process ends, however the process
/// ends.
#[derive(Debug)]
pub(crate) struct DirLock {
    dir: File,
    file: File,
    /// The second line of the file, as found.
    opened_as: Option<u64>,
}

impl Drop for DirLock {
    fn drop(&mut self) {
        // A child process being spawned right now holds copies of the file handles until its `exec`:
        // closing alone would let the locks outlive this value.
        let _ = self.file.unlock();
        let _ = self.dir.unlock();
    }
}

impl DirLock {
    /// Creates the directory if absent, and locks it. Needs no free space if the lock file exists.
    ///
    /// # Errors
    /// [`OpenError::InUse`] if another process holds the lock, [`OpenError::CannotLock`] if the file system
    /// has no locks, [`OpenError::Io`] otherwise.
    pub(crate) fn take(dir: &Path) -> Result<Self, OpenError> {
        let io = |what| move |source| OpenError::Io { path: dir.to_owned(), what, source };
        fs::create_dir_all(dir).map_err(io("cannot create the data directory"))?;
        let path = dir.join("lock");
        let handle = File::open(dir).map_err(io("cannot read the data directory"))?;
        lock(&handle, dir, &path)?;
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io("cannot write to the data directory"))?;
        lock(&file, dir, &path)?;
        let opened_as = opened_as(&mut file);
        let lock = Self { dir: handle, file, opened_as };
        lock.note(opened_as);
        Ok(lock)
    }

    /// Returns whether the directory is a copy, made while a mall was running or after it was killed, that
    /// was not opened yet.
    pub(crate) fn is_of_copy(&self) -> bool {
        self.opened_as.is_some_and(|inode| self.inode() != Some(inode))
    }

    /// Notes that the directory was opened: until the stop, a copy of it is told from it.
    pub(crate) fn note_opening(&self) {
        self.note(self.inode());
    }

    /// Notes a clean stop: from now on a copy is as good as the original.
    pub(crate) fn note_stop(&self) {
        self.note(None);
    }

    fn inode(&self) -> Option<u64> {
        Some(self.file.metadata().ok()?.ino())
    }

    fn note(&self, opened_as: Option<u64>) {
        if let Err(error) = note(&self.file, opened_as) {
            tracing::debug!(%error, "could not write to the lock file");
        }
    }
}

fn lock(file: &File, dir: &Path, path: &Path) -> Result<(), OpenError> {
    let path_of_dir = || dir.to_owned();
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse { path: path_of_dir(), owner: owner(path) }),
        Err(TryLockError::Error(source)) if cannot_lock_at_all(&source) => {
            Err(OpenError::CannotLock { path: path_of_dir(), source })
        }
        Err(TryLockError::Error(source)) => {
            Err(OpenError::Io { path: path_of_dir(), what: "cannot lock the data directory", source })
        }
    }
}

/// Returns whether the file system has no locks, or none for directories: NFS emulates them by byte-range
/// locks, which require a file open for writing.
fn cannot_lock_at_all(error: &io::Error) -> bool {
    let errors = [Errno::BADF, Errno::INVAL, Errno::NOLCK, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP];
    Errno::from_io_error(error).is_some_and(|error| errors.contains(&error))
}

/// Returns the process id of the owner. For the error message only.
fn owner(path: &Path) -> Option<u32> {
    let mut text = String::new();
    File::open(path).ok()?.read_to_string(&mut text).ok()?;
    text.lines().next()?.trim().parse().ok()
}

fn opened_as(file: &mut File) -> Option<u64> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.lines().nth(1)?.trim().parse().ok()
}

/// Overwrites the file in place, so that a full disk needs no new block.
fn note(mut file: &File, opened_as: Option<u64>) -> io::Result<()> {
    file.rewind()?;
    writeln!(file, "{}", std::process::id())?;
    if let Some(inode) = opened_as {
        writeln!(file, "{inode}")?;
    }
    let length = file.stream_position()?;
    file.set_len(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_made_between_opening_and_stop_is_known_until_it_is_opened() {
        let dir = tempfile::TempDir::new().unwrap();
        let (path, copy) = (dir.path().join("mall"), dir.path().join("copy"));
        let copied = || {
            fs::create_dir_all(&copy).unwrap();
            // As `cp` does: a new file.
            let _ = fs::remove_file(copy.join("lock"));
            fs::copy(path.join("lock"), copy.join("lock")).unwrap();
            DirLock::take(&copy).unwrap()
        };
        let lock = DirLock::take(&path).unwrap();
        assert!(!lock.is_of_copy() && !copied().is_of_copy(), "nothing was opened yet");
        lock.note_opening();
        assert!(copied().is_of_copy());
        // An opening that fails leaves a copy a copy.
        assert!(DirLock::take(&copy).unwrap().is_of_copy());
        DirLock::take(&copy).unwrap().note_opening();
        assert!(!DirLock::take(&copy).unwrap().is_of_copy());
        drop(lock);
        let killed = DirLock::take(&path).unwrap();
        assert!(!killed.is_of_copy() && copied().is_of_copy(), "the original was killed");
        killed.note_opening();
        killed.note_stop();
        assert!(!copied().is_of_copy());
    }

    #[test]
    fn a_directory_has_one_owner_until_the_owner_lets_go() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("deep/mall");
        let lock = DirLock::take(&path).unwrap();
        let refused = DirLock::take(&path).unwrap_err().to_string();
        assert!(refused.contains("in use") && refused.contains(&std::process::id().to_string()), "{refused}");
        drop(lock);
        let lock = DirLock::take(&path).unwrap();
        let copy = lock.file.try_clone().unwrap();
        drop(lock);
        DirLock::take(&path).unwrap();
        drop(copy);
    }

    #[test]
    fn a_removed_lock_file_lets_nobody_else_in() {
        let dir = tempfile::TempDir::new().unwrap();
        let lock = DirLock::take(dir.path()).unwrap();
        fs::remove_file(dir.path().join("lock")).unwrap();
        let refused = DirLock::take(dir.path()).unwrap_err();
        assert!(matches!(refused, OpenError::InUse { owner: None, .. }), "{refused}");
        drop(lock);
        DirLock::take(dir.path()).unwrap();
    }

    #[test]
    fn an_older_mallbox_and_this_one_keep_each_other_out() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("lock");
        fs::write(&path, "12345678\n").unwrap();
        let theirs = File::open(&path).unwrap();
        theirs.lock().unwrap();
        let refused = DirLock::take(dir.path()).unwrap_err();
        assert!(matches!(refused, OpenError::InUse { owner: Some(12_345_678), .. }), "{refused}");
        theirs.unlock().unwrap();
        let _lock = DirLock::take(dir.path()).unwrap();
        assert!(matches!(theirs.try_lock(), Err(TryLockError::WouldBlock)));
        assert_eq!(owner(&path), Some(std::process::id()), "a shorter number leaves nothing of a longer one");
    }

    #[test]
    fn a_file_system_without_locks_is_called_that() {
        let io = |error: Errno| io::Error::from_raw_os_error(error.raw_os_error());
        assert!(cannot_lock_at_all(&io(Errno::BADF)) && cannot_lock_at_all(&io(Errno::NOLCK)));
        assert!(!cannot_lock_at_all(&io(Errno::IO)) && !cannot_lock_at_all(&io(Errno::INTR)));
    }
}
