//! Messages of `kiosk`.

use crate::language::{Language, sentence};

/// Wrong arguments of `kiosk`.
#[derive(Debug)]
pub(in crate::cli) enum KioskMisuse {
    /// No address of a mall.
    Address(String),
    /// Standard input holds no key of a kiosk.
    Key,
}

impl KioskMisuse {
    pub(super) fn words(&self, l: Language) -> String {
        match self {
            Self::Address(url) => sentence!(
                l,
                "--url应为http://127.0.0.1:8080这样的地址，而不是“{url}”",
                "--url: expected an address such as http://127.0.0.1:8080, not \"{url}\""
            ),
            Self::Key => sentence!(
                l,
                "输入里没有终端的密钥；请粘贴管理后台显示的整个链接（…/?kiosk#kiosk-key=…）",
                "no key of a kiosk was given; paste the whole link that the console shows (…/?kiosk#kiosk-key=…)"
            ),
        }
    }
}

/// An obstacle to `kiosk`.
#[derive(Debug)]
pub(in crate::cli) enum KioskFailure {
    /// The account is not root; the subcommand.
    NotRoot(&'static str),
    /// Another system than Debian, or no systemd.
    NotDebian,
    /// Packages are missing.
    Missing(Vec<&'static str>),
    /// This program is not where the unit starts it.
    NoProgram(&'static str),
    /// A step failed; those after it were not taken.
    Stopped { step: String, left: Vec<String> },
    /// The removal failed.
    NotRemoved,
    /// There is no installation.
    NotInstalled,
    /// The browser cannot be started.
    NoBrowser,
    /// The browser has ended.
    BrowserEnded,
    /// The browser did not respond.
    BrowserHung,
    /// The page has crashed or was closed.
    PageCrashed,
    /// Printing has not ended.
    PrintingStuck,
    /// The browser shows another page than the mall's; its address.
    OtherPage(String),
}

impl KioskFailure {
    pub(super) fn words(&self, l: Language) -> String {
        match self {
            Self::NotRoot(subcommand) => match *subcommand {
                "install" => sentence!(
                    l,
                    "需要root：sudo mallbox kiosk install；加--dry-run可以先看会做什么",
                    "this needs root: sudo mallbox kiosk install; --dry-run shows before what it would do"
                ),
                other => sentence!(
                    l,
                    "需要root：sudo mallbox kiosk {other}",
                    "this needs root: sudo mallbox kiosk {other}"
                ),
            },
            Self::NotDebian => sentence!(
                l,
                "这不是带systemd的Debian，没有改动任何东西；--dry-run会打印全部文件，可以照着自己设置",
                "this is no Debian with systemd, and nothing was changed; --dry-run prints all files for a setup by \
                 hand"
            ),
            Self::Missing(packages) => {
                let (zh, en, all) = (packages.join("、"), packages.join(", "), packages.join(" "));
                sentence!(
                    l,
                    "缺少{zh}，没有改动任何东西；请先运行：sudo apt-get install {all}",
                    "missing here: {en}; nothing was changed; type: sudo apt-get install {all}"
                )
            }
            Self::NoProgram(path) => sentence!(
                l,
                "没有{path}，终端要靠它启动浏览器；没有改动任何东西；请安装Debian包，或把程序放到那里",
                "there is no {path}, which starts the browser; nothing was changed; install the Debian package, or \
                 put the program there"
            ),
            Self::Stopped { step, left } if left.is_empty() => {
                sentence!(l, "没有完成：{step}", "not done: {step}")
            }
            Self::Stopped { step, left } => {
                let (zh, en) = (left.join("、"), left.join(", "));
                sentence!(
                    l,
                    "没有完成：{step}；之后的也没有：{zh}；排除原因后再运行一次即可",
                    "not done: {step}; nor what follows: {en}; repeat the command once the cause is mended"
                )
            }
            Self::NotRemoved => sentence!(
                l,
                "移除没有完成，可以再运行一次",
                "the removal was not finished, and can be repeated"
            ),
            Self::NotInstalled => sentence!(
                l,
                "这里没有安装终端；请先运行sudo mallbox kiosk install",
                "no kiosk is installed here; run sudo mallbox kiosk install first"
            ),
            Self::NoBrowser => sentence!(l, "无法启动浏览器", "cannot start the browser"),
            Self::BrowserEnded => sentence!(l, "浏览器已退出", "the browser has ended"),
            Self::BrowserHung => sentence!(l, "浏览器没有响应", "the browser does not respond"),
            Self::PageCrashed => sentence!(l, "页面已崩溃或关闭", "the page has crashed or was closed"),
            Self::PrintingStuck => sentence!(
                l,
                "浏览器的打印没有结束；请检查打印机，或安装时不加--print",
                "the browser does not finish printing; check the printer, or install without --print"
            ),
            Self::OtherPage(address) => {
                sentence!(l, "浏览器离开了商城：{address}", "the browser has left the mall for {address}")
            }
        }
    }
}
