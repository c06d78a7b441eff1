//! A backup is taken: written beside its place, unpacked and opened as a trial, and only then named.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use mallbox_storage_embedded::backup::copy_database;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde_json::Value;
use tempfile::TempDir;

use crate::backup::manifest::{CLAIMS, FORMAT, Header};
use crate::backup::writer::BackupWriter;
use crate::backup::{DATABASE, DIRECTORIES};
use crate::cli::messages::{BackupMisuse, CommandFailure, UsageError};
use crate::cli::output::print;
use crate::cli::progress::Progress;
use crate::cli::restore::make_mall;
use crate::cli::running_mall::make_dir;
use crate::cli::verify::CheckedLedger;
use crate::cli::{control_calls, mall_directory};
use crate::config::PlaceConfig;
use crate::language::{Language, sentence};
use crate::mall::{Clock as _, SystemClock};

/// The mall of a backup, and how to take it.
pub(super) struct Target<'a> {
    pub(super) mall: &'a PlaceConfig,
    pub(super) dir: &'a Path,
    pub(super) scratch: Option<&'a Path>,
    pub(super) l: Language,
}

/// A backup that was taken.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    pub(super) at: Timestamp,
    /// Whether its ledger balances.
    pub(super) balances: bool,
}

/// What the mall says before the copying.
struct Basis {
    claims: Vec<Value>,
    incarnation: Option<String>,
}

/// A file of the mall that goes into the backup as it is.
struct PlainFile {
    /// Path in the mall's directory, with `/`.
    name: String,
    path: PathBuf,
    bytes: u64,
}

impl Target<'_> {
    /// Writes a backup to the new file `to`, or to a file named by the time in the directory `to`.
    pub(super) fn take(&self, to: &Path) -> anyhow::Result<Taken> {
        let l = self.l;
        let taken = Timestamp::from_millisecond(SystemClock.now().as_millis())?;
        let file = if to.is_dir() { to.join(file_name(taken)) } else { to.to_owned() };
        let room = self.room_beside(&file)?;
        let basis = self.basis()?;
        let written = room.path().join("backup");
        let (bytes, mut progress) = self.write(&written, room.path(), taken, &basis)?;
        let checked = self.try_out(&written, room.path(), &mut progress)?;
        progress.end();
        let cannot_name = |error: io::Error| CommandFailure::CannotWrite(file.clone()).with_cause(error);
        name_durably(&written, &file).map_err(cannot_name)?;
        let (path, size, claims) = (file.display(), size_text(bytes), basis.claims.len());
        print(&sentence!(
            l,
            "{path}：{size}，其中有{claims}条待处理的抢购；已解开并试开\n",
            "{path}: {size}, with {claims} pending claims; unpacked and opened as a trial\n"
        ));
        if checked.balances {
            print(&sentence!(
                l,
                "账目相符。恢复：mallbox restore {path} 目录\n",
                "the ledger balances. To restore it: mallbox restore {path} DIR\n"
            ));
        } else {
            print(&checked.text);
            print(&sentence!(
                l,
                "备份已保留，但其中的账目不符：商城本身多半也是如此，请运行mallbox verify\n",
                "the backup is kept, but its ledger does not balance; that of the mall probably does not either: \
                 run mallbox verify\n"
            ));
        }
        Ok(Taken { at: taken, balances: checked.balances })
    }

    /// Makes a private directory beside the new file, on the same file system.
    fn room_beside(&self, file: &Path) -> anyhow::Result<Room> {
        let parent = directory_of(file);
        let misuse = |misuse| anyhow::Error::from(UsageError::Backup(misuse));
        if !parent.is_dir() {
            return Err(misuse(BackupMisuse::NoDirectory(parent.to_owned())));
        }
        if fs::symlink_metadata(file).is_ok() {
            return Err(misuse(BackupMisuse::Exists(file.to_owned())));
        }
        let scratch = self.scratch.unwrap_or(parent);
        for dir in [parent, scratch] {
            let inside =
                fs::canonicalize(dir).and_then(|dir| Ok(dir.starts_with(fs::canonicalize(self.dir)?)));
            if inside.map_err(|error| CommandFailure::CannotRead(dir.to_owned()).with_cause(error))? {
                return Err(misuse(BackupMisuse::InsideMall(dir.to_owned())));
            }
        }
        Room::make(parent)
    }

    /// Asks the mall, running or not, for its pending claims. Everything else that was acknowledged is in the
    /// database by then.
    fn basis(&self) -> anyhow::Result<Basis> {
        let mut answer = control_calls::request(self.mall, "GET", "/control/backup", self.l)?;
        match answer["damagedPages"].as_u64() {
            Some(0) => {}
            Some(pages) => return Err(CommandFailure::DamagedPages(pages).into()),
            None => return Err(CommandFailure::NoBackupBasis.into()),
        }
        let Value::Array(claims) = answer["claims"].take() else {
            return Err(CommandFailure::NoBackupBasis.into());
        };
        let incarnation = answer["incarnation"].as_str().map(str::to_owned);
        Ok(Basis { claims, incarnation })
    }

    fn write(
        &self,
        to: &Path,
        room: &Path,
        taken: Timestamp,
        basis: &Basis,
    ) -> anyhow::Result<(u64, Progress)> {
        let l = self.l;
        let copy = room.join("copy");
        let mut progress = Progress::new(0);
        copy_database(self.dir, &copy, |pages| {
            const PAGE: u64 = 4_096;
            progress.set_bytes(3 * pages.all * PAGE);
            let (done, all) = ((pages.done * PAGE) >> 20, (pages.all * PAGE) >> 20);
            let line =
                || sentence!(l, "备份：已复制{done} / {all} MiB", "backup: {done} of {all} MiB copied");
            progress.show(pages.done * PAGE, || sentence!(l, "复制", "copying"), line);
        })?;
        let cannot_write = |error: io::Error| CommandFailure::CannotWrite(to.to_owned()).with_cause(error);
        let database = fs::metadata(&copy).map_err(cannot_write)?.len();
        let mut claims = Vec::new();
        for claim in &basis.claims {
            serde_json::to_writer(&mut claims, claim)?;
            claims.push(b'\n');
        }
        let files = plain_files(self.dir)?;
        let bytes = database + claims.len() as u64 + files.iter().map(|file| file.bytes).sum::<u64>();
        let header = Header {
            format: FORMAT,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            taken: taken.to_string(),
            incarnation: basis.incarnation.clone(),
            is_demo: mall_directory::is_demo(self.dir),
            claims: basis.claims.len() as u64,
            bytes,
        };
        progress.set_bytes(database + 2 * bytes);
        let mut done = database;
        let mut show = |read: u64| {
            done += read;
            let (done_mib, all) = ((done - database) >> 20, bytes >> 20);
            let line = || {
                sentence!(l, "备份：已写入{done_mib} / {all} MiB", "backup: {done_mib} of {all} MiB written")
            };
            progress.show(done, || sentence!(l, "写入", "writing"), line);
        };
        let out = File::create(to).map_err(cannot_write)?;
        let mut writer = BackupWriter::begin(BufWriter::new(out), &header).map_err(cannot_write)?;
        let file = File::open(&copy).map_err(cannot_write)?;
        writer.add_file(DATABASE, (file, database), &mut show).map_err(cannot_write)?;
        fs::remove_file(&copy).map_err(cannot_write)?;
        writer.add_bytes(CLAIMS, &claims).map_err(cannot_write)?;
        for file in &files {
            let cannot_read =
                |error: io::Error| CommandFailure::CannotRead(file.path.clone()).with_cause(error);
            match File::open(&file.path) {
                Ok(open) => {
                    writer.add_file(&file.name, (open, file.bytes), &mut show).map_err(cannot_write)?
                }
                // A picture that the mall has removed since.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(cannot_read(error)),
            }
        }
        let mut out = writer.finish().map_err(cannot_write)?;
        out.flush().map_err(cannot_write)?;
        let out = out.into_inner().map_err(|error| cannot_write(error.into_error()))?;
        out.sync_all().map_err(cannot_write)?;
        Ok((out.metadata().map_err(cannot_write)?.len(), progress))
    }

    /// Makes a mall of the backup in a scratch directory, and checks its ledger.
    fn try_out(&self, backup: &Path, room: &Path, progress: &mut Progress) -> anyhow::Result<CheckedLedger> {
        let l = self.l;
        let scratch = self.scratch.map(Room::make).transpose()?;
        let dir = scratch.as_ref().map_or(room, Room::path).join("trial");
        make_dir(&dir)?;
        let show = |read: u64| {
            let mib = read >> 20;
            let line = || sentence!(l, "备份：试开，已读{mib} MiB", "backup: trial, {mib} MiB read");
            progress.note(|| sentence!(l, "试开", "trial"), line);
        };
        make_mall(backup, &dir, false, show, l).map(|(_, checked)| checked)
    }
}

/// A private directory that a backup works in, removed when the value is dropped.
struct Room {
    dir: TempDir,
    /// Locked while the backup is at work: what is not locked was left by a killed one.
    _lock: File,
}

impl Room {
    /// Beginning of the names.
    const PREFIX: &str = ".mallbox-backup-";

    /// Makes a directory in `parent`, and removes what killed backups have left there.
    fn make(parent: &Path) -> anyhow::Result<Self> {
        let made = (|| {
            Self::remove_leftovers(parent)?;
            let dir = tempfile::Builder::new().prefix(Self::PREFIX).tempdir_in(parent)?;
            let lock = File::open(dir.path())?;
            lock.lock()?;
            Ok(Self { dir, _lock: lock })
        })();
        made.map_err(|error: io::Error| CommandFailure::CannotWrite(parent.to_owned()).with_cause(error))
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn remove_leftovers(parent: &Path) -> io::Result<()> {
        for entry in fs::read_dir(parent)? {
            let entry = entry?;
            if !entry.file_name().to_string_lossy().starts_with(Self::PREFIX) {
                continue;
            }
            // One that has just been made is empty, and is locked in a moment.
            let is_used = fs::read_dir(entry.path()).is_ok_and(|mut files| files.next().is_some());
            if is_used && File::open(entry.path()).is_ok_and(|dir| dir.try_lock().is_ok()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(())
    }
}

/// Returns the name of a backup taken at an instant.
pub(super) fn file_name(taken: Timestamp) -> String {
    format!("{}.mallbox-backup", taken.strftime("mallbox-%Y%m%dT%H%M%SZ"))
}

/// Returns the instant in the name of a backup; `None` for any other file.
pub(super) fn time_in(name: &str) -> Option<Timestamp> {
    let time = name.strip_suffix(".mallbox-backup")?.strip_prefix("mallbox-")?;
    let at = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", time).ok()?;
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    (file_name(at) == name).then_some(at)
}

/// Gives a complete file its name. An existing file stays.
fn name_durably(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system cannot refuse by itself.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            File::options().write(true).create_new(true).open(to)?;
            fs::rename(from, to)?;
        }
        named => named?,
    }
    File::open(directory_of(to))?.sync_all()
}

fn directory_of(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns pictures and archived days. Symbolic links are followed, as the mall does; special files and files
/// being written are left out.
fn plain_files(dir: &Path) -> anyhow::Result<Vec<PlainFile>> {
    let mut files = Vec::new();
    for top in DIRECTORIES {
        let path = dir.join(top);
        if path.is_dir() {
            let listed = add_below(&path, top, &mut files);
            listed.map_err(|error| CommandFailure::CannotRead(path).with_cause(error))?;
        }
    }
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

/// Returns a size in words, such as `12.3 MiB`.
fn size_text(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..0x10_0000 => format!("{} KiB", tenths(1 << 10)),
        0x10_0000..0x4000_0000 => format!("{} MiB", tenths(1 << 20)),
        _ => format!("{} GiB", tenths(1 << 30)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_the_time_and_other_files_are_no_backups() {
        let at: Timestamp = "2026-11-30T02:15:00Z".parse().unwrap();
        assert_eq!(file_name(at), "mallbox-20261130T021500Z.mallbox-backup");
        assert_eq!(time_in(&file_name(at)), Some(at));
        for other in
            ["mallbox-20261130T021500Z.mallbox-backup.part", "mallbox-x.mallbox-backup", "mall.sqlite"]
        {
            assert_eq!(time_in(other), None, "{other}");
        }
    }
}
