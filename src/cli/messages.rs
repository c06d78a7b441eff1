//! Error messages of the command line, in each language.
//!
//! One `match` per error type: the compiler rejects an error without a message, or with a message in one
//! language only.

mod backup;
#[cfg(feature = "production")]
mod bench;
mod causes;
mod kiosk;
mod usage;

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use mallbox_storage::OpenError;

pub(super) use self::backup::BackupMisuse;
#[cfg(feature = "production")]
pub(super) use self::bench::BenchMisuse;
pub(super) use self::causes::of_system;
use self::causes::{of_backup, of_import, of_server, of_store};
pub(super) use self::kiosk::{KioskFailure, KioskMisuse};
pub(super) use self::usage::UsageError;
use crate::backup::fault::BackupFault;
use crate::http::ServerError;
use crate::import::ImportError;
use crate::language::{Language, sentence};

/// An obstacle to a correctly typed command: exit code 1.
#[derive(Debug)]
pub(super) enum CommandFailure {
    /// The mall belongs to another user.
    ForeignMall(PathBuf),
    /// A directory cannot be created.
    CannotMake(PathBuf),
    /// A directory is not writable.
    CannotWrite(PathBuf),
    /// Other accounts have access to the directory, and it cannot be removed.
    OpenToOthers(PathBuf),
    /// A file cannot be read.
    CannotRead(PathBuf),
    /// The temporary copy of a read-only mall failed; source and destination.
    CannotCopy(PathBuf, PathBuf),
    /// The system refuses to start threads.
    NoThreads,
    /// A fixture could not start.
    NoFixture,
    /// The time zone of a mall cannot change; the stored zone and the requested zone.
    ZoneStays(String, String),
    /// The stored time zone is unknown to this program.
    ZoneUnknown(String),
    /// The mall cannot be read.
    MallUnreadable,
    /// The mall could not mark its stop as clean.
    NotClosed,
    /// The mall runs and does not respond.
    NoAnswer,
    /// The mall in this directory does not run.
    NotRunning(PathBuf),
    /// Standard input cannot be read.
    NoInput,
    /// The response lacks the result of the ledger check.
    NoLedgerResult,
    /// The response lacks the result of an archiving.
    NoArchiveResult,
    /// The response lacks the accounts to export.
    NoAccounts,
    /// The response lacks the result of the audit log's verification.
    NoVerdictOnAudit,
    /// The response lacks what a backup begins with.
    NoBackupBasis,
    /// The database of the mall to back up is damaged; the number of pages.
    DamagedPages(u64),
    /// Nothing of the backup was restored.
    NotRestored(PathBuf),
    /// A restore on servers ended in the middle.
    #[cfg_attr(
        not(feature = "production"),
        expect(dead_code, reason = "only servers are filled in the middle")
    )]
    RestoreUnfinished(PathBuf),
    /// A stream is damaged; the time of the last point before.
    DamagedStream(PathBuf, Option<String>),
    /// Nothing of the dump was imported.
    NotImported(PathBuf),
    /// Clean-up after a failed import failed.
    NotCleanedUp(PathBuf),
    /// The import is complete, and the mall could not mark its stop as clean.
    ImportedNotClosed,
    /// The file of the staff's secret is empty or damaged.
    NoStaffSecret(PathBuf),
    /// A kiosk cannot be set up, given a key, shown or removed.
    Kiosk(KioskFailure),
    /// A file without a token.
    #[cfg(feature = "production")]
    NoToken(PathBuf),
}

impl CommandFailure {
    fn words(&self, l: Language) -> String {
        match self {
            Self::ForeignMall(dir) => {
                let dir = dir.display();
                sentence!(
                    l,
                    "{dir}属于其他用户；请以该用户或root身份运行",
                    "{dir} belongs to another user; run as that user or as root"
                )
            }
            Self::CannotMake(dir) => {
                let dir = dir.display();
                sentence!(l, "无法创建目录{dir}", "cannot create directory {dir}")
            }
            Self::CannotWrite(dir) => {
                let dir = dir.display();
                sentence!(l, "无法写入{dir}", "cannot write to {dir}")
            }
            Self::OpenToOthers(dir) => {
                let dir = dir.display();
                sentence!(
                    l,
                    "其他账户可以访问{dir}，且无法收回；请运行：sudo chmod -R go-rwx '{dir}'（不保存权限的文件系统请以umask=077挂载）",
                    "other accounts have access to {dir}, which cannot be removed here; type: sudo chmod -R go-rwx \
                     '{dir}' (mount a file system that keeps no permissions with umask=077)"
                )
            }
            Self::CannotRead(path) => {
                let path = path.display();
                sentence!(l, "无法读取{path}", "cannot read {path}")
            }
            Self::CannotCopy(dir, to) => {
                let (dir, to) = (dir.display(), to.display());
                sentence!(
                    l,
                    "{dir}是只读的，且无法将其复制到{to}；请将TMPDIR设为空间足够的目录",
                    "{dir} is read-only and cannot be copied to {to}; set TMPDIR to a directory with enough space"
                )
            }
            Self::NoThreads => sentence!(l, "无法启动线程", "cannot start threads"),
            Self::NoFixture => sentence!(l, "夹具无法启动", "the fixture cannot start"),
            Self::ZoneStays(kept, asked) => sentence!(
                l,
                "这座商城的时区已定为{kept}，不能改为{asked}；请去掉--zone",
                "the mall's time zone is {kept} and cannot be changed to {asked}; remove --zone"
            ),
            Self::ZoneUnknown(zone) => {
                sentence!(
                    l,
                    "时区数据库里没有商城的时区{zone}",
                    "the mall's time zone {zone} is not in the time zone database"
                )
            }
            Self::MallUnreadable => sentence!(l, "无法读取商城", "cannot read the mall"),
            Self::NotClosed => sentence!(
                l,
                "已确认的数据都已保存，但未能正常关闭",
                "all acknowledged data is saved, but the shutdown was not clean"
            ),
            Self::NoAnswer => sentence!(
                l,
                "商城正在运行，但其控制接口没有响应",
                "the mall is running, but its control socket does not respond"
            ),
            Self::NotRunning(dir) => {
                let dir = dir.display();
                sentence!(
                    l,
                    "{dir}里的商城没有运行，验证码只在运行期间有效：请先启动商城，或改用mallbox user set-password",
                    "the mall in {dir} is not running, and a code ends with the process: start the mall first, \
                     or run mallbox user set-password"
                )
            }
            Self::NoInput => {
                sentence!(l, "无法从标准输入读取密码", "the password could not be read from standard input")
            }
            Self::NoLedgerResult => {
                sentence!(l, "响应里没有账目核对的结果", "the response lacks the result of the ledger check")
            }
            Self::NoArchiveResult => {
                sentence!(l, "响应里没有归档的结果", "the response lacks the result of the archiving")
            }
            Self::NoAccounts => sentence!(
                l,
                "响应里没有账目：正在运行的可能是其他版本，请先用这个版本重新启动商城",
                "the response lacks the accounts: another version may be running; restart the mall with this one"
            ),
            Self::NoVerdictOnAudit => {
                sentence!(
                    l,
                    "响应里没有审计日志的校验结果",
                    "the response lacks the result of the audit log's verification"
                )
            }
            Self::NoBackupBasis => sentence!(
                l,
                "响应里没有备份所需的内容：正在运行的是较早的版本，请先用这个版本重新启动商城",
                "the response lacks what a backup begins with: an earlier version is running; restart the mall with this \
                 one"
            ),
            Self::DamagedPages(pages) => sentence!(
                l,
                "数据库已损坏，{pages}个页面与校验和不符，因此没有备份；请停止商城再启动，启动时会说明处理办法",
                "the database is damaged, {pages} pages do not match their checksums, so that no backup was written; stop \
                 the mall and start it again: the start says what to do"
            ),
            Self::NotRestored(file) => {
                let file = file.display();
                sentence!(l, "{file}：没有恢复任何内容", "{file}: nothing was restored")
            }
            Self::RestoreUnfinished(file) => {
                let file = file.display();
                sentence!(
                    l,
                    "{file}：恢复没有完成，可以重新运行",
                    "{file}: the restore was not finished, and can be repeated"
                )
            }
            Self::DamagedStream(file, reached) => {
                let file = file.display();
                match reached {
                    None => sentence!(
                        l,
                        "{file}从第一个时间点起就无法读取，没有恢复任何内容；不加--at可恢复备份本身",
                        "{file} is unreadable from its first point on, and nothing was restored; without --at the \
                         backup itself is restored"
                    ),
                    Some(reached) => sentence!(
                        l,
                        "{file}在{reached}之后无法读取，没有恢复任何内容；加上--at {reached}可恢复到那里",
                        "{file} is unreadable after {reached}, and nothing was restored; pass --at {reached} to restore \
                         up to there"
                    ),
                }
            }
            Self::NotImported(file) => {
                let file = file.display();
                sentence!(l, "{file}：没有导入任何内容", "{file}: nothing was imported")
            }
            Self::NotCleanedUp(dir) => {
                let dir = dir.display();
                sentence!(l, "无法清除{dir}里未完成的导入", "cannot remove the partial import from {dir}")
            }
            Self::ImportedNotClosed => {
                sentence!(
                    l,
                    "导入已完成，但未能正常关闭",
                    "the import is complete, but the shutdown was not clean"
                )
            }
            Self::NoStaffSecret(file) => {
                let file = file.display();
                sentence!(
                    l,
                    "{file}是空的或已损坏；请放回原来的文件，或删除它并给每位店员换PIN",
                    "{file} is empty or damaged; put the former file back, or delete it and give all staff new PINs"
                )
            }
            Self::Kiosk(failure) => failure.words(l),
            #[cfg(feature = "production")]
            Self::NoToken(file) => {
                let file = file.display();
                sentence!(l, "{file}里没有令牌", "{file} contains no token")
            }
        }
    }

    /// Adds the cause.
    pub(super) fn with_cause(self, cause: impl Into<anyhow::Error>) -> anyhow::Error {
        CommandError { by: self, cause: Some(cause.into()) }.into()
    }
}

impl From<CommandFailure> for anyhow::Error {
    fn from(by: CommandFailure) -> Self {
        CommandError { by, cause: None }.into()
    }
}

/// A hindrance with its cause, as an [`anyhow::Error`].
#[derive(Debug)]
struct CommandError {
    by: CommandFailure,
    cause: Option<anyhow::Error>,
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.by.words(Language::En).fmt(f)
    }
}

impl Error for CommandError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().map(|cause| &**cause as &(dyn Error + 'static))
    }
}

/// Renders an error and its causes as one sentence.
pub(super) fn render_error(error: &anyhow::Error, l: Language) -> String {
    let mut sentence = String::new();
    for cause in error.chain() {
        let text = render_cause(cause, l);
        // Some errors already include their cause.
        if sentence.is_empty() {
            sentence = text;
        } else if !sentence.contains(&text) {
            sentence += match l {
                Language::Zh => "：",
                Language::En => ": ",
            };
            sentence += &text;
        }
    }
    sentence
}

fn render_cause(error: &(dyn Error + 'static), l: Language) -> String {
    if let Some(misuse) = error.downcast_ref::<UsageError>() {
        return misuse.words(l);
    }
    if let Some(hindered) = error.downcast_ref::<CommandError>() {
        return hindered.by.words(l);
    }
    if let Some(error) = error.downcast_ref::<OpenError>() {
        return of_store(error, l);
    }
    if let Some(error) = error.downcast_ref::<ServerError>() {
        return of_server(error, l);
    }
    if let Some(fault) = error.downcast_ref::<BackupFault>() {
        return of_backup(fault, l);
    }
    if let Some(error) = error.downcast_ref::<ImportError>() {
        return of_import(error, l);
    }
    match error.downcast_ref::<io::Error>() {
        Some(error) => of_system(error, l),
        None => error.to_string(),
    }
}
