//! Messages for errors of the operating system, of an import, of the server and of the storage.

use std::io;

use mallbox_storage::{LogLoss, OpenError, UpgradeState};

use crate::backup::fault::BackupFault;
use crate::http::ServerError;
use crate::import::{End, ImportError};
use crate::language::{Language, sentence};

/// Renders an error of the operating system. The most frequent kinds have Chinese texts; all others keep the
/// system's text.
pub(in crate::cli) fn of_system(error: &io::Error, l: Language) -> String {
    let zh = match error.kind() {
        io::ErrorKind::PermissionDenied => "权限不足",
        io::ErrorKind::NotFound => "没有这个文件或目录",
        io::ErrorKind::StorageFull => "磁盘已满",
        io::ErrorKind::ReadOnlyFilesystem => "文件系统只读",
        io::ErrorKind::NotADirectory => "不是目录",
        io::ErrorKind::IsADirectory => "是目录，不是文件",
        io::ErrorKind::InvalidData => "不是UTF-8文本",
        _ => return error.to_string(),
    };
    match l {
        Language::Zh => zh.to_owned(),
        Language::En => error.to_string(),
    }
}

pub(super) fn of_import(error: &ImportError, l: Language) -> String {
    match error {
        ImportError::Dump(error) => error.words(l),
        ImportError::NotWhole(End::Cut { at, what }) => {
            let (at, what) = (at.words(l), what.spoken(l));
            sentence!(
                l,
                "{at}：{what}；若只要前面的内容，请加--cut-off-is-fine",
                "{at}: {what}; pass --cut-off-is-fine to import the rows before it"
            )
        }
        ImportError::NotWhole(End::Unsigned { at, why }) => {
            let (at, why) = (at.words(l), why.spoken(l));
            sentence!(
                l,
                "{at}：无法确定转储是否完整：{why}；若确知完整，请加--cut-off-is-fine",
                "{at}: cannot tell whether the dump is complete: {why}; if it is, pass --cut-off-is-fine"
            )
        }
        // Never constructed: `Whole` is not an error.
        ImportError::NotWhole(End::Whole) => error.to_string(),
        ImportError::Store(error) => error.to_string(),
        ImportError::Pictures(_) => sentence!(l, "无法写入图片", "cannot write the pictures"),
    }
}

pub(super) fn of_backup(fault: &BackupFault, l: Language) -> String {
    match (l, fault) {
        (Language::En, _) => fault.to_string(),
        (Language::Zh, BackupFault::NotABackup) => "不是mallbox写出的备份".to_owned(),
        (Language::Zh, BackupFault::Newer(format)) => {
            format!("备份的格式是{format}，比这个版本认识的新；请使用更新的mallbox")
        }
        (Language::Zh, BackupFault::OfServers) => {
            "这是Redis和MySQL中商城的备份；请用--redis URL和--mysql URL代替目录".to_owned()
        }
        (Language::Zh, BackupFault::OfDirectory) => {
            "这是目录中商城的备份；请用目录代替--redis和--mysql".to_owned()
        }
        (Language::Zh, BackupFault::Encrypted) => "备份已加密；请用--key 文件给出私钥".to_owned(),
        (Language::Zh, BackupFault::OtherKey) => "备份是为另一把密钥加密的".to_owned(),
        (Language::Zh, BackupFault::Unsigned) => "备份没有签名".to_owned(),
        (Language::Zh, BackupFault::OtherSigner(key)) => format!("备份是用另一把密钥签名的（{key}）"),
        (Language::Zh, BackupFault::Forged) => "签名与内容不符；请改用另一个备份".to_owned(),
        (Language::Zh, BackupFault::OutOfOrder(number)) => {
            format!("第{number}个时间点接不上前面的内容：流属于另一个备份，或被改动过")
        }
        (Language::Zh, BackupFault::CutOff) => "文件不完整，缺少末尾".to_owned(),
        (Language::Zh, BackupFault::Damaged { entry: Some(entry) }) => {
            format!("文件已损坏（{entry}）；请改用另一个备份")
        }
        (Language::Zh, BackupFault::Damaged { entry: None }) => "文件已损坏；请改用另一个备份".to_owned(),
        (Language::Zh, BackupFault::Foreign(entry)) => format!("其中有不属于备份的内容：{entry:?}"),
        (Language::Zh, BackupFault::NoRoom { needed, free, dir }) => {
            let (needed, free, dir) = (needed.div_ceil(1 << 20), free >> 20, dir.display());
            format!("需要{needed} MiB空间，而{dir}所在的磁盘只剩{free} MiB")
        }
        (Language::Zh, BackupFault::Io { path, .. }) => path.display().to_string(),
    }
}

pub(super) fn of_server(error: &ServerError, l: Language) -> String {
    match error {
        ServerError::InUse(address) => sentence!(
            l,
            "{address}已被其他程序占用；请停止那个程序，或换一个地址",
            "{address} is in use by another program; stop it, or choose another address"
        ),
        ServerError::NotAllowed(address) => sentence!(
            l,
            "当前用户不能监听{address}；请选择1023以上的端口",
            "this user may not listen on {address}; choose a port above 1023"
        ),
        ServerError::Other(address, error) => {
            let why = of_system(error, l);
            sentence!(l, "无法监听{address}：{why}", "cannot listen on {address}: {why}")
        }
        ServerError::Thread(error) => {
            let why = of_system(error, l);
            sentence!(l, "无法为服务启动线程：{why}", "cannot start a thread for the server: {why}")
        }
    }
}

fn of_loss(loss: Option<LogLoss>) -> String {
    match loss {
        None => String::new(),
        Some(LogLoss { claims: 0, .. }) => {
            "；或加上--accept-lost-log 0，用仍可读取的内容启动：目前没有发现丢失已接受的抢购".to_owned()
        }
        Some(LogLoss { commits, claims }) => format!(
            "；或加上--accept-lost-log {claims}，舍弃丢失的部分启动：至少{claims}个已接受的抢购，涉及{commits}个不完整的提交"
        ),
    }
}

pub(super) fn of_store(error: &OpenError, l: Language) -> String {
    let english = || error.to_string();
    match (l, error) {
        (Language::Zh, OpenError::InUse { path, owner }) => {
            let owner = owner.map(|pid| format!("（进程{pid}）")).unwrap_or_default();
            format!("{}正被另一个mallbox使用{owner}；请停止它，或换一个目录", path.display())
        }
        (Language::Zh, OpenError::Io { path, source, .. }) => {
            format!("无法读写{}：{}", path.display(), of_system(source, l))
        }
        (Language::Zh, OpenError::NotOurs { path, detail }) => {
            format!("{}不是这个版本的商城：{detail}", path.display())
        }
        (Language::Zh, OpenError::CannotLock { path, source }) => format!(
            "{}所在的文件系统无法锁定目录（许多网络文件系统都是如此）；请改用本地磁盘上的目录：{}",
            path.display(),
            of_system(source, l)
        ),
        (Language::Zh, OpenError::LostLog { path, detail, loss }) => {
            format!(
                "{}里的订单日志已损坏：{detail}。请用mallbox restore恢复备份{}",
                path.display(),
                of_loss(*loss)
            )
        }
        (Language::Zh, OpenError::DamagedRecord { path, detail, accept }) => {
            let or = accept.map(|number| {
                format!("；或用剩余的内容启动：mallbox serve --accept-damaged-database {number}")
            });
            format!(
                "数据库{}已损坏：{detail}。请用mallbox restore恢复备份{}",
                path.display(),
                or.unwrap_or_default()
            )
        }
        (Language::Zh, OpenError::CopiedWhileRunning { path, source }) => format!(
            "{}是商城运行时复制的，各个文件来自不同的时刻：请用mallbox backup复制，或先停下商城再复制目录（{}）",
            path.display(),
            of_store(source, l)
        ),
        (Language::Zh, OpenError::NoRoomForCopy { path, needed, free }) => {
            let (path, needed, free) = (path.display(), needed.div_ceil(1 << 20), free >> 20);
            format!(
                "{path}：升级之前要复制商城，需要{needed} MiB，只剩{free} MiB；请腾出空间，或先备份到别处，\
                 再用mallbox serve --upgrade-without-copy启动"
            )
        }
        (Language::Zh, OpenError::UpgradeFailed { path, detail, state }) => {
            let state = match state {
                UpgradeState::Undone => "商城已恢复到升级之前".to_owned(),
                UpgradeState::Unknown => "没有升级之前的副本，请用mallbox restore恢复备份".to_owned(),
                UpgradeState::Copied(copy) => {
                    format!("升级之前的商城在{}，可用mallbox downgrade --before-upgrade恢复", copy.display())
                }
            };
            format!("{}升级失败：{detail}。{state}；请用上一个版本启动，并报告这个问题", path.display())
        }
        (Language::Zh, OpenError::BadUrl { what, detail }) => format!("{what}的地址无法使用：{detail}"),
        (Language::Zh, OpenError::Unreachable { server, source }) => format!("无法连接{server}：{source}"),
        (Language::Zh, OpenError::NoConnection { server, waited, source }) => {
            let waited_s = waited.as_secs();
            format!(
                "等待{waited_s}秒后，{server}仍没有空闲连接：{source}。请调高它的max_connections，或调低共用它的进程的pool_max，或稍后再试"
            )
        }
        (Language::Zh, OpenError::Unfit { server, detail }) => format!("{server}无法使用：{detail}"),
        _ => english(),
    }
}
