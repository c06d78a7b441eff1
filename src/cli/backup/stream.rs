//! `backup --stream`: a backup, and each second what has changed since, until stopped.
//!
//! A new backup is taken when it is due, while the stream of the one before goes on, and whenever changes may
//! have been missed. A stream that has ended is tried out as a backup is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mallbox_storage_embedded::backup::{ChangedPages, DatabaseFollower, Followed, LossReason};

use super::contents::now;
use super::directory::{Basis, DirectoryMall, Form};
use super::naming::stream_of;
use super::plain_files::{PlainFile, plain_files};
use super::repeated::remove_superfluous;
use super::take::Target;
use crate::backup::manifest::{CLAIMS, FORMAT, Header, PAGES, Point};
use crate::backup::retention::Retention;
use crate::backup::stream::{PointWriter, Position};
use crate::cli::messages::{CommandFailure, render_error};
use crate::cli::output::{print, size_text, warn};
use crate::http::control::{is_listening, is_reachable};
use crate::language::{Language, sentence};

/// Interval of points.
const POINT_INTERVAL: Duration = Duration::from_secs(1);
/// A point that takes long is followed by a pause of so many times its duration: the mall has other work.
const PAUSE_FACTOR: u32 = 9;
/// Interval of checks for a mall or directory that is away.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of checks for the stop of the mall.
const STOP_INTERVAL: Duration = Duration::from_millis(50);
/// Shortest and longest pause after a stream that ended early: each new one begins with a whole backup.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(600)];
/// A stream that lasted so long did not end early.
const LASTING: Duration = Duration::from_secs(600);

/// When backups are taken and removed.
#[derive(Clone, Copy)]
pub(super) struct Schedule<'a> {
    pub(super) every: Duration,
    pub(super) keep: Option<&'a Retention>,
}

/// Why a stream ended.
enum End {
    /// The mall stops.
    Stopped,
    /// Changes may have been missed.
    Lost(LossReason),
}

/// A mall in a directory, and how its backups are taken.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) mall: DirectoryMall<'a>,
    pub(super) target: &'a Target<'a>,
}

/// Streams until the process is stopped.
pub(super) fn run(source: Source<'_>, to: &Path, schedule: Schedule<'_>) -> ! {
    let l = source.target.l;
    let (mut waits_for, mut pause) = (None, RETRY_PAUSES[0]);
    loop {
        if let Some(missing) = missing(source, to) {
            if waits_for.as_ref() != Some(&missing) {
                warn(&missing);
                waits_for = Some(missing);
            }
            thread::sleep(CHECK_INTERVAL);
            continue;
        }
        waits_for = None;
        let began = Instant::now();
        match stream(source, to, schedule) {
            Ok(End::Stopped) => {
                thread::sleep(CHECK_INTERVAL);
                continue;
            }
            Ok(End::Lost(reason)) => {
                let reason = reason_text(reason, l);
                warn(&sentence!(
                    l,
                    "可能漏掉了改动（{reason}）；重新备份",
                    "changes may have been missed ({reason}); a new backup follows"
                ));
            }
            Err(error) => warn(&render_error(&error, l)),
        }
        if began.elapsed() >= LASTING {
            pause = RETRY_PAUSES[0];
        }
        thread::sleep(pause);
        pause = (2 * pause).min(RETRY_PAUSES[1]);
    }
}

/// Returns what a stream waits for.
fn missing(source: Source<'_>, to: &Path) -> Option<String> {
    let (l, shown) = (source.target.l, to.display());
    if !to.is_dir() {
        return Some(sentence!(
            l,
            "{shown}现在不在；等它出现就继续",
            "{shown} is not there; the stream begins as soon as it is"
        ));
    }
    if !is_reachable(source.mall.dir) {
        return Some(sentence!(
            l,
            "商城没有运行；等它启动就继续",
            "the mall is not running; the stream begins as soon as it is"
        ));
    }
    None
}

fn reason_text(reason: LossReason, l: Language) -> String {
    match (l, reason) {
        (Language::En, _) => reason.to_string(),
        (Language::Zh, LossReason::Overwritten) => "-wal文件在读完之前被覆盖".to_owned(),
        (Language::Zh, LossReason::Unconfirmed) => "-wal文件重新开始后，无法确认最后一次提交".to_owned(),
        (Language::Zh, LossReason::Replaced) => "-wal文件被删除、替换或截短".to_owned(),
        (Language::Zh, LossReason::Unreadable) => "-wal文件有无法读取的帧".to_owned(),
        (Language::Zh, LossReason::Stopped) => "商城没有运行".to_owned(),
    }
}

/// Takes a backup and streams what changes, again and again, until the mall stops or something is missed.
fn stream(source: Source<'_>, to: &Path, schedule: Schedule<'_>) -> anyhow::Result<End> {
    let target = source.target;
    let Some(follower) = DatabaseFollower::begin(source.mall.dir)? else { return Ok(End::Stopped) };
    let mut stream = Stream { source, follower, collected: None, part: None, ended: None };
    let ended = loop {
        let began = Instant::now();
        match stream.begin_part(to, schedule) {
            Ok(None) => {}
            Ok(Some(end)) => break Ok(end),
            Err(error) => break Err(error),
        }
        let ended = stream.ended.take();
        let points = thread::scope(|scope| {
            ended.map(|part| scope.spawn(|| part.report(target)));
            stream.add_points(|| began.elapsed() >= schedule.every)
        });
        match points {
            Ok(None) => {}
            Ok(Some(end)) => break Ok(end),
            Err(error) => break Err(error),
        }
    };
    if let Some(part) = stream.part.take() {
        stream.follower.release();
        part.report(target);
    }
    ended
}

/// A stream at work.
struct Stream<'a> {
    source: Source<'a>,
    follower: DatabaseFollower,
    /// What has changed since the backup that is being taken began; `None` if none is.
    collected: Option<ChangedPages>,
    /// The file being written.
    part: Option<Part>,
    /// The file before, which is still to be tried out.
    ended: Option<Part>,
}

/// A backup and the file of its points.
struct Part {
    backup: PathBuf,
    path: PathBuf,
    writer: PointWriter,
    /// Pictures and archived days that are in the backup or a point.
    shipped: HashMap<String, u64>,
    /// What has changed since the backup began; `None` behind the first point.
    collected: Option<ChangedPages>,
    /// The pending claims of the last point, as JSON lines.
    claims: Option<Vec<u8>>,
}

impl Stream<'_> {
    /// Takes a backup, while the points of the one before go on, and begins its stream.
    fn begin_part(&mut self, to: &Path, schedule: Schedule<'_>) -> anyhow::Result<Option<End>> {
        let Source { mall, target } = self.source;
        let shipped = plain_files(mall.dir)?.into_iter().map(|file| (file.name, file.bytes)).collect();
        self.collected = Some(ChangedPages::default());
        let (taken, end) = thread::scope(|scope| {
            let taking = scope.spawn(|| target.take(to, Form::Base));
            let end = self.add_points(|| taking.is_finished());
            if !matches!(end, Ok(None)) {
                self.follower.release();
            }
            (taking.join(), end)
        });
        let taken = taken.map_err(|_| anyhow::anyhow!("this is a bug in mallbox: the backup panicked"))??;
        if let Some(end) = end? {
            return Ok(Some(end));
        }
        schedule.keep.inspect(|keep| remove_superfluous(to, keep, &taken, target.l));
        let path = stream_of(&taken.file);
        let cannot_write = |error| CommandFailure::CannotWrite(path.clone()).with_cause(error);
        let position = Position::behind_backup(&taken.file).map_err(cannot_write)?;
        let writer = PointWriter::create(&path, position).map_err(cannot_write)?;
        let (l, shown, dir) = (target.l, path.display(), to.display());
        print(&sentence!(
            l,
            "{shown}：从现在起每秒记录改动。恢复到某一秒：mallbox restore {dir} 目录 --at 时刻\n",
            "{shown}: gets each second what has changed. To restore a second: mallbox restore {dir} DIR --at INSTANT\n"
        ));
        let collected = self.collected.take();
        let part = Part { backup: taken.file, path, writer, shipped, collected, claims: None };
        self.ended = self.part.replace(part);
        Ok(None)
    }

    /// Adds points until `is_over`.
    fn add_points(&mut self, is_over: impl Fn() -> bool) -> anyhow::Result<Option<End>> {
        loop {
            let began = Instant::now();
            if let Some(end) = self.add_point()? {
                return Ok(Some(end));
            }
            let took = began.elapsed();
            let pause = if self.follower.is_awaiting_restart() {
                Duration::ZERO
            } else {
                POINT_INTERVAL.saturating_sub(took).max(took * PAUSE_FACTOR)
            };
            while began.elapsed() < took + pause && !is_over() {
                if !is_listening(self.source.mall.dir) {
                    // The mall closes its database next, and would wait for the follower.
                    self.follower.release();
                    return Ok(Some(End::Stopped));
                }
                thread::sleep(STOP_INTERVAL.min(pause));
            }
            if is_over() {
                return Ok(None);
            }
        }
    }

    /// Writes what has changed since the last point, if there is a stream, and collects it for the backup
    /// that is being taken.
    fn add_point(&mut self) -> anyhow::Result<Option<End>> {
        let taken = now()?;
        let Source { mall, target } = self.source;
        let basis = match mall.point_basis(target.l) {
            Ok(basis) => basis,
            Err(_) if !is_reachable(mall.dir) => {
                self.follower.release();
                return Ok(Some(End::Stopped));
            }
            Err(error) => {
                // Nothing was read yet: the next point has what this one lacks.
                warn(&render_error(&error, target.l));
                thread::sleep(POINT_INTERVAL);
                return Ok(None);
            }
        };
        let changes = match self.follower.next()? {
            Followed::Lost(LossReason::Stopped) => return Ok(Some(End::Stopped)),
            Followed::Lost(reason) => return Ok(Some(End::Lost(reason))),
            Followed::Nothing => ChangedPages::default(),
            Followed::Pages(changes) => changes,
        };
        if let Some(collected) = &mut self.collected {
            collected.add(changes.clone());
        }
        if let Some(part) = &mut self.part {
            part.add(self.source, (taken, &basis), changes)?;
        }
        Ok(None)
    }
}

impl Part {
    /// Writes a point, unless nothing has changed.
    fn add(
        &mut self,
        source: Source<'_>,
        (taken, basis): (Timestamp, &Basis),
        changes: ChangedPages,
    ) -> anyhow::Result<()> {
        let changes = match self.collected.take() {
            Some(mut collected) => {
                collected.add(changes);
                collected
            }
            None => changes,
        };
        let claims = basis.claim_lines()?;
        if changes.is_empty() && self.claims.as_ref() == Some(&claims) {
            return Ok(());
        }
        let mut files = Vec::new();
        if !changes.is_empty() {
            // After the pages: whatever they name is there.
            files = plain_files(source.mall.dir)?;
            files.retain(|file| self.shipped.get(&file.name) != Some(&file.bytes));
        }
        let archive = self.archive(source.target, (taken, basis), changes, &claims, &files)?;
        let appended = self.writer.append(&archive, taken.as_millisecond());
        appended.map_err(|error| CommandFailure::CannotWrite(self.path.clone()).with_cause(error))?;
        self.shipped.extend(files.into_iter().map(|file| (file.name, file.bytes)));
        self.claims = Some(claims);
        Ok(())
    }

    /// Tries out a stream that has ended, and reports it.
    fn report(self, target: &Target<'_>) {
        let (l, points) = (target.l, self.writer.position().number - 1);
        let (shown, size) = (self.path.display(), size_text(self.writer.bytes()));
        if points == 0 {
            return;
        }
        match target.try_stream_out(&self.backup) {
            Ok(made) if made.applied.points != points || made.applied.torn_bytes > 0 => {
                let read = made.applied.points;
                warn(&sentence!(
                    l,
                    "{shown}：写了{points}个时间点，只读回{read}个",
                    "{shown}: {points} points were written, and {read} are readable"
                ));
            }
            Ok(made) if made.checked.balances => print(&sentence!(
                l,
                "{shown}：{points}个时间点，{size}；已解开并试开，账目相符\n",
                "{shown}: {points} points, {size}; unpacked and opened as a trial, the ledger balances\n"
            )),
            Ok(made) => {
                print(&made.checked.text);
                warn(&sentence!(
                    l,
                    "{shown}：其中的账目不符；商城本身多半也是如此，请运行mallbox verify",
                    "{shown}: its ledger does not balance; that of the mall probably does not either: run mallbox \
                     verify"
                ));
            }
            Err(error) => {
                let error = render_error(&error, l);
                warn(&sentence!(
                    l,
                    "{shown}无法试开：{error}",
                    "{shown} could not be opened as a trial: {error}"
                ));
            }
        }
    }

    fn archive(
        &self,
        target: &Target<'_>,
        (taken, basis): (Timestamp, &Basis),
        changes: ChangedPages,
        claims: &[u8],
        files: &[PlainFile],
    ) -> anyhow::Result<Vec<u8>> {
        let ChangedPages { page_bytes, database_pages, pages } = changes;
        let mut content = Vec::with_capacity(pages.len() * (4 + page_bytes as usize));
        for (number, page) in pages {
            content.extend(number.to_be_bytes());
            content.extend(page);
        }
        let Position { number, previous } = self.writer.position().clone();
        let of_files: u64 = files.iter().map(|file| file.bytes).sum();
        let header = Header {
            format: FORMAT,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            taken: taken.to_string(),
            incarnation: basis.incarnation.clone(),
            is_demo: false,
            claims: basis.claims.len() as u64,
            bytes: (content.len() + claims.len()) as u64 + of_files,
            signer: None,
            is_base: false,
            servers: None,
            point: Some(Point { number, previous, page_bytes, database_pages }),
        };
        let mut writer = target.begin_archive(Vec::new(), header)?;
        writer.add_bytes(PAGES, &content)?;
        writer.add_bytes(CLAIMS, claims)?;
        for file in files {
            if let Some(open) = file.open()? {
                writer.add_file(&file.name, (open, file.bytes), |_| {})?;
            }
        }
        Ok(writer.finish()?.finish()?)
    }
}
