//! Files that are complete under their name, or absent.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use crate::backup::directory_of;
use crate::cli::backup::naming::name_durably;

/// Who may read a file.
#[derive(Clone, Copy)]
pub(super) enum Access {
    Everybody,
    /// Root, and this group.
    Group(u32),
}

/// Writes a file durably. An existing file is replaced as a whole if `may_replace`, and stays otherwise.
///
/// # Errors
/// Nothing has changed then.
pub(super) fn put(path: &Path, text: &str, access: Access, may_replace: bool) -> io::Result<()> {
    let new = new_name(path);
    let _ = fs::remove_file(&new);
    let put = write(&new, text, access).and_then(|()| {
        if !may_replace {
            return name_durably(&new, path);
        }
        fs::rename(&new, path)?;
        sync(directory_of(path))
    });
    put.map_err(|error| {
        let _ = fs::remove_file(&new);
        about(path, &error)
    })
}

fn write(path: &Path, text: &str, access: Access) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    let mode = match access {
        Access::Everybody => 0o644,
        Access::Group(id) => {
            fchown(&file, None, Some(id))?;
            0o640
        }
    };
    file.set_permissions(Permissions::from_mode(mode))?;
    file.sync_all()
}

/// Returns the name under which a file is written first; a crash may leave it.
pub(super) fn new_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Makes a directory of a system in an existing one.
///
/// # Errors
/// It cannot be made; one that exists is none.
pub(super) fn make_dir(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(about(path, &error)),
        _ => sync(directory_of(path)),
    }
}

/// Removes a file, if it is there.
///
/// # Errors
/// It stays.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let _ = fs::remove_file(new_name(path));
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(about(path, &error)),
        Ok(()) => sync(directory_of(path)),
    }
}

/// Reads a file; `None` if it is not there.
///
/// # Errors
/// It cannot be read.
pub(super) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(about(path, &error)),
        Ok(content) => Ok(Some(content)),
    }
}

fn sync(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
