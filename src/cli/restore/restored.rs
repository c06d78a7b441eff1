//! What a restored mall gets, wherever it is, and what its operator is told.

use crate::backup::manifest::Header;
use crate::backup::reader::Credentials;
use crate::cli::output::print;
use crate::language::{Language, sentence};
use crate::mall::operator::backups::{INCARNATION, RENEWED_SECRETS, RESTORED_FROM};

/// Returns the beginnings of the names of settings that a restored mall does not take over.
pub(super) fn forgotten(keep_keys: bool) -> &'static [&'static str] {
    if keep_keys { &[] } else { RENEWED_SECRETS }
}

/// Returns the settings of a mall restored from a backup of the time `taken`.
pub(super) fn settings_of_restored(taken: String) -> Vec<(&'static str, String)> {
    vec![(INCARNATION, format!("{:016x}", rand::random::<u64>())), (RESTORED_FROM, taken)]
}

/// Says that a signature was not compared with a key.
pub(super) fn hint_at_signer(header: &Header, credentials: &Credentials, l: Language) {
    if let Some(signer) = header.signer.as_ref().filter(|_| credentials.signer.is_none()) {
        print(&sentence!(
            l,
            "备份是用密钥{signer}签名的；用--signed-by可核对是不是你的密钥\n",
            "the backup is signed with key {signer}; pass --signed-by to make sure that it is yours\n"
        ));
    }
}

/// Says what users have to do again.
pub(super) fn hint_at_users(keep_keys: bool, l: Language) {
    if keep_keys {
        print(&sentence!(l, "所有用户都要重新登录\n", "all users have to log in again\n"));
    } else {
        print(&sentence!(
            l,
            "所有用户都要重新登录；以前显示的核销码不再有效，重新打开订单即可\n",
            "all users have to log in again; receipts shown before are no longer valid, and opening the order again \
             shows a new one\n"
        ));
    }
}
