//! Messages for wrong usage of the command line.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::backup::BackupMisuse;
#[cfg(feature = "production")]
use super::bench::BenchMisuse;
use super::causes::of_system;
use super::kiosk::KioskMisuse;
use crate::cli::service::SocketMisuse;
#[cfg(feature = "otlp")]
use crate::config::CollectorUrlError;
use crate::config::{ChallengeConfigError, ConfigFileError, LocationError, PrinterConfigError};
use crate::language::{BilingualText, Language, sentence};
use crate::mall::people::staff::StaffKey;

/// Wrong usage of the command: exit code 2.
#[derive(Debug)]
pub(in crate::cli) enum UsageError {
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
    /// --otlp cannot be used; the cause.
    #[cfg(feature = "otlp")]
    BadCollector(CollectorUrlError),
    /// A variable of OpenTelemetry in the environment cannot be used; the cause.
    #[cfg(feature = "otlp")]
    BadTraceSettings(String),
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
    /// The flags of the receipt printer cannot be used.
    Printer(PrinterConfigError),
    /// --staff-secret is too short, or empty.
    ShortStaffSecret,
    /// --public-url is no address of a site; the value.
    BadPublicUrl(String),
    /// An import whose orders would be paid through a gateway that does not know them.
    ImportThroughGateway,
    /// Not a phone number.
    NoPhone(String),
    /// Not a day.
    NoDay(String),
    /// The directory of an export is missing.
    NoExportDirectory(PathBuf),
    /// A file of an export exists.
    ExportExists(PathBuf),
    /// `--excel` for another format than CSV.
    ExcelIsCsv,
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
    /// The arguments of `kiosk` cannot be used.
    Kiosk(KioskMisuse),
    /// No mall in this directory.
    NoMall(PathBuf),
    /// No copy of a mall from before an upgrade in this directory.
    NeverUpgraded(PathBuf),
    /// No mall in this Redis and MySQL.
    NoMallOnServers,
    /// A fixture with an invalid option.
    InvalidFixture(BilingualText),
    /// The service manager passed other sockets than a mall needs.
    Sockets(SocketMisuse),
    /// One address for everybody and for operators alone.
    OneAddressTwice(SocketAddr),
    /// Unknown page of the manual; the names of all pages.
    NoTopic(String, Vec<String>),
}

impl UsageError {
    pub(in crate::cli) fn words(&self, l: Language) -> String {
        match self {
            Self::Where(mistake) => mistake.words(l),
            Self::ChallengeService(mistake) => mistake.words(l),
            Self::Printer(mistake) => mistake.words(l),
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
            Self::ShortStaffSecret => {
                let least = StaffKey::SECRET_MIN_CHARS;
                sentence!(
                    l,
                    "--staff-secret（或环境变量MALLBOX_STAFF_SECRET）至少须有{least}个字符，例如openssl rand -hex 32的输出；\
                     不用时请去掉，不要留空",
                    "--staff-secret (or the environment variable MALLBOX_STAFF_SECRET) needs at least {least} \
                     characters, such as the output of openssl rand -hex 32; without one, leave it out instead of empty"
                )
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
            #[cfg(feature = "otlp")]
            Self::BadCollector(CollectorUrlError { shown, why }) => sentence!(
                l,
                "--otlp应为http://127.0.0.1:4318这样的地址，而不是{shown}：{why}",
                "--otlp: expected a URL like http://127.0.0.1:4318, not {shown}: {why}"
            ),
            #[cfg(feature = "otlp")]
            Self::BadTraceSettings(why) => sentence!(
                l,
                "--otlp：OTEL_开头的环境变量不合要求：{why}",
                "--otlp: check the variables OTEL_… of the environment: {why}"
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
            Self::NoExportDirectory(dir) => {
                let dir = dir.display();
                sentence!(
                    l,
                    "没有目录{dir}；请先创建，或检查路径",
                    "there is no directory {dir}; create it first, or check the path"
                )
            }
            Self::ExportExists(file) => {
                let file = file.display();
                sentence!(
                    l,
                    "{file}已经存在，不会覆盖；请换一个目录",
                    "{file} exists and is not overwritten; choose another directory"
                )
            }
            Self::ExcelIsCsv => sentence!(
                l,
                "--excel只用于CSV；请去掉--format json",
                "--excel is for CSV; remove --format json"
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
            Self::Kiosk(misuse) => misuse.words(l),
            Self::NoMall(dir) => {
                let dir = dir.display();
                sentence!(l, "{dir}里没有商城；请检查--data", "there is no mall in {dir}; check --data")
            }
            Self::NeverUpgraded(dir) => {
                let dir = dir.display();
                sentence!(
                    l,
                    "{dir}里没有升级之前的副本（before-upgrade-…）；不加--before-upgrade，则改写现在的商城",
                    "there is no copy from before an upgrade (before-upgrade-…) in {dir}; without --before-upgrade, the \
                     present mall is rewritten"
                )
            }
            Self::NoMallOnServers => sentence!(
                l,
                "这个MySQL数据库里没有商城；请检查--mysql",
                "there is no mall in this MySQL database; check --mysql"
            ),
            Self::InvalidFixture(text) => text.spoken(l).to_owned(),
            Self::Sockets(misuse) => misuse.words(l),
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

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words(Language::En).fmt(f)
    }
}

impl Error for UsageError {}
