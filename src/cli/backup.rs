//! `mallbox backup`: writes a mall to a file, and tries the file out.

mod contents;
mod directory;
pub(super) mod naming;
mod plain_files;
mod repeated;
#[cfg(feature = "production")]
mod servers;
mod stream;
mod take;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use self::directory::{DirectoryMall, Form};
#[cfg(feature = "production")]
use self::servers::ServersMall;
use self::stream::{Schedule, Source};
use self::take::{Origin, Protection, Target};
use super::key_files;
use super::messages::{BackupMisuse, CommandFailure, UsageError};
use super::room::remove_rooms_on_stop;
#[cfg(feature = "production")]
use super::running_mall::check_is_dir;
use crate::backup::keys::{self, KeyKind};
use crate::backup::retention::Retention;
use crate::config::{self, LocationError, PlaceConfig, ServerUrl, ServersConfig};
use crate::language::Language;
use crate::place::Place;

/// The flags of `backup`.
#[derive(Args)]
pub(super) struct Backup {
    /// The new file; or an existing directory, in which each backup is named by its time.
    #[arg(value_name = "FILE|DIR")]
    to: PathBuf,
    /// The mall. A running mall continues to sell.
    #[command(flatten)]
    mall: PlaceConfig,
    /// Repeats the backup at this interval, such as 15m, 1h or 1d, until stopped. The directory may come and
    /// go, as a removable disk does.
    #[arg(long, value_name = "SPAN", value_parser = interval)]
    every: Option<Duration>,
    /// Removes older backups from the directory: keeps the newest of each of so many hours, days, weeks,
    /// months and years, such as 24h,7d,12m.
    #[arg(long, value_name = "LIST")]
    keep: Option<Retention>,
    /// The directory in which each backup is unpacked and opened as a trial; default: beside the backup, or
    /// with --encrypt the system's directory for temporary files.
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Encrypts the backup for this public key of age, or for those in this file. May be repeated: each of
    /// the private keys can restore it.
    #[arg(long, value_name = "KEY|FILE")]
    encrypt: Vec<String>,
    /// Adds each second what has changed to a file beside the backup, so that the mall can be restored as it
    /// was at any second. A new backup begins with --every; default: each day.
    #[arg(long)]
    stream: bool,
    /// Signs the backup with the private key in this file.
    #[arg(long, value_name = "FILE")]
    sign: Option<PathBuf>,
    /// The folder of pictures that an import has left as files, of a mall in Redis and MySQL: the one of
    /// serve --uploads.
    #[arg(long, env = "MALLBOX_UPLOADS", value_name = "DIR")]
    uploads: Option<PathBuf>,
    #[command(flatten)]
    trial: TrialServers,
}

/// The servers on which a backup of a mall on servers is restored as a trial.
#[derive(Args)]
struct TrialServers {
    /// A Redis in which each backup of a mall in Redis and MySQL is restored as a trial, under a prefix of
    /// its own that is removed afterwards. Needs --trial-mysql.
    #[arg(long, env = "MALLBOX_TRIAL_REDIS", hide_env_values = true, value_name = "URL")]
    trial_redis: Option<ServerUrl>,
    /// The MySQL of the trial: a database of its own is created on the server, and dropped afterwards.
    #[arg(long, env = "MALLBOX_TRIAL_MYSQL", hide_env_values = true, value_name = "URL")]
    trial_mysql: Option<ServerUrl>,
}

/// Parses an interval from a minute to 31 days.
fn interval(text: &str) -> Result<Duration, String> {
    config::span(text, config::MINUTE_S..=31 * config::DAY_S)
        .ok_or_else(|| "expected an interval from 1m to 31d, such as 1h".to_owned())
}

/// Writes a backup, or one after the other. Returns whether its trial leaves no doubt.
///
/// # Errors
/// One sentence for the user of the command line; no file is left then.
pub(super) fn run(backup: &Backup, l: Language) -> anyhow::Result<bool> {
    let place = backup.mall.place().map_err(UsageError::Where)?;
    let trial = backup.trial.place()?;
    let origin = backup.origin(&place, trial.as_ref())?;
    let protection = backup.protection()?;
    let is_endless = backup.stream || backup.every.is_some();
    remove_rooms_on_stop(is_endless).map_err(|error| CommandFailure::NoThreads.with_cause(error))?;
    let target = Target { origin, scratch: backup.scratch.as_deref(), protection, l };
    if backup.stream {
        let mall = origin.directory().ok_or(UsageError::Backup(BackupMisuse::StreamOfServers))?;
        if !backup.to.is_dir() {
            return Err(UsageError::Backup(BackupMisuse::StreamInFile(backup.to.clone())).into());
        }
        let every = backup.every.unwrap_or(Duration::from_secs(config::DAY_S));
        let source = Source { mall, target: &target };
        stream::run(source, &backup.to, Schedule { every, keep: backup.keep.as_ref() });
    }
    match (backup.every, &backup.keep) {
        (Some(every), keep) => repeated::run(&target, &backup.to, every, keep.as_ref()).map(|()| true),
        (None, Some(_)) if !backup.to.is_dir() => {
            Err(UsageError::Backup(BackupMisuse::KeepInFile(backup.to.clone())).into())
        }
        (None, keep) => {
            let taken = target.take(&backup.to, Form::Whole)?;
            keep.as_ref().inspect(|keep| repeated::remove_superfluous(&backup.to, keep, &taken, l));
            Ok(!taken.is_doubtful)
        }
    }
}

impl Backup {
    /// Returns the mall that is backed up.
    fn origin<'a>(&'a self, place: &'a Place, trial: Option<&'a Place>) -> Result<Origin<'a>, UsageError> {
        match (place, trial) {
            (Place::Embedded(_), _) if self.uploads.is_some() => {
                Err(UsageError::Where(LocationError::OnlyOnServers("--uploads")))
            }
            (Place::Embedded(options), None) => {
                Ok(Origin::Directory(DirectoryMall::new(&self.mall, &options.dir)?))
            }
            (Place::Embedded(_), Some(_)) => {
                Err(UsageError::Where(LocationError::OnlyOnServers("--trial-redis")))
            }
            #[cfg(feature = "production")]
            (Place::Production(options), trial) => {
                let trial = match trial {
                    Some(Place::Production(trial)) => Some(trial),
                    _ => None,
                };
                check_is_dir("--uploads", self.uploads.as_deref())?;
                Ok(Origin::Servers(ServersMall { options, trial, uploads: self.uploads.as_deref() }))
            }
        }
    }

    /// Reads the keys.
    fn protection(&self) -> anyhow::Result<Protection> {
        let mut recipients = Vec::new();
        for given in &self.encrypt {
            match keys::recipients(given) {
                Some(keys) => recipients.extend(keys),
                None => {
                    recipients.extend(key_files::read(
                        given.as_ref(),
                        KeyKind::Encryption,
                        keys::recipients,
                    )?);
                }
            }
        }
        let sign = self.sign.as_deref();
        let signer =
            sign.map(|file| key_files::read(file, KeyKind::Signing, keys::signing_key)).transpose()?;
        Ok(Protection::new(recipients, signer))
    }
}

impl TrialServers {
    /// Returns the servers of the trial, if they are named.
    fn place(&self) -> Result<Option<Place>, UsageError> {
        let Self { trial_redis, trial_mysql } = self;
        let half = |given, missing| Err(UsageError::Where(LocationError::Half { given, missing }));
        match (trial_redis, trial_mysql) {
            (None, None) => Ok(None),
            (Some(_), None) => half("--trial-redis", "--trial-mysql"),
            (None, Some(_)) => half("--trial-mysql", "--trial-redis"),
            (Some(_), Some(_)) => {
                let (redis, mysql) = (trial_redis.clone(), trial_mysql.clone());
                let servers = ServersConfig { redis, mysql, redis_prefix: None };
                PlaceConfig { data: None, servers }.place().map(Some).map_err(UsageError::Where)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_a_minute_to_a_month() {
        for (text, seconds) in [("1m", 60), ("1h", 3_600), ("31d", 31 * 86_400)] {
            assert_eq!(interval(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for wrong in ["", "m", "0m", "1s", "32d", "1", "-1h", "99999999999999999999d", "1000000000000000000h"]
        {
            assert!(interval(wrong).unwrap_err().contains("such as 1h"), "{wrong}");
        }
    }
}
