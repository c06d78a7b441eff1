//! `mallbox restore`: makes a mall of a backup, or of a backup and its stream.

mod points;
mod restored;
#[cfg(feature = "production")]
pub(super) mod servers;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;
use mallbox_storage_embedded::backup::{Exchange, finish_copy, make_log};

use self::points::{Applied, apply_points};
use self::restored::{forgotten, hint_at_signer, hint_at_users, settings_of_restored};
#[cfg(feature = "production")]
use self::servers::Manner;
pub(super) use self::source::{Source, Until};
use super::backup::naming::{stream_of, time_in};
use super::key_files;
use super::messages::{BackupMisuse, CommandFailure, UsageError};
use super::output::{print, warn};
use super::progress::Progress;
use super::running_mall::{check_dir, mark_as_demo};
use super::runtime::block_on;
use super::verify::{CheckedLedger, check_directory};
use crate::backup::DATABASE;
use crate::backup::keys::{self, KeyKind};
use crate::backup::manifest::Header;
use crate::backup::reader::{self, Credentials, Kind, Unpacked, unpack};
use crate::backup::stream::{PointReader, Position};
use crate::config::{LocationError, PlaceConfig, ServersConfig};
use crate::language::{Language, sentence};
use crate::place::Place;

/// The flags of `restore`.
#[derive(Args)]
pub(super) struct Restore {
    /// The backup, written by mallbox backup; or the directory of backups, of which the newest fitting one is
    /// taken, with its stream.
    #[arg(value_name = "FILE|DIR")]
    from: PathBuf,
    /// The directory of the mall: a new one, an empty one, or that of a stopped mall, which is set aside
    /// inside. Not with --redis and --mysql.
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The servers of a mall in Redis and MySQL: a new or empty database, and a prefix that no mall uses.
    #[command(flatten)]
    servers: ServersConfig,
    /// Keeps the keys that sign receipts and passes. Without this flag they are made anew, because whoever
    /// has the backup has them too.
    #[arg(long)]
    keep_keys: bool,
    /// Restores the mall as it was at an instant, such as 2026-11-30T12:00:00Z, from a backup before and its
    /// stream; or as it was last, with latest.
    #[arg(long, value_name = "INSTANT|latest")]
    at: Option<Until>,
    /// The private key of age that decrypts an encrypted backup. May be repeated.
    #[arg(long, value_name = "FILE")]
    key: Vec<PathBuf>,
    /// Refuses a backup that is not signed with the key whose public half is in this file.
    #[arg(long, value_name = "FILE")]
    signed_by: Option<PathBuf>,
    /// The directory in which a backup of a mall in Redis and MySQL is unpacked; default: the system's
    /// directory for temporary files.
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// The folder for pictures that an import has left as files, of a mall in Redis and MySQL.
    #[arg(long, env = "MALLBOX_UPLOADS", value_name = "DIR")]
    uploads: Option<PathBuf>,
}

/// Restores a backup. Returns whether the ledger balances.
///
/// # Errors
/// One sentence for the user of the command line. A directory is unchanged then, unless the system refuses to
/// move files in it: the next start goes on with that.
pub(super) fn run(restore: &Restore, l: Language) -> anyhow::Result<bool> {
    let credentials = restore.credentials()?;
    match restore.place()? {
        Place::Embedded(options) => into_directory(restore, &options.dir, &credentials, l),
        #[cfg(feature = "production")]
        Place::Production(options) => {
            if restore.at.is_some() {
                return Err(UsageError::Backup(BackupMisuse::InstantOfServers).into());
            }
            let (from, _) = restore.source(&credentials)?;
            let scratch = restore.scratch.clone().unwrap_or_else(std::env::temp_dir);
            let source = Source { file: &from, credentials: &credentials, until: None };
            let (uploads, keep_keys) = (restore.uploads.as_deref(), restore.keep_keys);
            servers::run(source, &options, Manner { scratch: &scratch, uploads, keep_keys }, l)
        }
    }
}

fn into_directory(
    restore: &Restore,
    dir: &Path,
    credentials: &Credentials,
    l: Language,
) -> anyhow::Result<bool> {
    let keep_keys = restore.keep_keys;
    let (from, until) = restore.source(credentials)?;
    check_dir(dir)?;
    let length = fs::metadata(&from);
    let length = length.map_err(|error| CommandFailure::CannotRead(from.clone()).with_cause(error))?.len();
    let exchange = Exchange::begin(dir)?;
    let mut progress = Progress::new(length);
    let show = |read: u64| {
        let mib = read >> 20;
        let line = || sentence!(l, "恢复：已读{mib} MiB", "restore: {mib} MiB read");
        progress.show(read, || sentence!(l, "解开", "unpacking"), line);
    };
    let source = Source { file: &from, credentials, until };
    let made = make_mall(source, exchange.new_mall(), keep_keys, show, l);
    progress.end();
    let Made { header, checked, applied } = match made {
        Ok(made) => made,
        Err(error) => {
            exchange.give_up();
            return Err(error);
        }
    };
    let former = exchange.finish()?;
    hint_at_signer(&header, credentials, l);
    let path = dir.display();
    let (when, claims) = match &applied.last {
        Some((taken, claims)) => (taken, claims.len() as u64),
        None => (&header.taken, header.claims),
    };
    print(&sentence!(
        l,
        "{path}：已恢复到{when}的状态，其中有{claims}条待处理的抢购\n",
        "{path}: restored to the state of {when}, with {claims} pending claims\n"
    ));
    if until.is_none() {
        hint_at_stream(&from, l);
    }
    report_rest(&from, restore.at.is_some(), &applied, l);
    if let Some(former) = former {
        let former = former.display();
        print(&sentence!(
            l,
            "原来的商城在{former}，确认无误后即可删除\n",
            "the former mall is in {former}; delete it when you no longer need it\n"
        ));
    }
    hint_at_users(keep_keys, l);
    if checked.balances {
        let command = if header.is_demo { "demo" } else { "serve" };
        print(&sentence!(
            l,
            "账目相符。启动：mallbox {command} --data {path}\n",
            "the ledger balances. To start the mall: mallbox {command} --data {path}\n"
        ));
    } else {
        print(&checked.text);
    }
    Ok(checked.balances)
}

/// Returns the last instant, in ms since 1970, that a backup and its stream can restore at or before `until`;
/// `None` if the backup is later.
fn reach(backup: &Path, taken: Timestamp, until: Until) -> Option<i64> {
    let until = match until {
        Until::Latest => i64::MAX,
        Until::Instant(until) => until.as_millisecond(),
    };
    let taken = taken.as_millisecond();
    if until < taken {
        return None;
    }
    // Only the place of the points is of interest here, and not what they follow.
    let position = Position { number: 1, previous: String::new() };
    let points = PointReader::open(&stream_of(backup), position).ok();
    Some(points.and_then(|points| points.reach(until)).unwrap_or(taken))
}

/// Says that there is more to restore than the backup alone.
fn hint_at_stream(backup: &Path, l: Language) {
    let stream = stream_of(backup);
    if stream.exists() {
        let stream = stream.display();
        print(&sentence!(
            l,
            "{stream}里还有此后的改动；加上--at latest或--at 时刻，可一并恢复\n",
            "{stream} has what changed afterwards; pass --at latest, or --at INSTANT, to restore that too\n"
        ));
    }
}

/// Reports what of a stream is not in the restored mall. `is_demanded`: whether an instant was named.
fn report_rest(backup: &Path, is_demanded: bool, applied: &Applied, l: Language) {
    let stream = stream_of(backup);
    let (shown, bytes) = (stream.display(), applied.torn_bytes);
    if is_demanded && applied.points == 0 {
        warn(&sentence!(
            l,
            "{shown}不存在，或者其中没有该时刻之前的时间点：恢复的只是备份本身",
            "{shown} is missing, or has no point before the instant: the backup alone was restored"
        ));
    }
    if bytes > 0 {
        warn(&sentence!(
            l,
            "{shown}末尾的{bytes}字节不是完整的时间点，没有恢复",
            "the last {bytes} bytes of {shown} are no whole point, and were not restored"
        ));
    }
}

impl Restore {
    /// Returns where the mall is restored.
    fn place(&self) -> Result<Place, UsageError> {
        match (&self.dir, self.servers.is_any_named()) {
            (None, false) => return Err(UsageError::Backup(BackupMisuse::NoPlace)),
            (Some(_), true) => return Err(UsageError::Backup(BackupMisuse::TwoPlaces)),
            _ => {}
        }
        if self.dir.is_some() {
            for (flag, value) in [("--scratch", &self.scratch), ("--uploads", &self.uploads)] {
                if value.is_some() {
                    return Err(UsageError::Where(LocationError::OnlyOnServers(flag)));
                }
            }
        }
        let place = PlaceConfig { data: self.dir.clone(), servers: self.servers.clone() };
        place.place().map_err(UsageError::Where)
    }

    /// Reads the keys.
    fn credentials(&self) -> anyhow::Result<Credentials> {
        let mut identities = Vec::new();
        for file in &self.key {
            identities.extend(key_files::read(file, KeyKind::Decryption, keys::identities)?);
        }
        let signer = self.signed_by.as_deref();
        let signer = signer
            .map(|file| key_files::read(file, KeyKind::Verification, keys::verifying_key))
            .transpose()?;
        Ok(Credentials { identities, signer })
    }

    /// Returns the backup, and how far its stream is restored; `None` if it is not.
    fn source(&self, credentials: &Credentials) -> anyhow::Result<(PathBuf, Option<Until>)> {
        if !self.from.is_dir() {
            return Ok((self.from.clone(), self.at));
        }
        let until = self.at.unwrap_or(Until::Latest);
        let cannot_read = |error| CommandFailure::CannotRead(self.from.clone()).with_cause(error);
        let mut fitting = Vec::new();
        for entry in fs::read_dir(&self.from).map_err(cannot_read)? {
            let name = entry.map_err(cannot_read)?.file_name();
            let Some(taken) = time_in(&name.to_string_lossy()) else { continue };
            let path = self.from.join(&name);
            fitting.extend(reach(&path, taken, until).map(|reach| (reach, path)));
        }
        fitting.sort();
        // A name has the second in which a backup was asked for, and its header the instant of its contents.
        // What cannot be read is taken all the same: its restore says why.
        let is_early = |path: &PathBuf| {
            let header = reader::header(path, credentials).ok();
            let taken = header.and_then(|header| header.taken.parse::<Timestamp>().ok());
            taken.is_none_or(|taken| !until.is_before(taken.as_millisecond()))
        };
        match fitting.into_iter().rev().map(|(_, path)| path).find(is_early) {
            Some(path) => Ok((path, Some(until))),
            None => {
                let instant = match until {
                    Until::Latest => None,
                    Until::Instant(until) => Some(until.to_string()),
                };
                Err(UsageError::Backup(BackupMisuse::NoBackup(self.from.clone(), instant)).into())
            }
        }
    }
}

/// A mall made of a backup.
pub(super) struct Made {
    header: Header,
    pub(super) checked: CheckedLedger,
    pub(super) applied: Applied,
}

/// Unpacks a backup into an empty directory, adds its stream if wanted, makes a mall of it, and checks its
/// ledger. The mall has an order log with the pending claims, no sessions, and a new incarnation.
pub(super) fn make_mall(
    from: Source<'_>,
    dir: &Path,
    keep_keys: bool,
    progress: impl FnMut(u64),
    l: Language,
) -> anyhow::Result<Made> {
    let not_restored = |error| CommandFailure::NotRestored(from.file.to_owned()).with_cause(error);
    let Unpacked { header, mut claims } =
        unpack(from.file, Kind::Directory, dir, from.credentials, progress).map_err(not_restored)?;
    if let Some(Until::Instant(until)) = from.until
        && header.taken.parse::<Timestamp>().is_ok_and(|taken| until < taken)
    {
        return Err(UsageError::Backup(BackupMisuse::LaterBackup(from.file.to_owned(), header.taken)).into());
    }
    let mut applied = Applied::default();
    let mut taken = header.taken.clone();
    if header.is_base {
        if let Some(until) = from.until {
            applied = apply_points(from, &header, dir, until)?;
        }
        finish_copy(&dir.join(DATABASE))?;
    }
    if let Some((of_point, pending)) = &applied.last {
        taken.clone_from(of_point);
        claims.clone_from(pending);
    }
    if header.is_demo {
        mark_as_demo(dir)?;
    }
    let settings = settings_of_restored(taken);
    block_on(async { Ok(make_log(dir, claims, forgotten(keep_keys), settings).await?) })?;
    Ok(Made { header, checked: check_directory(dir, l)?, applied })
}
