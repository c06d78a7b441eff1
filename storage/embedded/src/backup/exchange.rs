//! The exchange of a directory's mall for a new one made inside the directory. The directory itself stays: it
//! may be a mount.
//!
//! The new mall is whole and on the disk before anything of the former one is moved. From then on a mark in
//! the directory says how far the exchange is, and whoever opens the directory next completes it: a power cut
//! leaves the former mall or the new one.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use mallbox_storage::OpenError;

use crate::journal::sync_all;
use crate::lock::DirLock;

/// Name of the directory in which the new mall is made.
const NEW: &str = ".restore-new";
/// Name of the file that says how far an exchange is.
const MARK: &str = "RESTORING";
/// Names of the two marks before they are in place, for the former mall moving out and the new one moving in.
const MARKS_BEGUN: [&str; 2] = [".restoring-out", ".restoring-in"];
/// Beginning of the names of directories with former malls.
const FORMER: &str = "before-restore-";
/// Beginning of the names of directories with malls before an upgrade.
pub(crate) const BEFORE_UPGRADE: &str = "before-upgrade-";
/// Files of a directory that belong to no mall in particular.
pub(crate) const STAYING: [&str; 6] =
    ["lock", "control", "control.sock", "lost+found", MARK, "mall.sqlite-shm"];

/// A new mall being made in a locked directory, to replace the mall there.
#[derive(Debug)]
pub struct Exchange {
    dir: PathBuf,
    new: PathBuf,
    /// Whether the directory was made for the new mall.
    is_dir_made: bool,
    lock: DirLock,
}

impl Exchange {
    /// Locks the directory, which is made if missing, and makes an empty one inside for the new mall.
    /// Completes an exchange that was cut short.
    ///
    /// # Errors
    /// [`OpenError::InUse`] if a mall runs there; [`OpenError::Io`] if the system refuses an operation.
    pub fn begin(dir: &Path) -> Result<Self, OpenError> {
        let is_dir_made = !dir.exists();
        let lock = DirLock::take(dir)?;
        finish_cut_short(dir)?;
        let new = dir.join(NEW);
        let made = names(dir)
            .and_then(|names| check_movable(dir, &names))
            .and_then(|()| DirBuilder::new().mode(0o700).create(&new));
        made.map_err(|source| refused(dir, source))?;
        Ok(Self { dir: dir.to_owned(), new, is_dir_made, lock })
    }

    /// Returns the directory for the new mall.
    #[must_use]
    pub fn new_mall(&self) -> &Path {
        &self.new
    }

    /// Replaces the mall. Returns where the former one is, if there was one.
    ///
    /// # Errors
    /// [`OpenError::Io`]: the system refuses an operation. Once the former mall is being moved, the next
    /// opening of the directory tries again; before, the former mall stays and the new one is given up.
    pub fn finish(self) -> Result<Option<PathBuf>, OpenError> {
        match self.exchange() {
            Ok(former) => {
                // The mall in the directory is no copy of another one, whatever was there before.
                self.lock.note_stop();
                Ok(former)
            }
            Err(source) => {
                let error = refused(&self.dir, source);
                if !is_exchange_cut_short(&self.dir) {
                    self.give_up();
                }
                Err(error)
            }
        }
    }

    fn exchange(&self) -> io::Result<Option<PathBuf>> {
        for name in STAYING {
            remove(&self.new.join(name))?;
        }
        sync_below(&self.new)?;
        let former = names(&self.dir)?;
        check_movable(&self.dir, &former)?;
        // From the first mark on, nothing needs room but names.
        begin_mark(&self.dir, MARKS_BEGUN[1], "in")?;
        if former.is_empty() {
            place_mark(&self.dir, MARKS_BEGUN[1])?;
            return complete(&self.dir).map(|()| None);
        }
        let aside =
            (1..).map(|number| format!("{FORMER}{number}")).find(|name| !self.dir.join(name).exists());
        let aside = aside.expect("there are more numbers than directories");
        DirBuilder::new().mode(0o700).create(self.dir.join(&aside))?;
        let marked = begin_mark(&self.dir, MARKS_BEGUN[0], &format!("out {aside}"));
        if let Err(error) = marked.and_then(|()| place_mark(&self.dir, MARKS_BEGUN[0])) {
            let _ = fs::remove_dir(self.dir.join(aside));
            return Err(error);
        }
        complete(&self.dir).map(|()| Some(self.dir.join(aside)))
    }

    /// Gives the new mall up. The former one stays, and a directory made for the new one goes.
    pub fn give_up(self) {
        let mut removed = remove(&self.new);
        if self.is_dir_made {
            removed = removed
                .and_then(|()| remove(&self.dir.join("lock")))
                .and_then(|()| fs::remove_dir(&self.dir));
        }
        if let Err(error) = removed {
            tracing::warn!(path = %self.new.display(), %error, "could not remove a mall that was given up");
        }
    }
}

/// Returns whether the mall in `dir` is being exchanged, or its exchange was cut short.
#[must_use]
pub fn is_exchange_cut_short(dir: &Path) -> bool {
    dir.join(MARK).exists()
}

/// Returns whether a file or directory of this name is left in a directory by an exchange or an upgrade.
#[must_use]
pub fn belongs_to_exchange(name: &str) -> bool {
    name == MARK || is_aside(name)
}

/// Returns whether a directory of this name holds a former state of the mall.
fn is_aside(name: &str) -> bool {
    name.starts_with(FORMER) || name.starts_with(BEFORE_UPGRADE)
}

/// Completes an exchange that was cut short, or removes the new mall of one that was cut short before it
/// began. Returns whether there is another mall now. The caller has locked the directory.
///
/// # Errors
/// [`OpenError::Io`] if the system refuses an operation.
pub(crate) fn finish_cut_short(dir: &Path) -> Result<bool, OpenError> {
    if !is_exchange_cut_short(dir) {
        let mut left = [NEW].into_iter().chain(MARKS_BEGUN);
        let removed = left.try_for_each(|name| remove(&dir.join(name)));
        return removed.map(|()| false).map_err(|source| refused(dir, source));
    }
    tracing::warn!(dir = %dir.display(), "completing a restore that was cut short");
    complete(dir).map(|()| true).map_err(|source| refused(dir, source))
}

fn complete(dir: &Path) -> io::Result<()> {
    let mark_path = dir.join(MARK);
    let text = fs::read_to_string(&mark_path)?;
    if let Some(aside) = text.lines().next().and_then(|line| line.strip_prefix("out ")) {
        let aside = dir.join(aside);
        if !aside.exists() {
            DirBuilder::new().mode(0o700).create(&aside)?;
        }
        for name in names(dir)? {
            fs::rename(dir.join(&name), aside.join(&name))?;
        }
        sync_all(&aside)?;
        sync_all(dir)?;
        place_mark(dir, MARKS_BEGUN[1])?;
    }
    let new = dir.join(NEW);
    if new.exists() {
        for entry in fs::read_dir(&new)? {
            let name = entry?.file_name();
            fs::rename(new.join(&name), dir.join(&name))?;
        }
        sync_all(&new)?;
        sync_all(dir)?;
        fs::remove_dir(&new)?;
    }
    // Belongs to the former database.
    remove(&dir.join("mall.sqlite-shm"))?;
    fs::remove_file(mark_path)?;
    sync_all(dir)
}

/// Writes a mark that is placed later.
fn begin_mark(dir: &Path, name: &str, phase: &str) -> io::Result<()> {
    let mut file = File::create(dir.join(name))?;
    writeln!(file, "{phase}\nmallbox restore replaces this mall; the next start of mallbox completes that.")?;
    file.sync_all()
}

/// Says how far the exchange is, at once and durably.
fn place_mark(dir: &Path, name: &str) -> io::Result<()> {
    sync_all(dir)?;
    fs::rename(dir.join(name), dir.join(MARK))?;
    sync_all(dir)
}

/// Returns the names of the files and directories of the mall in `dir`.
pub(crate) fn names(dir: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        let text = name.to_string_lossy();
        if !text.starts_with('.') && !is_aside(&text) && !STAYING.contains(&&*text) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Refuses what cannot be moved within the directory, before anything is.
pub(crate) fn check_movable(dir: &Path, names: &[OsString]) -> io::Result<()> {
    let device = fs::metadata(dir)?.dev();
    for name in names {
        let path = dir.join(name);
        let file = fs::symlink_metadata(&path)?;
        let what = match file.dev() == device {
            true if !file.is_symlink() => continue,
            true => "is a symbolic link, which may not be found from another directory",
            false => "is a file system of its own",
        };
        let what = format!("{} {what}: restore into a new directory", path.display());
        return Err(io::Error::other(what));
    }
    Ok(())
}

/// Makes all files below a directory durable, and their names.
fn sync_below(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_below(&entry.path())?
        } else {
            File::open(entry.path())?.sync_all()?
        }
    }
    sync_all(dir)
}

/// Removes a file or directory, if there is one.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let is_dir = fs::symlink_metadata(path).is_ok_and(|is| is.is_dir());
    match if is_dir { fs::remove_dir_all(path) } else { fs::remove_file(path) } {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn refused(path: &Path, source: io::Error) -> OpenError {
    OpenError::Io { path: path.to_owned(), what: "cannot replace the mall", source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(dir: &Path) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(tree(&path));
            } else {
                found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
        }
        found.sort();
        found
    }

    fn former(dir: &Path) {
        fs::create_dir_all(dir.join("log/wal")).unwrap();
        for name in ["mall.sqlite", "mall.sqlite-wal", "log/wal/1", "DEMO"] {
            fs::write(dir.join(name), "former").unwrap();
        }
    }

    fn begun(dir: &Path) -> Exchange {
        former(dir);
        let exchange = Exchange::begin(dir).unwrap();
        fs::create_dir(exchange.new_mall().join("log")).unwrap();
        for name in ["mall.sqlite", "log/2", "lock"] {
            fs::write(exchange.new_mall().join(name), "new").unwrap();
        }
        exchange
    }

    fn check(dir: &Path) {
        let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_default();
        assert_eq!((read("mall.sqlite"), read("log/2")), ("new".into(), "new".into()));
        let aside = dir.join("before-restore-1");
        for name in ["mall.sqlite", "mall.sqlite-wal", "log/wal/1", "DEMO"] {
            assert_eq!(fs::read_to_string(aside.join(name)).unwrap(), "former", "{name}");
            assert!(name == "mall.sqlite" || !dir.join(name).exists(), "{name}");
        }
        for gone in [NEW, MARK].into_iter().chain(MARKS_BEGUN) {
            assert!(!dir.join(gone).exists(), "{gone}");
        }
    }

    #[test]
    fn the_new_mall_takes_the_place_and_the_former_one_is_set_aside() {
        let dir = tempfile::tempdir().unwrap();
        let exchange = begun(dir.path());
        assert!(matches!(Exchange::begin(dir.path()), Err(OpenError::InUse { .. })));
        assert_eq!(exchange.finish().unwrap(), Some(dir.path().join("before-restore-1")));
        check(dir.path());
        let again = Exchange::begin(dir.path()).unwrap();
        fs::write(again.new_mall().join("mall.sqlite"), "newer").unwrap();
        assert_eq!(again.finish().unwrap(), Some(dir.path().join("before-restore-2")));
        assert_eq!(fs::read_to_string(dir.path().join("mall.sqlite")).unwrap(), "newer");
    }

    #[test]
    fn a_mall_given_up_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        former(dir.path());
        let before = tree(dir.path());
        begun(dir.path()).give_up();
        let mut after = tree(dir.path());
        after.retain(|(path, _)| !path.ends_with("/lock"));
        assert_eq!(after, before);
        let made = dir.path().join("made");
        Exchange::begin(&made).unwrap().give_up();
        assert!(!made.exists());
    }

    #[test]
    fn an_exchange_cut_short_at_any_name_is_completed() {
        // Each move is one rename: cut the work off before the first, the second, and so on.
        for moved_out in 0..=4 {
            for moved_in in 0..=2 {
                let dir = tempfile::tempdir().unwrap();
                let exchange = begun(dir.path());
                remove(&exchange.new_mall().join("lock")).unwrap();
                drop(exchange);
                let aside = dir.path().join("before-restore-1");
                let former = names(dir.path()).unwrap();
                fs::create_dir(&aside).unwrap();
                begin_mark(dir.path(), MARKS_BEGUN[1], "in").unwrap();
                begin_mark(dir.path(), MARKS_BEGUN[0], "out before-restore-1").unwrap();
                place_mark(dir.path(), MARKS_BEGUN[0]).unwrap();
                for name in &former[..moved_out] {
                    fs::rename(dir.path().join(name), aside.join(name)).unwrap();
                }
                if moved_out < former.len() && moved_in > 0 {
                    continue;
                }
                if moved_in > 0 {
                    place_mark(dir.path(), MARKS_BEGUN[1]).unwrap();
                    for entry in fs::read_dir(dir.path().join(NEW)).unwrap().take(moved_in) {
                        let name = entry.unwrap().file_name();
                        fs::rename(dir.path().join(NEW).join(&name), dir.path().join(name)).unwrap();
                    }
                }
                assert!(finish_cut_short(dir.path()).unwrap());
                check(dir.path());
            }
        }
    }

    #[test]
    fn an_exchange_cut_short_before_it_began_leaves_nothing_and_links_are_refused_first() {
        let dir = tempfile::tempdir().unwrap();
        drop(begun(dir.path()));
        for name in MARKS_BEGUN {
            begin_mark(dir.path(), name, "in").unwrap();
        }
        assert!(!finish_cut_short(dir.path()).unwrap());
        for gone in [NEW, MARK].into_iter().chain(MARKS_BEGUN) {
            assert!(!dir.path().join(gone).exists(), "{gone}");
        }
        std::os::unix::fs::symlink("../elsewhere", dir.path().join("uploads")).unwrap();
        let error = Exchange::begin(dir.path()).unwrap_err();
        assert!(
            matches!(&error, OpenError::Io { source, .. } if source.to_string().contains("symbolic link"))
        );
        assert_eq!(fs::read_to_string(dir.path().join("mall.sqlite")).unwrap(), "former");
        assert!(!dir.path().join(NEW).exists());
    }
}
