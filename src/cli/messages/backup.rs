//! Messages for arguments of `backup`, `restore` and `keygen` that cannot be used.

use std::path::PathBuf;

use crate::backup::keys::KeyKind;
use crate::language::{Language, sentence};

/// Wrong arguments of `backup`, `restore` and `keygen`.
#[derive(Debug)]
pub(in crate::cli) enum BackupMisuse {
    /// The directory of the new file is missing.
    NoDirectory(PathBuf),
    /// A file of this name exists.
    Exists(PathBuf),
    /// The directory belongs to the mall.
    InsideMall(PathBuf),
    /// Old backups would be removed from a place that is no directory.
    KeepInFile(PathBuf),
    /// A stream would be written to a place that is no directory.
    StreamInFile(PathBuf),
    /// A stream of a mall on servers.
    StreamOfServers,
    /// Neither a directory nor servers to restore into.
    NoPlace,
    /// A directory and servers to restore into.
    TwoPlaces,
    /// A stream to restore into servers.
    #[cfg_attr(not(feature = "production"), expect(dead_code, reason = "only servers have no stream"))]
    InstantOfServers,
    /// No backup in this directory; from an instant before, if one is given.
    NoBackup(PathBuf, Option<String>),
    /// The backup is later than the instant to restore; its time.
    LaterBackup(PathBuf, String),
    /// The file holds no key of this kind.
    NoKey(PathBuf, KeyKind),
    /// A file of this name would be replaced by a key.
    KeyExists(PathBuf),
}

impl BackupMisuse {
    pub(super) fn words(&self, l: Language) -> String {
        match self {
            Self::NoDirectory(dir) => {
                let dir = dir.display();
                sentence!(l, "没有目录{dir}", "there is no directory {dir}")
            }
            Self::Exists(file) => {
                let file = file.display();
                sentence!(
                    l,
                    "{file}已经存在；请换一个文件名，或给出目录，由备份按时间命名",
                    "{file} exists; choose another name, or pass a directory, in which a backup is named by its time"
                )
            }
            Self::InsideMall(dir) => {
                let dir = dir.display();
                sentence!(
                    l,
                    "{dir}在商城自己的目录里：备份应放在别处，最好在另一块磁盘上",
                    "{dir} is inside the mall's own directory: put the backup elsewhere, best on another disk"
                )
            }
            Self::KeepInFile(file) => {
                let file = file.display();
                sentence!(
                    l,
                    "--keep需要存放备份的目录，而{file}不是目录",
                    "--keep takes a directory of backups, and {file} is none"
                )
            }
            Self::StreamInFile(file) => {
                let file = file.display();
                sentence!(
                    l,
                    "--stream需要存放备份的目录，而{file}不是目录",
                    "--stream takes a directory of backups, and {file} is none"
                )
            }
            Self::StreamOfServers => sentence!(
                l,
                "--stream仅用于目录里的商城；Redis和MySQL中的商城只能恢复到备份的时刻，请用--every缩短间隔",
                "--stream is for malls in a directory; one on servers is restored to the time of a backup: shorten the \
                 interval with --every"
            ),
            Self::NoPlace => sentence!(
                l,
                "请指明恢复到哪里：目录，或同时给出--redis URL和--mysql URL",
                "nowhere to restore to; pass a directory, or --redis URL and --mysql URL"
            ),
            Self::TwoPlaces => sentence!(
                l,
                "只能恢复到一处：目录，或--redis和--mysql（环境变量MALLBOX_REDIS、MALLBOX_MYSQL也算在内）",
                "a mall is restored either into a directory or into --redis and --mysql (MALLBOX_REDIS and MALLBOX_MYSQL \
                 count as well)"
            ),
            Self::InstantOfServers => sentence!(
                l,
                "--at仅用于目录里的商城：Redis和MySQL中的商城没有流",
                "--at is for malls in a directory: malls on servers have no stream"
            ),
            Self::NoBackup(dir, None) => {
                let dir = dir.display();
                sentence!(l, "{dir}里没有备份", "there is no backup in {dir}")
            }
            Self::NoBackup(dir, Some(instant)) => {
                let dir = dir.display();
                sentence!(
                    l,
                    "{dir}里没有{instant}或更早的备份",
                    "there is no backup of {instant} or before in {dir}"
                )
            }
            Self::LaterBackup(file, taken) => {
                let file = file.display();
                sentence!(
                    l,
                    "{file}是{taken}的备份，比--at给出的时刻晚；请换一个更早的备份",
                    "{file} is of {taken}, after the instant of --at; choose an earlier backup"
                )
            }
            Self::NoKey(file, kind) => {
                let file = file.display();
                match kind {
                    KeyKind::Encryption => sentence!(
                        l,
                        "{file}里没有age公钥（以age1开头的一行）；用mallbox keygen encryption生成",
                        "{file} holds no public key of age, a line that begins with age1; mallbox keygen encryption \
                         makes one"
                    ),
                    KeyKind::Decryption => sentence!(
                        l,
                        "{file}里没有age私钥（以AGE-SECRET-KEY-1开头的一行）",
                        "{file} holds no private key of age, a line that begins with AGE-SECRET-KEY-1"
                    ),
                    KeyKind::Signing => sentence!(
                        l,
                        "{file}不是Ed25519私钥（PEM格式的PKCS #8）；用mallbox keygen signature生成",
                        "{file} is no Ed25519 private key (PKCS #8 in PEM); mallbox keygen signature makes one"
                    ),
                    KeyKind::Verification => sentence!(
                        l,
                        "{file}不是Ed25519公钥（PEM格式）",
                        "{file} is no Ed25519 public key in PEM"
                    ),
                }
            }
            Self::KeyExists(file) => {
                let file = file.display();
                sentence!(
                    l,
                    "{file}已经存在，密钥不会被覆盖；请换一个文件名",
                    "{file} exists, and a key is never replaced; choose another name"
                )
            }
        }
    }
}
