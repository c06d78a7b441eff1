//! A temporary copy of a mall in a directory without write access, for read-only commands.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::{Access, access};
use tempfile::TempDir;

use super::messages::CommandFailure;

/// Files useless to a read-only command: pictures beside the database, and files of a running process.
const EXCLUDED_FILES: [&str; 5] = ["uploads", "lock", "control", "control.sock", "mall.sqlite-shm"];

/// Returns whether the mall cannot be written: the disk, the directory or the database is read-only. Also
/// true for a directory without any write permission when the caller is root, although the system would allow
/// root to write.
pub(super) fn is_read_only(dir: &Path) -> bool {
    let refuses = |path: &Path| {
        let has_no_write_bit = fs::metadata(path).is_ok_and(|meta| meta.permissions().readonly());
        has_no_write_bit || access(path, Access::WRITE_OK).is_err()
    };
    refuses(dir) || refuses(&dir.join("mall.sqlite"))
}

/// Copies a mall to a new directory below the system's temporary one, removed when the value is dropped.
/// Symbolic links and special files are left out.
///
/// # Errors
/// One sentence: the file that could not be copied, and the cause.
pub(super) fn copy(dir: &Path) -> anyhow::Result<TempDir> {
    let failed = |error| CommandFailure::CannotCopy(dir.to_owned(), std::env::temp_dir()).with_cause(error);
    let to = tempfile::Builder::new().prefix("mallbox-copy-").tempdir().map_err(failed)?;
    copy_below(dir, to.path(), &EXCLUDED_FILES).map_err(failed)?;
    Ok(to)
}

fn copy_below(from: &Path, to: &Path, left_out: &[&str]) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if left_out.iter().any(|left_out| name == *left_out) {
            continue;
        }
        let (path, kind) = (to.join(&name), entry.file_type()?);
        if kind.is_dir() {
            fs::create_dir(&path)?;
            copy_below(&entry.path(), &path, &[])?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &path)?;
            fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}
