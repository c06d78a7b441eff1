//! Checks of the machine, wherever the mall is.

use rustix::process::{Resource, getrlimit};

use crate::config::memory_of_machine;
use crate::language::{Bilingual, Language, both, sentence};
use crate::mall::base::MemoryBudget;
use crate::mall::{Clock as _, SystemClock};

const OPEN_FILES_MIN: u64 = 1_024;

/// One line of the table. `Err` marks a problem.
pub(super) type Finding = (Bilingual, Result<String, String>);

/// Reports the limit on open files.
pub(super) fn open_files(l: Language) -> Finding {
    let limit = match getrlimit(Resource::Nofile).maximum {
        None => Ok(sentence!(l, "不限", "no limit")),
        Some(most) if most < OPEN_FILES_MIN => Err(sentence!(
            l,
            "最多{most}个，不够大量客户端使用；请提高`ulimit -Hn`",
            "{most} at most: too few for many clients; raise `ulimit -Hn`"
        )),
        Some(most) => Ok(sentence!(l, "最多{most}个", "{most} at most")),
    };
    (both("打开文件", "open files"), limit)
}

/// Reports the memory that a mall without `--memory` takes at most.
pub(super) fn memory(l: Language) -> Finding {
    let bytes = memory_of_machine();
    let mebibytes = bytes >> 20;
    let found = match MemoryBudget::new(bytes) {
        None => {
            let least = MemoryBudget::MIN.bytes() >> 20;
            Err(sentence!(
                l,
                "{mebibytes} MiB，商城至少需要{least} MiB",
                "{mebibytes} MiB, and a mall needs {least} MiB"
            ))
        }
        Some(budget) if budget < MemoryBudget::FULL => {
            let (connections, claims) = (budget.connections(), budget.backlog_claims());
            let megapixels = budget.megapixels();
            Ok(sentence!(
                l,
                "{mebibytes} MiB：最多{connections}个连接，{claims}笔等待入库的抢购，图片不超过{megapixels}00万像素",
                "{mebibytes} MiB: at most {connections} connections, {claims} waiting claims, pictures of \
                 {megapixels} million pixels"
            ))
        }
        Some(_) => Ok(format!("{mebibytes} MiB")),
    };
    (both("内存", "memory"), found)
}

/// Reports the clock of this machine.
pub(super) fn clock(l: Language) -> Finding {
    let what = both("时钟", "clock");
    let now = SystemClock.now();
    let text =
        jiff::Timestamp::from_millisecond(now.as_millis()).map(|now| now.to_string()).unwrap_or_default();
    // Order ids begin in 2022 and end in 2090.
    if mallbox_storage::OrderId::day(now).is_none() {
        let only =
            sentence!(l, "{text}：商城只支持2022至2090年", "{text}: the mall supports 2022 to 2090 only");
        return (what, Err(only));
    }
    (what, Ok(text))
}
