//! Error messages of the command line, in each language.
//!
//! One `match` per error type: the compiler rejects an error without a message, or with a message in one
//! language only.

#[cfg(feature = "production")]
mod bench;
mod causes;

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use mallbox_storage::OpenError;

#[cfg(feature = "production")]
pub(super) use self::bench::BenchMisuse;
pub(super) use self::causes::of_system;
use self::causes::{of_backup, of_import, of_server, of_store};
use crate::backup::reader::BackupFault;
use crate::config::{ChallengeConfigError, ConfigFileError, LocationError};
use crate::http::ServerError;
use crate::import::ImportError;
use crate::language::{BilingualText, Language, sentence};

/// Wrong usage of the command: exit code 2.
#[derive(Debug)]
pub(super) enum UsageError {
    /// The flags do not name one place of the mall.
    Where(LocationError),
    /// `demo` without a directory, and without a home directory.
    NoHome,
    /// A mall that is not a demo.
    NotADemo(PathBuf),
    /// A demo's directory, without `--demo-data`.
    IsADemo(PathBuf),
    /// A file in place of a directory.
    IsAFile(PathBuf),
    /// A directory with foreign content; the name of one entry.
    HoldsOther(PathBuf, String),
    /// The flag needs a directory, and the path is none.
    NoDirectory(&'static str, PathBuf),
    /// The configuration file is missing or unreadable; the cause.
    NoFile(PathBuf, io::Error),
    /// Something is wrong in the configuration file.
    InFile(PathBuf, ConfigFileError),
    /// `--sms` is neither `console` nor a gateway's URL; the cause.
    BadGateway(String),
    /// --alert-url cannot be used; the cause.
    BadAlertUrl(String),
    /// Payment mode `webhook` without --payment-url.
    NoPaymentUrl,
    /// --payment-url without --payment-secret.
    NoPaymentSecret,
    /// --payment-url or --payment-secret cannot be used; the cause.
    BadPaymentGateway(String),
    /// The flags of the external challenge service do not fit together.
    ChallengeService(ChallengeConfigError),
    /// --public-url is no address of a site; the value.
    BadPublicUrl(String),
    /// An import whose orders would be paid through a gateway that does not know them.
    ImportThroughGateway,
    /// Not a phone number.
    NoPhone(String),
    /// Not a day.
    NoDay(String),
    /// The two passwords typed at a terminal differ.
    PasswordsDiffer,
    /// An import into a demo.
    ImportIntoDemo(PathBuf),
    /// An import into a directory that holds a used mall.
    ImportIntoUsed(PathBuf),
    /// An import into a used mall in Redis and MySQL.
    ImportIntoUsedServers,
    /// A time to pay in a mall without payments.
    NoPaymentsToWaitFor,
    /// Pictures for a mall in Redis and MySQL, without a directory for them.
    NowhereForPictures,
    /// The flags of a bench do not fit together.
    #[cfg(feature = "production")]
    Bench(BenchMisuse),
    /// The arguments of `backup` do not fit together.
    Backup(BackupMisuse),
    /// No mall in this directory.
    NoMall(PathBuf),
    /// No mall in this Redis and MySQL.
    NoMallOnServers,
    /// A fixture with an invalid option.
    InvalidFixture(BilingualText),
    /// One address for everybody and for operators alone.
    OneAddressTwice(SocketAddr),
    /// Unknown page of the manual; the names of all pages.
    NoTopic(String, Vec<String>),
}

/// Wrong arguments of `backup`.
#[derive(Debug)]
pub(super) enum BackupMisuse {
    /// The directory of the new file is missing.
    NoDirectory(PathBuf),
    /// A file of this name exists.
    Exists(PathBuf),
    /// The directory belongs to the mall.
    InsideMall(PathBuf),
    /// Old backups would be removed from a place that is no directory.
    KeepInFile(PathBuf),
}

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
    /// The response lacks the result of the audit log's verification.
    NoVerdictOnAudit,
    /// The response lacks what a backup begins with.
    NoBackupBasis,
    /// The database of the mall to back up is damaged; the number of pages.
    DamagedPages(u64),
    /// Nothing of the backup was restored.
    NotRestored(PathBuf),
    /// Nothing of the dump was imported.
    NotImported(PathBuf),
    /// Clean-up after a failed import failed.
    NotCleanedUp(PathBuf),
    /// The import is complete, and the mall could not mark its stop as clean.
    ImportedNotClosed,
    /// A file without a token.
    #[cfg(feature = "production")]
    NoToken(PathBuf),
}

impl UsageError {
    pub(super) fn words(&self, l: Language) -> String {
        match self {
            Self::Where(mistake) => mistake.words(l),
            Self::ChallengeService(mistake) => mistake.words(l),
            Self::NoHome => sentence!(
                l,
                "找不到用户主目录，请用--data指定目录",
                "no home directory found; pass --data DIR"
            ),
            Self::NotADemo(dir) => {
                let dir = dir.display();
                sentence!(
                    l,
                    "{dir}里是一座正式商城，不是演示；请用--data指定其他目录",
                    "{dir} holds a mall that is not a demo; pass --data with another directory"
                )
            }
            Self::IsADemo(dir) => {
                let dir = dir.display();
                sentence!(
                    l,
                    "{dir}由`mallbox demo`创建，其中人物均属虚构；确要使用，请加--demo-data",
                    "{dir} was created by `mallbox demo`, and its users are fictitious; pass --demo-data \
                     to serve it anyway"
                )
            }
            Self::IsAFile(path) => {
                let path = path.display();
                sentence!(
                    l,
                    "{path}是文件；--data需要目录的路径",
                    "{path} is a file; --data takes a directory"
                )
            }
            Self::HoldsOther(dir, name) => {
                let dir = dir.display();
                sentence!(
                    l,
                    "{dir}里没有商城，却有其他文件（{name}）；请另选新目录或空目录",
                    "{dir} holds no mall, but other files ({name}); choose a new or empty directory"
                )
            }
            Self::NoDirectory(flag, dir) => {
                let dir = dir.display();
                sentence!(l, "{flag} {dir}：没有这个目录", "{flag} {dir}: no such directory")
            }
            Self::NoFile(path, error) => {
                let (path, why) = (path.display(), of_system(error, l));
                sentence!(l, "无法读取{path}：{why}", "cannot read {path}: {why}")
            }
            Self::InFile(path, mistake) => format!("{}:{}", path.display(), mistake.words(l)),
            Self::NoPaymentUrl => sentence!(
                l,
                "支付方式webhook需要支付网关：请用--payment-url和--payment-secret指定，或用--payment改选其他支付方式",
                "payment mode webhook needs a gateway: pass --payment-url and --payment-secret, or choose another \
                 mode with --payment"
            ),
            Self::NoPaymentSecret => sentence!(
                l,
                "--payment-url还需要--payment-secret（或环境变量MALLBOX_PAYMENT_SECRET）",
                "--payment-url needs --payment-secret (or the environment variable MALLBOX_PAYMENT_SECRET)"
            ),
            Self::BadPaymentGateway(why) => {
                sentence!(l, "--payment-url或--payment-secret不合要求：{why}", "--payment-url: {why}")
            }
            Self::BadPublicUrl(url) => sentence!(
                l,
                "--public-url应为https://mall.example.com这样的地址，而不是{url}",
                "--public-url: expected an address such as https://mall.example.com, not {url}"
            ),
            Self::ImportThroughGateway => sentence!(
                l,
                "迁入的订单无法使用--payment webhook：支付网关没有它们的付款。请先选其他方式，再用serve --payment webhook启动",
                "an import cannot take --payment webhook: the gateway knows no payment of imported orders; choose \
                 another mode, and start serve with --payment webhook afterwards"
            ),
            Self::BadAlertUrl(why) => sentence!(
                l,
                "--alert-url不合要求：{why}",
                "expected --alert-url with a URL like https://alerts.example/mall or http://127.0.0.1:9000/: {why}"
            ),
            Self::BadGateway(why) => sentence!(l, "--sms不合要求：{why}", "{why}"),
            Self::NoPhone(text) => {
                sentence!(l, "{text}不是有效的手机号", "{text} is not a valid phone number")
            }
            Self::NoDay(text) => sentence!(
                l,
                "{text}不是有效的日期，请写成2026-11-24的格式",
                "{text} is not a valid day; write it like 2026-11-24"
            ),
            Self::PasswordsDiffer => {
                sentence!(
                    l,
                    "两次输入的密码不一致，请重新运行",
                    "the two passwords differ; run the command again"
                )
            }
            Self::ImportIntoDemo(dir) => {
                let dir = dir.display();
                sentence!(
                    l,
                    "{dir}是演示商城；导入需要空的商城，请用--data指定新目录",
                    "{dir} holds a demo; import needs an empty mall: pass --data with a new directory"
                )
            }
            Self::ImportIntoUsed(dir) => {
                let dir = dir.display();
                sentence!(
                    l,
                    "{dir}里的商城已有数据；导入需要空的商城，请用--data指定新目录",
                    "the mall in {dir} already has data; import needs an empty mall: pass --data with a \
                     new directory"
                )
            }
            Self::ImportIntoUsedServers => sentence!(
                l,
                "这个MySQL数据库里的商城已有数据；导入需要空的商城，请换一个数据库，并用--redis-prefix换一个前缀",
                "the mall in this MySQL database already has data; import needs an empty mall: pass \
                 --mysql with another database, and another --redis-prefix"
            ),
            Self::NoPaymentsToWaitFor => sentence!(
                l,
                "--unpaid指定了支付时限，但商城不收款；请加--payment sandbox，或改用--unpaid keep、--unpaid cancel",
                "--unpaid sets a time to pay, but this mall takes no payments; pass --payment sandbox, \
                 --unpaid keep or --unpaid cancel"
            ),
            Self::NowhereForPictures => sentence!(
                l,
                "Redis和MySQL不保存图片；请用--uploads指定存放图片的目录",
                "Redis and MySQL do not store pictures; pass --uploads DIR"
            ),
            #[cfg(feature = "production")]
            Self::Bench(misuse) => misuse.words(l),
            Self::Backup(misuse) => misuse.words(l),
            Self::NoMall(dir) => {
                let dir = dir.display();
                sentence!(l, "{dir}里没有商城；请检查--data", "there is no mall in {dir}; check --data")
            }
            Self::NoMallOnServers => sentence!(
                l,
                "这个MySQL数据库里没有商城；请检查--mysql",
                "there is no mall in this MySQL database; check --mysql"
            ),
            Self::InvalidFixture(text) => text.spoken(l).to_owned(),
            Self::OneAddressTwice(address) => sentence!(
                l,
                "--listen和--admin-listen都是{address}；请给管理员换一个地址",
                "--listen and --admin-listen are both {address}; choose another address for operators"
            ),
            Self::NoTopic(topic, topics) => {
                let (zh, en) = (topics.join("、"), topics.join(", "));
                sentence!(
                    l,
                    "手册里没有“{topic}”这个主题；可选的主题：{zh}",
                    "the manual has no topic {topic}; available topics: {en}"
                )
            }
        }
    }
}

impl BackupMisuse {
    fn words(&self, l: Language) -> String {
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

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words(Language::En).fmt(f)
    }
}

impl Error for UsageError {}

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
