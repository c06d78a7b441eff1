//! `mallbox doctor`: checks whether this machine is fit for a mall.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use mallbox_storage_embedded::{payment_mode_in, writes_log_directly};
use rustix::process::{Resource, getrlimit};

use super::mall_directory;
use super::messages::of_system;
use super::output::print;
use super::private_data;
use super::running_mall;
use crate::language::{Bilingual, Language, both, padded, sentence};
use crate::mall::{Clock as _, SystemClock};

/// The flags of `doctor`.
#[derive(Args)]
pub(super) struct Doctor {
    /// The directory of an existing or planned mall.
    #[arg(long, env = "MALLBOX_DATA", default_value = ".", value_name = "DIR")]
    data: PathBuf,
}

/// Number of timed syncs.
const SYNCS: usize = 300;
/// Free bytes below which the mall refuses claims.
const FREE_SPACE_MIN_BYTES: u64 = 256 << 20;
const OPEN_FILES_MIN: u64 = 1_024;

/// One line of the table. `Err` marks a problem.
type Finding = (Bilingual, Result<String, String>);

/// Prints a table. Returns whether every finding is good.
pub(super) fn run(doctor: &Doctor, l: Language) -> bool {
    let mut findings: Vec<Finding> =
        vec![(both("mallbox", "mallbox"), Ok(env!("CARGO_PKG_VERSION").to_owned()))];
    let versions = mallbox_storage_embedded::versions().into_iter();
    findings.extend(versions.map(|(name, version)| (both(name, name), Ok(version))));
    findings.extend([(both("目录", "directory"), directory(&doctor.data, l))]);
    if let Some(access) = private_data::finding(&doctor.data, l) {
        findings.push((both("权限", "access"), access));
    }
    if mall_directory::is_mall(&doctor.data) {
        findings.push((both("数据库", "database"), Ok(page_checksums(&doctor.data, l))));
    }
    // A directory without a mall has no payment mode.
    if let Some(mode) = payment_mode_in(&doctor.data) {
        let words = running_mall::payment_words(mode).spoken(l);
        findings.push((both("支付", "payment"), Ok(format!("{} ({words})", mode.name()))));
    }
    findings.extend([
        (both("剩余空间", "free space"), space(&doctor.data, l)),
        (both("打开文件", "open files"), files(l)),
        (both("时钟", "clock"), clock(l)),
        (both("磁盘同步", "disk sync"), sync(&doctor.data, l)),
        (both("日志写入", "log writes"), log_writes(&doctor.data, l)),
    ]);
    let mut table = String::new();
    for (what, found) in &findings {
        let (mark, text) = match found {
            Ok(text) => (both("正常", "ok  "), text),
            Err(text) => (both("异常", "BAD "), text),
        };
        table += &format!("{} {} {text}\n", mark.spoken(l), padded(what.spoken(l), 11));
    }
    print(&table);
    findings.iter().all(|(_, found)| found.is_ok())
}

/// Returns the directory itself, or the nearest existing ancestor.
fn nearest(dir: &Path) -> PathBuf {
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    absolute.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("/")).to_owned()
}

fn directory(dir: &Path, l: Language) -> Result<String, String> {
    let there = nearest(dir);
    let probe = probe_file(&there).map_err(|error| {
        let (there, why) = (there.display(), of_system(&error, l));
        sentence!(l, "{there}不可写：{why}", "{there} is not writable: {why}")
    })?;
    drop(probe);
    let shown = dir.display();
    if mall_directory::is_demo(dir) {
        return Ok(sentence!(l, "{shown}里是演示商城", "{shown} holds a demo"));
    }
    if mall_directory::is_mall(dir) {
        return Ok(sentence!(l, "{shown}里是商城", "{shown} holds a mall"));
    }
    running_mall::check_dir(dir).map_err(|misuse| misuse.words(l))?;
    Ok(sentence!(l, "{shown}里没有商城，可以新建", "{shown} holds no mall; a new one can be created there"))
}

/// Tells whether pages of the database are checked.
fn page_checksums(dir: &Path, l: Language) -> String {
    if dir.join("mall.sqlite-checksums").exists() {
        return sentence!(l, "读取时核对各页的校验和", "pages are compared with their checksums when read");
    }
    sentence!(l, "各页还没有校验和；下次启动时生成", "pages have no checksums yet; the next start makes them")
}

fn space(dir: &Path, l: Language) -> Result<String, String> {
    let there = nearest(dir);
    let space = rustix::fs::statvfs(&there).map_err(|error| {
        let why = of_system(&error.into(), l);
        sentence!(l, "无法读取：{why}", "cannot be read: {why}")
    })?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    let mebibytes = free >> 20;
    if free < FREE_SPACE_MIN_BYTES {
        return Err(sentence!(
            l,
            "{mebibytes} MiB：低于64 MiB时不再接受抢购",
            "{mebibytes} MiB: claims are refused below 64 MiB"
        ));
    }
    Ok(format!("{mebibytes} MiB"))
}

fn files(l: Language) -> Result<String, String> {
    match getrlimit(Resource::Nofile).maximum {
        None => Ok(sentence!(l, "不限", "no limit")),
        Some(most) if most < OPEN_FILES_MIN => Err(sentence!(
            l,
            "最多{most}个，不够大量客户端使用；请提高`ulimit -Hn`",
            "{most} at most: too few for many clients; raise `ulimit -Hn`"
        )),
        Some(most) => Ok(sentence!(l, "最多{most}个", "{most} at most")),
    }
}

fn clock(l: Language) -> Result<String, String> {
    let now = SystemClock.now();
    let text =
        jiff::Timestamp::from_millisecond(now.as_millis()).map(|now| now.to_string()).unwrap_or_default();
    // Order ids begin in 2022 and end in 2090.
    if mallbox_storage::OrderId::day(now).is_none() {
        return Err(sentence!(
            l,
            "{text}：商城只支持2022至2090年",
            "{text}: the mall supports 2022 to 2090 only"
        ));
    }
    Ok(text)
}

/// Measures the time of a durable write: append, then `fdatasync`.
fn sync(dir: &Path, l: Language) -> Result<String, String> {
    let mut took = timed_syncs(&nearest(dir)).map_err(|error| {
        let why = of_system(&error, l);
        sentence!(l, "无法测量：{why}", "cannot be measured: {why}")
    })?;
    took.sort_unstable();
    let at = |percent: usize| took[(took.len() - 1) * percent / 100].as_micros();
    let text = format!("p50 {} µs, p99 {} µs ({SYNCS} × append 4 KiB + fdatasync)", at(50), at(99));
    // No disk, and no cache with protection against power loss, syncs so quickly.
    if at(50) < 8 {
        return Err(sentence!(
            l,
            "{text}：这是内存文件系统，断电即丢失",
            "{text}: a file system in memory does not survive a power cut"
        ));
    }
    Ok(text)
}

/// Tells how the order log would be written.
fn log_writes(dir: &Path, l: Language) -> Result<String, String> {
    match writes_log_directly(&nearest(dir)) {
        Ok(true) => Ok(sentence!(l, "直接写盘（O_DIRECT）", "directly (O_DIRECT)")),
        Ok(false) => Ok(sentence!(
            l,
            "经页缓存，再用fdatasync：这个文件系统不支持O_DIRECT",
            "through the page cache, with fdatasync: this file system takes no O_DIRECT"
        )),
        Err(error) => {
            let why = of_system(&error, l);
            Err(sentence!(l, "无法测试：{why}", "cannot be tried: {why}"))
        }
    }
}

fn timed_syncs(dir: &Path) -> std::io::Result<Vec<Duration>> {
    let mut file = probe_file(dir)?;
    let mut took = Vec::with_capacity(SYNCS);
    for _ in 0..SYNCS {
        let began = Instant::now();
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        took.push(began.elapsed());
    }
    let mut first = [0];
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut first)?;
    Ok(took)
}

/// Creates a file already unlinked: the system removes the content on close, whatever happens.
fn probe_file(dir: &Path) -> std::io::Result<File> {
    let path = dir.join(format!(".mallbox-doctor-{}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
