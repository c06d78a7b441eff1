//! Checks of a directory: contents, access, space, and the time of a durable write.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mallbox_storage_embedded::{payment_mode_in, writes_log_directly};

use super::machine::{Finding, clock, memory, open_files};
use crate::cli::mall_directory;
use crate::cli::messages::of_system;
use crate::cli::private_data;
use crate::cli::running_mall;
use crate::language::{Language, both, sentence};

/// Number of timed syncs.
const SYNCS: usize = 300;
/// Free bytes below which the mall refuses claims.
const FREE_SPACE_MIN_BYTES: u64 = 256 << 20;

/// Checks the directory of an existing or planned mall. Leaves nothing behind.
pub(super) fn findings(dir: &Path, l: Language) -> Vec<Finding> {
    let versions = mallbox_storage_embedded::versions().into_iter();
    let mut findings: Vec<Finding> =
        versions.map(|(name, version)| (both(name, name), Ok(version))).collect();
    findings.push((both("目录", "directory"), directory(dir, l)));
    if let Some(access) = private_data::finding(dir, l) {
        findings.push((both("权限", "access"), access));
    }
    if mall_directory::is_mall(dir) {
        findings.push((both("数据库", "database"), Ok(page_checksums(dir, l))));
    }
    // A directory without a mall has no payment mode.
    if let Some(mode) = payment_mode_in(dir) {
        let words = running_mall::payment_words(mode).spoken(l);
        findings.push((both("支付", "payment"), Ok(format!("{} ({words})", mode.name()))));
    }
    findings.extend([
        (both("剩余空间", "free space"), space(dir, l)),
        open_files(l),
        memory(l),
        clock(l),
        (both("磁盘同步", "disk sync"), sync(dir, l)),
        (both("日志写入", "log writes"), log_writes(dir, l)),
    ]);
    findings
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
            "{mebibytes} MiB：低于96 MiB时不再接受抢购",
            "{mebibytes} MiB: claims are refused below 96 MiB"
        ));
    }
    Ok(format!("{mebibytes} MiB"))
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
