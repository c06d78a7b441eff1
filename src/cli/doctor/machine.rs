//! Checks of the machine, wherever the mall is.

use rustix::process::{Resource, getrlimit};

use crate::language::{Bilingual, Language, both, sentence};
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
