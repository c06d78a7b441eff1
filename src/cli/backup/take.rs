//! A backup is taken: written beside its place, unpacked and opened as a trial, and only then named.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use age::x25519::{Identity, Recipient};
use ed25519_dalek::SigningKey;
use jiff::Timestamp;
use mallbox_storage_embedded::backup::{CopiedPages, copy_base, copy_database};
use serde_json::Value;

use super::naming::{file_name, name_durably};
use super::plain_files::plain_files;
use crate::backup::encryption::Output;
use crate::backup::manifest::{CLAIMS, FORMAT, FORMAT_OF_BASE, Header};
use crate::backup::reader::Credentials;
use crate::backup::writer::BackupWriter;
use crate::backup::{DATABASE, directory_of};
use crate::cli::messages::{BackupMisuse, CommandFailure, UsageError};
use crate::cli::output::{print, size_text};
use crate::cli::progress::Progress;
use crate::cli::restore::{Made, Source, Until, make_mall};
use crate::cli::room::Room;
use crate::cli::running_mall::make_dir;
use crate::cli::{control_calls, mall_directory};
use crate::config::PlaceConfig;
use crate::http::control::ControlCall;
use crate::language::{Language, sentence};
use crate::mall::{Clock as _, SystemClock};

/// The mall of a backup, and how to take it.
pub(super) struct Target<'a> {
    pub(super) mall: &'a PlaceConfig,
    pub(super) dir: &'a Path,
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
    /// Whether its ledger balances.
    pub(super) balances: bool,
}

/// What the mall says before the copying.
pub(super) struct Basis {
    pub(super) claims: Vec<Value>,
    pub(super) incarnation: Option<String>,
}

impl Basis {
    /// Returns the pending claims, a line each.
    pub(super) fn claim_lines(&self) -> serde_json::Result<Vec<u8>> {
        let mut lines = Vec::new();
        for claim in &self.claims {
            serde_json::to_writer(&mut lines, claim)?;
            lines.push(b'\n');
        }
        Ok(lines)
    }
}

/// Forms of a backup.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// By itself.
    Whole,
    /// With a database that a stream goes on from.
    Base,
}

/// Returns the time of a backup.
pub(super) fn now() -> Result<Timestamp, jiff::Error> {
    Timestamp::from_millisecond(SystemClock.now().as_millis())
}

impl Target<'_> {
    /// Writes a backup to the new file `to`, or to a file named by the time in the directory `to`.
    pub(super) fn take(&self, to: &Path, form: Form) -> anyhow::Result<Taken> {
        let l = self.l;
        let mut taken = now()?;
        let is_encrypted = self.protection.is_encrypted();
        let file = if to.is_dir() { to.join(file_name(taken, is_encrypted)) } else { to.to_owned() };
        let rooms = self.rooms_for(&file)?;
        let mut basis = self.basis()?;
        if form == Form::Base {
            // The check of all pages took its time: a restore to an instant is to have little from after it.
            (taken, basis) = (now()?, self.point_basis()?);
        }
        let written = rooms.beside.path().join("backup");
        let (bytes, mut progress) = self.write(&written, rooms.scratch(), (taken, form), &basis)?;
        let checked = self.try_out(&written, None, rooms.scratch(), &mut progress)?.checked;
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
            let key = match l {
                Language::Zh if is_encrypted => " --key 私钥文件",
                Language::En if is_encrypted => " --key FILE",
                _ => "",
            };
            print(&sentence!(
                l,
                "账目相符。恢复：mallbox restore {path} 目录{key}\n",
                "the ledger balances. To restore it: mallbox restore {path} DIR{key}\n"
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
        Ok(Taken { file, at: taken, balances: checked.balances })
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
        for dir in [parent, &scratch] {
            let inside =
                fs::canonicalize(dir).and_then(|dir| Ok(dir.starts_with(fs::canonicalize(self.dir)?)));
            if inside.map_err(|error| CommandFailure::CannotRead(dir.to_owned()).with_cause(error))? {
                return Err(misuse(BackupMisuse::InsideMall(dir.to_owned())));
            }
        }
        let beside = Room::make(parent)?;
        let scratch = if scratch == parent { None } else { Some(Room::make(&scratch)?) };
        Ok(Rooms { beside, scratch })
    }

    /// Asks the mall, running or not, for its pending claims. Everything else that was acknowledged is in the
    /// database by then.
    fn basis(&self) -> anyhow::Result<Basis> {
        Self::basis_in(control_calls::request(self.mall, "GET", "/control/backup", self.l)?)
    }

    /// Asks the running mall for its pending claims, for a point of a stream.
    pub(super) fn point_basis(&self) -> anyhow::Result<Basis> {
        let call = ControlCall { method: "GET", path: "/control/backup/point", body: "" };
        Self::basis_in(control_calls::request_to_running(self.mall, call, self.l)?)
    }

    fn basis_in(mut answer: Value) -> anyhow::Result<Basis> {
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
        scratch: &Path,
        (taken, form): (Timestamp, Form),
        basis: &Basis,
    ) -> anyhow::Result<(u64, Progress)> {
        let l = self.l;
        let copy = scratch.join("copy");
        let mut progress = Progress::new(0);
        let show = |pages: CopiedPages| {
            const PAGE: u64 = 4_096;
            progress.set_bytes(3 * pages.all * PAGE);
            let (done, all) = ((pages.done * PAGE) >> 20, (pages.all * PAGE) >> 20);
            let line =
                || sentence!(l, "备份：已复制{done} / {all} MiB", "backup: {done} of {all} MiB copied");
            progress.show(pages.done * PAGE, || sentence!(l, "复制", "copying"), line);
        };
        match form {
            Form::Whole => copy_database(self.dir, &copy, show)?,
            Form::Base => copy_base(self.dir, &copy, show)?,
        }
        let cannot_write = |error: io::Error| CommandFailure::CannotWrite(to.to_owned()).with_cause(error);
        let database = fs::metadata(&copy).map_err(cannot_write)?.len();
        let claims = basis.claim_lines()?;
        let files = plain_files(self.dir)?;
        let bytes = database + claims.len() as u64 + files.iter().map(|file| file.bytes).sum::<u64>();
        let header = Header {
            format: if form == Form::Base { FORMAT_OF_BASE } else { FORMAT },
            program: env!("CARGO_PKG_VERSION").to_owned(),
            taken: taken.to_string(),
            incarnation: basis.incarnation.clone(),
            is_demo: mall_directory::is_demo(self.dir),
            claims: basis.claims.len() as u64,
            bytes,
            signer: None,
            is_base: form == Form::Base,
            point: None,
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
        let out = BufWriter::new(File::create(to).map_err(cannot_write)?);
        let mut writer = self.begin_archive(out, header).map_err(cannot_write)?;
        let file = File::open(&copy).map_err(cannot_write)?;
        writer.add_file(DATABASE, (file, database), &mut show).map_err(cannot_write)?;
        fs::remove_file(&copy).map_err(cannot_write)?;
        writer.add_bytes(CLAIMS, &claims).map_err(cannot_write)?;
        for file in &files {
            if let Some(open) = file.open()? {
                writer.add_file(&file.name, (open, file.bytes), &mut show).map_err(cannot_write)?;
            }
        }
        let mut out = writer.finish().and_then(Output::finish).map_err(cannot_write)?;
        out.flush().map_err(cannot_write)?;
        let out = out.into_inner().map_err(|error| cannot_write(error.into_error()))?;
        out.sync_all().map_err(cannot_write)?;
        Ok((out.metadata().map_err(cannot_write)?.len(), progress))
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
