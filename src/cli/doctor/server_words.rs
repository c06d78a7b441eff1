//! What `doctor` says about Redis and MySQL alike.

use mallbox_storage_production::{ClockReading, ConnectFailure, Support};

use crate::language::{Bilingual, Language, sentence};
use crate::mall::base::ClockGap;

/// Describes why a server cannot be inspected.
pub(super) fn failure(address: &str, server: Bilingual, failure: &ConnectFailure, l: Language) -> String {
    let server = server.spoken(l);
    match failure {
        ConnectFailure::Refused => sentence!(
            l,
            "{address}拒绝连接：没有程序监听这个地址；请启动{server}，或检查地址",
            "{address} refuses connections, since no program listens there: start {server}, or check the address"
        ),
        ConnectFailure::Silent => sentence!(
            l,
            "{address}没有响应：服务器卡住了，网络不通，或者那里不是{server}",
            "{address} does not respond: the server hangs, the network drops packets, or the server is not {server}"
        ),
        ConnectFailure::Login(why) => sentence!(
            l,
            "{address}拒绝登录，请检查用户名、密码和权限：{why}",
            "{address} refuses the login; check user, password and rights: {why}"
        ),
        ConnectFailure::OtherProgram => sentence!(
            l,
            "{address}上运行的不是{server}；请检查地址",
            "{address} belongs to a program other than {server}; check the address"
        ),
        ConnectFailure::Other(why) => {
            sentence!(l, "{address}无法使用：{why}", "{address} cannot be used: {why}")
        }
    }
}

/// Describes a version; `Err` if a mall cannot use it.
pub(super) fn version(version: &str, support: Support, l: Language) -> Result<String, String> {
    match support {
        Support::Supported => Ok(version.to_owned()),
        Support::Untested => Ok(sentence!(
            l,
            "{version}（应当可用，但未经测试）",
            "{version} (intended to work, and not tested)"
        )),
        Support::TooOld(oldest) => Err(sentence!(
            l,
            "{version}：版本过旧，至少需要{oldest}",
            "{version}: too old; a mall needs {oldest} or later"
        )),
    }
}

/// Returns the difference between this machine's clock and a server's, if it is too large.
pub(super) fn clock_gap(reading: ClockReading) -> Option<ClockGap> {
    ClockGap::between(reading.before, reading.theirs, reading.after)
}

/// Describes a difference between clocks.
pub(super) fn gap_words(gap: ClockGap, server: &str, l: Language) -> String {
    let ms = gap.as_millis();
    if gap.is_ahead() {
        sentence!(l, "本机时钟比{server}快{ms}毫秒", "this machine's clock is {ms} ms ahead of {server}'s")
    } else {
        sentence!(l, "本机时钟比{server}慢{ms}毫秒", "this machine's clock is {ms} ms behind {server}'s")
    }
}

/// Describes clocks without a difference.
pub(super) fn same_time(l: Language) -> String {
    sentence!(l, "与本机一致（误差不超过200毫秒）", "agrees with this machine's (within 200 ms)")
}
