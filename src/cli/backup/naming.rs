//! Names of backups, which tell the time and whether a backup is encrypted.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::backup::directory_of;

/// Ending of the names of backups.
const BACKUP: &str = ".mallbox-backup";
/// Ending of the names of encrypted files, as age has it.
const ENCRYPTED: &str = ".age";

/// Returns the name of a backup taken at an instant.
pub(super) fn file_name(taken: Timestamp, is_encrypted: bool) -> String {
    let ending = if is_encrypted { ENCRYPTED } else { "" };
    format!("{}{BACKUP}{ending}", taken.strftime("mallbox-%Y%m%dT%H%M%SZ"))
}

/// Returns the instant in the name of a backup; `None` for any other file.
pub(in crate::cli) fn time_in(name: &str) -> Option<Timestamp> {
    let is_encrypted = name.ends_with(ENCRYPTED);
    let time = name.strip_suffix(ENCRYPTED).unwrap_or(name);
    let time = time.strip_suffix(BACKUP)?.strip_prefix("mallbox-")?;
    let at = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", time).ok()?;
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    (file_name(at, is_encrypted) == name).then_some(at)
}

/// Returns the stream behind a backup: `NAME.mallbox-stream` beside it.
pub(in crate::cli) fn stream_of(backup: &Path) -> PathBuf {
    let name = backup.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(ENCRYPTED).unwrap_or(&name);
    let name = name.strip_suffix(BACKUP).unwrap_or(name);
    backup.with_file_name(format!("{name}.mallbox-stream"))
}

/// Gives a complete file its name. An existing file stays.
pub(in crate::cli) fn name_durably(from: &Path, to: &Path) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_the_time_and_other_files_are_no_backups() {
        let at: Timestamp = "2026-11-30T02:15:00Z".parse().unwrap();
        assert_eq!(file_name(at, false), "mallbox-20261130T021500Z.mallbox-backup");
        assert_eq!(file_name(at, true), "mallbox-20261130T021500Z.mallbox-backup.age");
        for is_encrypted in [false, true] {
            assert_eq!(time_in(&file_name(at, is_encrypted)), Some(at));
        }
        for name in ["mallbox-20261130T021500Z.mallbox-backup", "mallbox-20261130T021500Z.mallbox-backup.age"]
        {
            let stream = Path::new("/mnt/mallbox-20261130T021500Z.mallbox-stream");
            assert_eq!(stream_of(&Path::new("/mnt").join(name)), stream);
        }
        assert_eq!(stream_of(Path::new("mine")), Path::new("mine.mallbox-stream"));
        let part = "mallbox-20261130T021500Z.mallbox-backup.part";
        for other in [part, "mallbox-20261130T021500Z.age", "mallbox-x.mallbox-backup", "mall.sqlite"] {
            assert_eq!(time_in(other), None, "{other}");
        }
    }
}
