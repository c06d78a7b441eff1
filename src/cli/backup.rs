//! `mallbox backup`: writes a mall in a directory to a file, and tries the file out.

pub(super) mod naming;
mod plain_files;
mod repeated;
mod stream;
mod take;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use self::stream::Schedule;
use self::take::{Form, Protection, Target};
use super::messages::{BackupMisuse, CommandFailure, UsageError};
use super::room::remove_rooms_on_stop;
use super::{key_files, mall_directory};
use crate::backup::keys::{self, KeyKind};
use crate::backup::retention::Retention;
use crate::config::{self, LocationError, PlaceConfig};
use crate::language::Language;

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
}

/// Parses an interval from a minute to 31 days.
fn interval(text: &str) -> Result<Duration, String> {
    config::span(text, config::MINUTE_S..=31 * config::DAY_S)
        .ok_or_else(|| "expected an interval from 1m to 31d, such as 1h".to_owned())
}

/// Writes a backup, or one after the other. Returns whether the books in the backup balance.
///
/// # Errors
/// One sentence for the user of the command line; no file is left then.
pub(super) fn run(backup: &Backup, l: Language) -> anyhow::Result<bool> {
    let place = backup.mall.place().map_err(UsageError::Where)?;
    let Some(dir) = place.dir() else {
        return Err(UsageError::Where(LocationError::OnlyInDirectory("backup")).into());
    };
    if !mall_directory::is_mall(dir) {
        return Err(UsageError::NoMall(dir.to_owned()).into());
    }
    let protection = backup.protection()?;
    let is_endless = backup.stream || backup.every.is_some();
    remove_rooms_on_stop(is_endless).map_err(|error| CommandFailure::NoThreads.with_cause(error))?;
    let target = Target { mall: &backup.mall, dir, scratch: backup.scratch.as_deref(), protection, l };
    if backup.stream {
        if !backup.to.is_dir() {
            return Err(UsageError::Backup(BackupMisuse::StreamInFile(backup.to.clone())).into());
        }
        let every = backup.every.unwrap_or(Duration::from_secs(config::DAY_S));
        stream::run(&target, &backup.to, Schedule { every, keep: backup.keep.as_ref() });
    }
    match (backup.every, &backup.keep) {
        (Some(every), keep) => repeated::run(&target, &backup.to, every, keep.as_ref()).map(|()| true),
        (None, Some(_)) if !backup.to.is_dir() => {
            Err(UsageError::Backup(BackupMisuse::KeepInFile(backup.to.clone())).into())
        }
        (None, keep) => {
            let taken = target.take(&backup.to, Form::Whole)?;
            keep.as_ref().inspect(|keep| repeated::remove_superfluous(&backup.to, keep, &taken, l));
            Ok(taken.balances)
        }
    }
}

impl Backup {
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
