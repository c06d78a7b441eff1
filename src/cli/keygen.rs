//! `mallbox keygen`: makes the keys that encrypt or sign backups.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::messages::{BackupMisuse, CommandFailure, UsageError};
use super::output::print;
use crate::backup::directory_of;
use crate::backup::keys::KeyPair;
use crate::language::{Language, sentence};

/// The arguments of `keygen`.
#[derive(Args)]
pub(super) struct Keygen {
    /// What the key is for.
    purpose: Purpose,
    /// The new file of the private key. The public key goes to FILE.pub.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Purposes of keys.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Purpose {
    /// Encrypts backups: whoever has them needs the private key to read them.
    Encryption,
    /// Signs backups: a restore can tell that nobody changed them.
    Signature,
}

/// Writes a new private key and its public key.
///
/// # Errors
/// One sentence for the user of the command line; no file is left then.
pub(super) fn run(keygen: &Keygen, l: Language) -> anyhow::Result<()> {
    let (private, public) = (&keygen.file, with_pub(&keygen.file));
    let pair = match keygen.purpose {
        Purpose::Encryption => KeyPair::for_encryption(),
        Purpose::Signature => KeyPair::for_signature(),
    };
    write_new(private, &pair.private, 0o600)?;
    write_new(&public, &pair.public, 0o644).inspect_err(|_| drop(fs::remove_file(private)))?;
    let synced = File::open(directory_of(private)).and_then(|dir| dir.sync_all());
    synced.map_err(|error| CommandFailure::CannotWrite(private.clone()).with_cause(error))?;
    let (private, public) = (private.display(), public.display());
    print(&match keygen.purpose {
        Purpose::Encryption => sentence!(
            l,
            "加密备份：mallbox backup … --encrypt {public}\n恢复时用：mallbox restore … --key {private}\n\
             请把{private}移到别处，不要与商城或备份放在一起，并另存一份：没有它，加密的备份无法恢复。\n",
            "to encrypt backups: mallbox backup … --encrypt {public}\nto restore them: mallbox restore … --key \
             {private}\nMove {private} away from the mall and from its backups, and keep a second copy: without it, no \
             encrypted backup can be restored.\n"
        ),
        Purpose::Signature => sentence!(
            l,
            "签名备份：mallbox backup … --sign {private}\n恢复时核对：mallbox restore … --signed-by {public}\n\
             请把{public}另存一份，不要只与备份放在一起；{private}只留在做备份的机器上。\n",
            "to sign backups: mallbox backup … --sign {private}\nto check them: mallbox restore … --signed-by {public}\n\
             Keep a copy of {public} elsewhere than beside the backups; {private} stays on the machine that makes them.\n"
        ),
    });
    Ok(())
}

fn with_pub(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".pub");
    name.into()
}

fn write_new(file: &Path, text: &str, mode: u32) -> anyhow::Result<()> {
    let written =
        OpenOptions::new().write(true).create_new(true).mode(mode).open(file).and_then(|mut open| {
            open.write_all(text.as_bytes())
                .and_then(|()| open.sync_all())
                .inspect_err(|_| drop(fs::remove_file(file)))
        });
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => UsageError::Backup(BackupMisuse::KeyExists(file.to_owned())).into(),
        _ => CommandFailure::CannotWrite(file.to_owned()).with_cause(error),
    })
}
