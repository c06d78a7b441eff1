//! `mallbox restore`: makes a mall of a backup.

use std::path::{Path, PathBuf};

use clap::Args;
use mallbox_storage_embedded::backup::{Exchange, make_log};

use super::key_files;
use super::messages::CommandFailure;
use super::output::print;
use super::progress::Progress;
use super::running_mall::{block_on, check_dir, mark_as_demo};
use super::verify::{CheckedLedger, check_directory};
use crate::backup::keys::{self, KeyKind};
use crate::backup::manifest::Header;
use crate::backup::reader::{Credentials, Unpacked, unpack};
use crate::language::{Language, sentence};
use crate::mall::operator::backups::{INCARNATION, RENEWED_SECRETS, RESTORED_FROM};

/// The flags of `restore`.
#[derive(Args)]
pub(super) struct Restore {
    /// The backup, written by mallbox backup.
    #[arg(value_name = "FILE")]
    from: PathBuf,
    /// The directory of the mall: a new one, an empty one, or that of a stopped mall, which is set aside
    /// inside.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Keeps the keys that sign receipts and passes. Without this flag they are made anew, because whoever
    /// has the backup has them too.
    #[arg(long)]
    keep_keys: bool,
    /// The private key of age that decrypts an encrypted backup. May be repeated.
    #[arg(long, value_name = "FILE")]
    key: Vec<PathBuf>,
    /// Refuses a backup that is not signed with the key whose public half is in this file.
    #[arg(long, value_name = "FILE")]
    signed_by: Option<PathBuf>,
}

/// Restores a backup. Returns whether the books balance.
///
/// # Errors
/// One sentence for the user of the command line. The directory is unchanged then, unless the system refuses
/// to move files in it: the next start goes on with that.
pub(super) fn run(restore: &Restore, l: Language) -> anyhow::Result<bool> {
    let Restore { from, dir, keep_keys, .. } = restore;
    let credentials = restore.credentials()?;
    check_dir(dir)?;
    let length = std::fs::metadata(from);
    let length = length.map_err(|error| CommandFailure::CannotRead(from.clone()).with_cause(error))?.len();
    let exchange = Exchange::begin(dir)?;
    let mut progress = Progress::new(length);
    let show = |read: u64| {
        let mib = read >> 20;
        let line = || sentence!(l, "恢复：已读{mib} MiB", "restore: {mib} MiB read");
        progress.show(read, || sentence!(l, "解开", "unpacking"), line);
    };
    let source = Source { file: from, credentials: &credentials };
    let made = make_mall(source, exchange.new_mall(), *keep_keys, show, l);
    progress.end();
    let (header, checked) = match made {
        Ok(made) => made,
        Err(error) => {
            exchange.give_up();
            return Err(error);
        }
    };
    let former = exchange.finish()?;
    if let Some(signer) = header.signer.as_ref().filter(|_| credentials.signer.is_none()) {
        print(&sentence!(
            l,
            "备份是用密钥{signer}签名的；用--signed-by可核对是不是你的密钥\n",
            "the backup is signed with key {signer}; pass --signed-by to make sure that it is yours\n"
        ));
    }
    let (path, when, claims) = (dir.display(), &header.taken, header.claims);
    print(&sentence!(
        l,
        "{path}：已恢复到{when}的状态，其中有{claims}条待处理的抢购\n",
        "{path}: restored to the state of {when}, with {claims} pending claims\n"
    ));
    if let Some(former) = former {
        let former = former.display();
        print(&sentence!(
            l,
            "原来的商城在{former}，确认无误后即可删除\n",
            "the former mall is in {former}; delete it when you no longer need it\n"
        ));
    }
    if *keep_keys {
        print(&sentence!(l, "所有用户都要重新登录\n", "all users have to log in again\n"));
    } else {
        print(&sentence!(
            l,
            "所有用户都要重新登录；以前显示的核销码不再有效，重新打开订单即可\n",
            "all users have to log in again; receipts shown before are no longer valid, and opening the order again \
             shows a new one\n"
        ));
    }
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

impl Restore {
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
}

/// A backup, and what opens it.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a Path,
    pub(super) credentials: &'a Credentials,
}

/// Unpacks a backup into an empty directory, makes a mall of it, and checks its ledger. The mall has an order
/// log with the pending claims, no sessions, and a new incarnation.
pub(super) fn make_mall(
    from: Source<'_>,
    dir: &Path,
    keep_keys: bool,
    progress: impl FnMut(u64),
    l: Language,
) -> anyhow::Result<(Header, CheckedLedger)> {
    let not_restored = |error| CommandFailure::NotRestored(from.file.to_owned()).with_cause(error);
    let Unpacked { header, claims } =
        unpack(from.file, dir, from.credentials, progress).map_err(not_restored)?;
    if header.is_demo {
        mark_as_demo(dir)?;
    }
    let forgotten = if keep_keys { &[][..] } else { RENEWED_SECRETS };
    let incarnation = format!("{:016x}", rand::random::<u64>());
    let settings = vec![(INCARNATION, incarnation), (RESTORED_FROM, header.taken.clone())];
    block_on(async { Ok(make_log(dir, claims, forgotten, settings).await?) })?;
    Ok((header, check_directory(dir, l)?))
}
