//! Access to a mall's data directory: for the owner only, since codes, tokens and phone numbers are inside.
//!
//! Reasons and figures: `src/decisions/0037-private-data.md`.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::Mode;
use rustix::process::umask;

use super::mall_directory;
use super::messages::CommandFailure;
use crate::language::{Language, sentence};

/// Permission bits of the group and of other accounts.
const OTHERS: u32 = 0o077;
/// Entries of a data directory whose content is left alone: pictures are served to everybody, and a file
/// system's own folder belongs to root.
const CONTENT_EXCLUDED: [&str; 2] = ["uploads", "lost+found"];
/// Entries shown in a message.
const SHOWN_MAX: usize = 3;

/// The mask of the process that started this one.
static FORMER_MASK: OnceLock<Mode> = OnceLock::new();

/// Makes every file and directory that this process creates accessible to its owner only.
pub(super) fn restrict_new_files() {
    let former = umask(Mode::RWXG | Mode::RWXO);
    let _ = FORMER_MASK.set(former);
}

/// Undoes [`restrict_new_files`], for a folder of pictures that several accounts share.
pub(super) fn share_new_files() {
    if let Some(former) = FORMER_MASK.get() {
        umask(*former);
    }
}

/// Removes the access of other accounts from the directory and the files of a mall, parents before their
/// content. Returns the number of entries; 0 if the directory does not exist.
///
/// # Errors
/// [`CommandFailure::OpenToOthers`] for the first entry that stays accessible.
pub(super) fn restrict(dir: &Path) -> anyhow::Result<usize> {
    let failed = |error| CommandFailure::OpenToOthers(dir.to_owned()).with_cause(error);
    let open = match open_to_others(dir) {
        Ok(open) => open,
        // Another account's directory: opening the mall reports that.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(0),
        Err(error) => return Err(failed(error)),
    };
    for path in &open {
        match close(path) {
            // No mall can be opened there, which is reported next.
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => return Ok(0),
            closed => closed.map_err(|error| failed(about(path, &error)))?,
        }
    }
    Ok(open.len())
}

/// Logs the result of [`restrict`]. Separate, so that a start refused afterwards is told in one sentence.
pub(super) fn report(dir: &Path, entries: usize) {
    if entries > 0 {
        let dir = dir.display();
        tracing::info!(%dir, entries, "removed the access of other accounts from the data directory");
    }
}

fn close(path: &Path) -> io::Result<()> {
    let mode = |path| fs::symlink_metadata(path).map(|meta| meta.permissions().mode());
    match mode(path) {
        Ok(mode) => fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS & 0o7777))?,
        // SQLite removes its helper files, and a running mall its socket.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    // Some file systems, such as exFAT, accept the change and ignore it.
    if mode(path)? & OTHERS == 0 {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::Unsupported, "the file system keeps no permissions"))
}

fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Returns the entries that other accounts may read, write or enter: the directory first.
fn open_to_others(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut open = Vec::new();
    match fs::metadata(dir) {
        Ok(meta) => note(dir, &meta, &mut open),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(open),
        Err(error) => return Err(error),
    }
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| about(&folder, &error))? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            // Not followed: the target of a link is not the mall's.
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            let is_top = folder == dir;
            if name == "lost+found" || (is_top && name.as_encoded_bytes().starts_with(b".")) {
                continue;
            }
            if meta.is_dir() {
                note(&path, &meta, &mut open);
                if !(is_top && CONTENT_EXCLUDED.iter().any(|excluded| name == *excluded)) {
                    folders.push(path);
                }
            } else if !meta.is_symlink() {
                note(&path, &meta, &mut open);
            }
        }
    }
    Ok(open)
}

fn note(path: &Path, meta: &Metadata, open: &mut Vec<PathBuf>) {
    if meta.permissions().mode() & OTHERS != 0 {
        open.push(path.to_owned());
    }
}

/// Describes the access to a mall's directory for `doctor`; `Err` if other accounts have access, `None`
/// without a mall.
pub(super) fn finding(dir: &Path, l: Language) -> Option<Result<String, String>> {
    if !mall_directory::is_mall(dir) {
        return None;
    }
    let shown = dir.display();
    let open = match open_to_others(dir) {
        Ok(open) if open.is_empty() => {
            return Some(Ok(sentence!(l, "仅所有者可以访问", "for the owner only")));
        }
        Ok(open) => open,
        Err(error) => {
            let why = super::messages::of_system(&error, l);
            return Some(Err(sentence!(l, "无法检查：{why}", "cannot be checked: {why}")));
        }
    };
    let names: Vec<String> = open.iter().take(SHOWN_MAX).map(|path| path.display().to_string()).collect();
    let (zh, en, count) = (names.join("、"), names.join(", "), open.len());
    Some(Err(sentence!(
        l,
        "其他账户可以访问{count}处（{zh}）；`mallbox serve`会收回权限，也可运行：chmod -R go-rwx '{shown}'",
        "other accounts have access to {count} entries ({en}); `mallbox serve` removes it, and so does: \
         chmod -R go-rwx '{shown}'"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(path: &Path, mode: u32) {
        match path.extension() {
            Some(_) => fs::write(path, "x").unwrap(),
            None => fs::create_dir_all(path).unwrap(),
        }
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_mall_of_an_open_directory_becomes_its_owners_alone() {
        let dir = tempfile::tempdir().unwrap();
        let [mall, elsewhere] = ["mall", "elsewhere"].map(|name| dir.path().join(name));
        make(&elsewhere, 0o755);
        make(&mall, 0o755);
        for (name, is) in [
            ("mall.sqlite", 0o644),
            ("log", 0o775),
            ("log/store-1", 0o755),
            ("log/store-1/db.x", 0o666),
            ("uploads", 0o755),
            ("uploads/picture.png", 0o644),
            (".hidden.x", 0o644),
        ] {
            make(&mall.join(name), is);
        }
        std::os::unix::fs::symlink(&elsewhere, mall.join("link")).unwrap();
        assert!(finding(&mall, Language::En).unwrap().unwrap_err().contains("6 entries"));
        assert_eq!(restrict(&mall).unwrap(), 6);
        for (name, want) in [
            ("", 0o700),
            ("mall.sqlite", 0o600),
            ("log", 0o700),
            ("log/store-1", 0o700),
            ("log/store-1/db.x", 0o600),
            ("uploads", 0o700),
            ("uploads/picture.png", 0o644),
            (".hidden.x", 0o644),
        ] {
            assert_eq!(mode(&mall.join(name)), want, "{name}");
        }
        assert_eq!(mode(&elsewhere), 0o755, "the target of a link is not the mall's");
        assert!(finding(&mall, Language::En).unwrap().is_ok());
        assert!(finding(&elsewhere, Language::En).is_none(), "no mall is there");
        assert_eq!(restrict(&dir.path().join("nothing")).unwrap(), 0);
    }
}
