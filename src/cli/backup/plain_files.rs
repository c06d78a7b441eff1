//! The files of a mall that go into a backup as they are: pictures and archived days.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::backup::DIRECTORIES;
use crate::cli::messages::CommandFailure;

/// A file of the mall that goes into the backup as it is.
pub(super) struct PlainFile {
    /// Path in the mall's directory, with `/`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
}

impl PlainFile {
    /// Opens the file; `None` if the mall has removed it since.
    pub(super) fn open(&self) -> anyhow::Result<Option<File>> {
        match File::open(&self.path) {
            Ok(open) => Ok(Some(open)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CommandFailure::CannotRead(self.path.clone()).with_cause(error)),
        }
    }
}

/// Returns pictures and archived days. Symbolic links are followed, as the mall does; special files and files
/// being written are left out.
pub(super) fn plain_files(dir: &Path) -> anyhow::Result<Vec<PlainFile>> {
    let mut files = Vec::new();
    for top in DIRECTORIES {
        let path = dir.join(top);
        if path.is_dir() {
            files.extend(files_below(&path, top)?);
        }
    }
    Ok(files)
}

/// Returns all files below a directory, which is named `name` in the backup.
pub(super) fn files_below(dir: &Path, name: &str) -> anyhow::Result<Vec<PlainFile>> {
    let mut files = Vec::new();
    let listed = add_below(dir, name, &mut files);
    listed.map_err(|error| CommandFailure::CannotRead(dir.to_owned()).with_cause(error))?;
    Ok(files)
}

fn add_below(dir: &Path, name: &str, files: &mut Vec<PlainFile>) -> io::Result<()> {
    /// Directories below each other: more are a link to a directory above.
    const DEPTH_MAX: usize = 16;
    let mut entries = fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let refused = |what: &str| io::Error::other(format!("{} {what}", entry.path().display()));
        let own = entry.file_name().into_string().map_err(|_| refused("has a name that is not UTF-8"))?;
        // A day being archived.
        if own.ends_with(".part") {
            continue;
        }
        let name = format!("{name}/{own}");
        let file = match fs::metadata(entry.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if entry.file_type()?.is_symlink() {
                    return Err(refused("is a symbolic link to nothing"));
                }
                // Removed a moment ago.
                continue;
            }
            found => found?,
        };
        if file.is_dir() {
            if name.matches('/').count() >= DEPTH_MAX {
                return Err(refused("is too deep"));
            }
            add_below(&entry.path(), &name, files)?;
        } else if file.is_file() {
            files.push(PlainFile { name, path: entry.path(), bytes: file.len() });
        }
    }
    Ok(())
}
