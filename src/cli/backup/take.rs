//! A backup is taken: written beside its place, unpacked and opened as a trial, and only then named.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use age::x25519::{Identity, Recipient};
use ed25519_dalek::SigningKey;
use jiff::Timestamp;

use super::contents::{Contents, Trial, now};
use super::directory::{DirectoryMall, Form};
use super::naming::{file_name, name_durably};
#[cfg(feature = "production")]
use super::servers::ServersMall;
use crate::backup::directory_of;
use crate::backup::encryption::Output;
use crate::backup::manifest::{CLAIMS, Header};
use crate::backup::reader::Credentials;
use crate::backup::writer::BackupWriter;
use crate::cli::messages::{BackupMisuse, CommandFailure, UsageError, render_error};
use crate::cli::output::{print, size_text, warn};
use crate::cli::progress::Progress;
use crate::cli::restore::{Made, Source, Until, make_mall};
use crate::cli::room::Room;
use crate::cli::running_mall::make_dir;
use crate::language::{Language, sentence};

/// The mall of a backup, and how to take it.
pub(super) struct Target<'a> {
    pub(super) origin: Origin<'a>,
    pub(super) scratch: Option<&'a Path>,
    pub(super) protection: Protection,
    pub(super) l: Language,
}

/// Keys that a backup is encrypted and signed with.
pub(super) struct Protection {
    recipients: Vec<Recipient>,
    signer: Option<SigningKey>,
    /// What opens the backup for its trial: a key that is known to nobody else, and is gone with the process.
    trial: Credentials,
}

impl Protection {
    /// Encrypts for `recipients` if there are any, and signs if there is a key.
    pub(super) fn new(mut recipients: Vec<Recipient>, signer: Option<SigningKey>) -> Self {
        let mut trial =
            Credentials { signer: signer.as_ref().map(SigningKey::verifying_key), ..Credentials::default() };
        if !recipients.is_empty() {
            let identity = Identity::generate();
            recipients.push(identity.to_public());
            trial.identities.push(identity);
        }
        Self { recipients, signer, trial }
    }

    fn is_encrypted(&self) -> bool {
        !self.recipients.is_empty()
    }
}

/// Private directories of a backup.
struct Rooms {
    beside: Room,
    /// `None` if it is the one beside.
    scratch: Option<Room>,
}

impl Rooms {
    fn scratch(&self) -> &Path {
        self.scratch.as_ref().unwrap_or(&self.beside).path()
    }
}

/// A backup that was taken.
pub(super) struct Taken {
    pub(super) file: PathBuf,
    pub(super) at: Timestamp,
    /// Whether its trial found that the ledger does not balance, or failed.
    pub(super) is_doubtful: bool,
}

/// The mall of a backup.
#[derive(Clone, Copy)]
pub(super) enum Origin<'a> {
    /// A mall in a directory.
    Directory(DirectoryMall<'a>),
    /// A mall in Redis and MySQL.
    #[cfg(feature = "production")]
    Servers(ServersMall<'a>),
}

impl<'a> Origin<'a> {
    /// Returns the mall if it is in a directory.
    pub(super) fn directory(self) -> Option<DirectoryMall<'a>> {
        match self {
            Self::Directory(mall) => Some(mall),
            #[cfg(feature = "production")]
            Self::Servers(_) => None,
        }
    }
}

impl Target<'_> {
    /// Writes a backup to the new file `to`, or to a file named by the time in the directory `to`.
    pub(super) fn take(&self, to: &Path, form: Form) -> anyhow::Result<Taken> {
        let l = self.l;
        let asked = now()?;
        let is_encrypted = self.protection.is_encrypted();
        let file = if to.is_dir() { to.join(file_name(asked, is_encrypted)) } else { to.to_owned() };
        let rooms = self.rooms_for(&file)?;
        let mut progress = Progress::new(0);
        let contents = match self.origin {
            Origin::Directory(mall) => mall.contents((form, rooms.scratch()), &mut progress, l)?,
            #[cfg(feature = "production")]
            Origin::Servers(mall) => mall.contents(rooms.scratch(), &mut progress, l)?,
        };
        let (at, claims) = (contents.header.taken.parse()?, contents.header.claims);
        let written = rooms.beside.path().join("backup");
        let bytes = self.write(&written, contents, &mut progress)?;
        let checked = self.trial(&written, rooms.scratch(), &mut progress)?;
        progress.end();
        let cannot_name = |error: io::Error| CommandFailure::CannotWrite(file.clone()).with_cause(error);
        name_durably(&written, &file).map_err(cannot_name)?;
        let is_doubtful = self.report(&file, (bytes, claims), checked);
        Ok(Taken { file, at, is_doubtful })
    }

    /// Reports a backup and its trial. Returns whether the trial leaves a doubt.
    fn report(&self, file: &Path, (bytes, claims): (u64, u64), trial: Option<Trial>) -> bool {
        let (l, path, size) = (self.l, file.display(), size_text(bytes));
        let restore = self.restore_command(file);
        let checked = match trial {
            Some(Ok(checked)) => checked,
            failed => {
                print(&sentence!(
                    l,
                    "{path}：{size}，其中有{claims}条待处理的抢购；已读回核对\n恢复：{restore}\n",
                    "{path}: {size}, with {claims} pending claims; read back and compared with its checksums\n\
                     To restore it: {restore}\n"
                ));
                if let Some(Err(error)) = &failed {
                    let error = render_error(error, l);
                    warn(&sentence!(
                        l,
                        "备份已保留，但试恢复没有成功：{error}",
                        "the backup is kept, but its trial failed: {error}"
                    ));
                } else {
                    print(&sentence!(
                        l,
                        "未做试恢复；如需试恢复，请加--trial-redis和--trial-mysql\n",
                        "not restored as a trial; --trial-redis and --trial-mysql name servers for one\n"
                    ));
                }
                return failed.is_some();
            }
        };
        print(&sentence!(
            l,
            "{path}：{size}，其中有{claims}条待处理的抢购；已解开并试开\n",
            "{path}: {size}, with {claims} pending claims; unpacked and opened as a trial\n"
        ));
        if checked.balances {
            print(&sentence!(
                l,
                "账目相符。恢复：{restore}\n",
                "the ledger balances. To restore it: {restore}\n"
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
        !checked.balances
    }

    fn restore_command(&self, file: &Path) -> String {
        let l = self.l;
        let place = match self.origin {
            Origin::Directory(_) => sentence!(l, "目录", "DIR"),
            #[cfg(feature = "production")]
            Origin::Servers(_) => {
                let prefix = sentence!(l, "前缀", "NAME");
                format!("--redis URL --mysql URL --redis-prefix {prefix}")
            }
        };
        let key = match l {
            _ if !self.protection.is_encrypted() => "",
            Language::Zh => " --key 私钥文件",
            Language::En => " --key FILE",
        };
        format!("mallbox restore {} {place}{key}", file.display())
    }

    /// Tries out a backup that was written; `None` if the file was only read back, because the mall would
    /// need servers.
    ///
    /// # Errors
    /// The file cannot be read back.
    fn trial(&self, backup: &Path, scratch: &Path, progress: &mut Progress) -> anyhow::Result<Option<Trial>> {
        match self.origin {
            Origin::Directory(_) => Ok(Some(Ok(self.try_out(backup, None, scratch, progress)?.checked))),
            #[cfg(feature = "production")]
            Origin::Servers(mall) => mall.try_out(backup, &self.protection.trial, scratch, progress, self.l),
        }
    }

    /// Makes the private directories that the backup is made in: one beside the new file, on the same file
    /// system, and one for everything that is not encrypted.
    fn rooms_for(&self, file: &Path) -> anyhow::Result<Rooms> {
        let parent = directory_of(file);
        let misuse = |misuse| anyhow::Error::from(UsageError::Backup(misuse));
        if !parent.is_dir() {
            return Err(misuse(BackupMisuse::NoDirectory(parent.to_owned())));
        }
        if fs::symlink_metadata(file).is_ok() {
            return Err(misuse(BackupMisuse::Exists(file.to_owned())));
        }
        let scratch = self.scratch_beside(parent);
        let own = self.origin.directory().map(|mall| mall.dir);
        for (dir, own) in [parent, &scratch].into_iter().zip(own.into_iter().cycle()) {
            let inside = fs::canonicalize(dir).and_then(|dir| Ok(dir.starts_with(fs::canonicalize(own)?)));
            if inside.map_err(|error| CommandFailure::CannotRead(dir.to_owned()).with_cause(error))? {
                return Err(misuse(BackupMisuse::InsideMall(dir.to_owned())));
            }
        }
        let beside = Room::make(parent)?;
        let scratch = if scratch == parent { None } else { Some(Room::make(&scratch)?) };
        Ok(Rooms { beside, scratch })
    }

    /// Writes the archive. Copies made for it are removed one after the other. Returns its size.
    fn write(&self, to: &Path, contents: Contents, progress: &mut Progress) -> anyhow::Result<u64> {
        let l = self.l;
        let cannot_write = |error: io::Error| CommandFailure::CannotWrite(to.to_owned()).with_cause(error);
        let bytes = contents.bytes();
        let copied: u64 = contents.copies.iter().map(|copy| copy.bytes).sum();
        let header = Header { bytes, ..contents.header };
        progress.set_bytes(copied + 2 * bytes);
        let mut done = copied;
        let mut show = |read: u64| {
            done += read;
            let (done_mib, all) = ((done - copied) >> 20, bytes >> 20);
            let line = || {
                sentence!(l, "备份：已写入{done_mib} / {all} MiB", "backup: {done_mib} of {all} MiB written")
            };
            progress.show(done, || sentence!(l, "写入", "writing"), line);
        };
        let out = BufWriter::new(File::create(to).map_err(cannot_write)?);
        let mut writer = self.begin_archive(out, header).map_err(cannot_write)?;
        for copy in contents.copies {
            let file = File::open(&copy.path).map_err(cannot_write)?;
            writer.add_file(&copy.name, (file, copy.bytes), &mut show).map_err(cannot_write)?;
            fs::remove_file(&copy.path).map_err(cannot_write)?;
        }
        writer.add_bytes(CLAIMS, &contents.claims).map_err(cannot_write)?;
        for file in &contents.files {
            if let Some(open) = file.open()? {
                writer.add_file(&file.name, (open, file.bytes), &mut show).map_err(cannot_write)?;
            }
        }
        let mut out = writer.finish().and_then(Output::finish).map_err(cannot_write)?;
        out.flush().map_err(cannot_write)?;
        let out = out.into_inner().map_err(|error| cannot_write(error.into_error()))?;
        out.sync_all().map_err(cannot_write)?;
        Ok(out.metadata().map_err(cannot_write)?.len())
    }

    /// Begins an archive with the keys of the command.
    pub(super) fn begin_archive<W: Write>(
        &self,
        out: W,
        header: Header,
    ) -> io::Result<BackupWriter<Output<W>>> {
        let Protection { recipients, signer, .. } = &self.protection;
        BackupWriter::begin(Output::begin(out, recipients)?, header, signer.clone())
    }

    /// Makes a mall of a backup and its stream in a scratch directory, and checks its ledger.
    pub(super) fn try_stream_out(&self, backup: &Path) -> anyhow::Result<Made> {
        let room = Room::make(&self.scratch_beside(directory_of(backup)))?;
        let mut progress = Progress::new(0);
        let checked = self.try_out(backup, Some(Until::Latest), room.path(), &mut progress);
        progress.end();
        checked
    }

    /// Returns the directory for what is not encrypted, if the backup is in `parent`.
    fn scratch_beside(&self, parent: &Path) -> PathBuf {
        match self.scratch {
            Some(scratch) => scratch.to_owned(),
            None if self.protection.is_encrypted() => env::temp_dir(),
            None => parent.to_owned(),
        }
    }

    /// Makes a mall of the backup in a scratch directory, and checks its ledger.
    fn try_out(
        &self,
        backup: &Path,
        until: Option<Until>,
        scratch: &Path,
        progress: &mut Progress,
    ) -> anyhow::Result<Made> {
        let l = self.l;
        let dir = scratch.join("trial");
        make_dir(&dir)?;
        let show = |read: u64| {
            let mib = read >> 20;
            let line = || sentence!(l, "备份：试开，已读{mib} MiB", "backup: trial, {mib} MiB read");
            progress.note(|| sentence!(l, "试开", "trial"), line);
        };
        let source = Source { file: backup, credentials: &self.protection.trial, until };
        make_mall(source, &dir, false, show, l)
    }
}
