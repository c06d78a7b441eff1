//! Messages for arguments of `backup` that cannot be used.

use std::path::PathBuf;

use crate::language::{Language, sentence};

/// Wrong arguments of `backup`.
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
        }
    }
}
