//! One process a data directory.

use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::Path;

use crate::OpenError;

/// The lock on a data directory. The system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct DirLock {
    file: File,
}

impl Drop for DirLock {
    fn drop(&mut self) {
        // A program that this process is just starting has a copy of the file until it begins: closed here alone, the lock
        // would outlive it.
        let _ = self.file.unlock();
    }
}

impl DirLock {
    /// Makes the directory if it is not there, and takes it.
    pub(crate) fn take(dir: &Path) -> Result<Self, OpenError> {
        let io = |what| move |source| OpenError::Io { path: dir.to_owned(), what, source };
        fs::create_dir_all(dir).map_err(io("cannot make the data directory"))?;
        let path = dir.join("lock");
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io("cannot write to the data directory"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                // The owner is told for the reader's comfort only.
                let _ = file.read_to_string(&mut owner);
                return Err(OpenError::InUse { path: dir.to_owned(), owner: owner.trim().parse().ok() });
            }
            Err(TryLockError::Error(source)) => return Err(io("cannot lock the data directory")(source)),
        }
        let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(io("cannot write to the data directory"))?;
        Ok(Self { file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
