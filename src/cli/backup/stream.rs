//! `backup --stream`: a backup, and each second what has changed since, until stopped.
//!
//! A new backup begins when it is due, and whenever changes may have been missed. Before that, the stream so
//! far is tried out as a backup is.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mallbox_storage_embedded::backup::{ChangedPages, DatabaseFollower, Followed, LossReason};

use super::naming::stream_of;
use super::plain_files::{PlainFile, plain_files};
use super::repeated::remove_superfluous;
use super::take::{Basis, Form, Target, now};
use crate::backup::manifest::{CLAIMS, FORMAT, Header, PAGES, Point};
use crate::backup::retention::Retention;
use crate::backup::stream::{Position, StreamWriter};
use crate::cli::messages::{CommandFailure, render_error};
use crate::cli::output::{print, size_text, warn};
use crate::http::control::is_listening;
use crate::language::sentence;

/// Interval of points.
const POINT_INTERVAL: Duration = Duration::from_secs(1);
/// A point that takes long is followed by a pause of so many times its duration: the mall has other work.
const PAUSE_FACTOR: u32 = 9;
/// Interval at which a mall or directory that is away is looked for.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which the stop of the mall is looked for.
const STOP_INTERVAL: Duration = Duration::from_millis(50);
/// Pause after a failure.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// When backups are taken and removed.
#[derive(Clone, Copy)]
pub(super) struct Schedule<'a> {
    pub(super) every: Duration,
    pub(super) keep: Option<&'a Retention>,
}

/// Why a stream ended.
enum End {
    /// The next backup is due.
    Due,
    /// The mall stops.
    Stopped,
    /// Changes may have been missed.
    Lost(LossReason),
}

/// Streams until the process is stopped.
pub(super) fn run(target: &Target<'_>, to: &Path, schedule: Schedule<'_>) -> ! {
    let l = target.l;
    let mut waits_for = None;
    loop {
        let shown = to.display();
        let missing = if !to.is_dir() {
            Some(sentence!(
                l,
                "{shown}现在不在；等它出现就继续",
                "{shown} is not there; the stream begins as soon as it is"
            ))
        } else if !is_listening(target.dir) {
            Some(sentence!(
                l,
                "商城没有运行；等它启动就继续",
                "the mall is not running; the stream begins as soon as it is"
            ))
        } else {
            None
        };
        if let Some(missing) = missing {
            if waits_for.as_ref() != Some(&missing) {
                warn(&missing);
                waits_for = Some(missing);
            }
            thread::sleep(LOOK_INTERVAL);
            continue;
        }
        waits_for = None;
        match stream(target, to, schedule) {
            Ok(End::Due | End::Stopped) => {}
            Ok(End::Lost(reason)) => warn(&sentence!(
                l,
                "可能漏掉了改动（{reason}）；重新备份",
                "changes may have been missed ({reason}); a new backup follows"
            )),
            Err(error) => {
                warn(&render_error(&error, l));
                thread::sleep(RETRY_PAUSE);
            }
        }
    }
}

/// Takes a backup, and streams what changes until the next one is due.
fn stream(target: &Target<'_>, to: &Path, schedule: Schedule<'_>) -> anyhow::Result<End> {
    let began = Instant::now();
    let Some(follower) = DatabaseFollower::begin(target.dir)? else { return Ok(End::Stopped) };
    let mut shipped = Shipped::default();
    shipped.add(plain_files(target.dir)?);
    let taken = target.take(to, Form::Base)?;
    schedule.keep.inspect(|keep| remove_superfluous(to, keep, &taken, target.l));
    let path = stream_of(&taken.file);
    let cannot_write = |error| CommandFailure::CannotWrite(path.clone()).with_cause(error);
    let position = Position::behind_backup(&taken.file).map_err(cannot_write)?;
    let writer = StreamWriter::create(&path, position).map_err(cannot_write)?;
    let (shown, dir, l) = (path.display(), to.display(), target.l);
    print(&sentence!(
        l,
        "{shown}：从现在起每秒记录改动。恢复到某一秒：mallbox restore {dir} 目录 --at 时刻\n",
        "{shown}: gets each second what has changed. To restore a second: mallbox restore {dir} DIR --at INSTANT\n"
    ));
    let mut stream = Stream { target, follower, shipped, writer, path, claims: None };
    let end = stream.until(began + schedule.every)?;
    let Stream { writer, path, .. } = stream;
    report(target, &taken.file, &path, &writer);
    Ok(end)
}

/// Tries a stream out that has ended, and reports it.
fn report(target: &Target<'_>, backup: &Path, path: &Path, writer: &StreamWriter) {
    let (l, points) = (target.l, writer.position().number - 1);
    let (shown, size) = (path.display(), size_text(writer.bytes()));
    if points == 0 {
        return;
    }
    match target.try_stream_out(backup) {
        Ok(checked) if checked.balances => print(&sentence!(
            l,
            "{shown}：{points}个时间点，{size}；已解开并试开，账目相符\n",
            "{shown}: {points} points, {size}; unpacked and opened as a trial, the ledger balances\n"
        )),
        Ok(checked) => {
            print(&checked.text);
            warn(&sentence!(
                l,
                "{shown}：其中的账目不符；商城本身多半也是如此，请运行mallbox verify",
                "{shown}: its ledger does not balance; that of the mall probably does not either: run mallbox verify"
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

/// A stream at work.
struct Stream<'a> {
    target: &'a Target<'a>,
    follower: DatabaseFollower,
    shipped: Shipped,
    writer: StreamWriter,
    path: PathBuf,
    /// The pending claims of the last point, as JSON.
    claims: Option<Vec<u8>>,
}

impl Stream<'_> {
    /// Adds points until the next backup is due.
    fn until(&mut self, due: Instant) -> anyhow::Result<End> {
        loop {
            let began = Instant::now();
            if let Some(end) = self.add_point()? {
                return Ok(end);
            }
            let took = began.elapsed();
            let pause = if self.follower.is_awaiting_restart() {
                Duration::ZERO
            } else {
                POINT_INTERVAL.saturating_sub(took).max(took * PAUSE_FACTOR)
            };
            while began.elapsed() < took + pause {
                if !is_listening(self.target.dir) {
                    // The mall closes its database next, and would wait for the follower.
                    self.follower.release();
                    return Ok(End::Stopped);
                }
                thread::sleep(STOP_INTERVAL.min(pause));
            }
            if Instant::now() >= due {
                return Ok(End::Due);
            }
        }
    }

    /// Writes what has changed since the last point.
    fn add_point(&mut self) -> anyhow::Result<Option<End>> {
        let (taken, basis) = match (now()?, self.target.running_basis()) {
            (taken, Ok(basis)) => (taken, basis),
            (_, Err(error)) => {
                self.follower.release();
                return if is_listening(self.target.dir) { Err(error) } else { Ok(Some(End::Stopped)) };
            }
        };
        let pages = match self.follower.next()? {
            Followed::Lost(LossReason::Stopped) => return Ok(Some(End::Stopped)),
            Followed::Lost(reason) => return Ok(Some(End::Lost(reason))),
            Followed::Nothing => None,
            Followed::Pages(pages) => Some(pages),
        };
        let claims = basis.claim_lines()?;
        if pages.is_none() && self.claims.as_ref() == Some(&claims) {
            return Ok(None);
        }
        // After the pages: whatever they name is there.
        let files =
            if pages.is_some() { self.shipped.new_among(plain_files(self.target.dir)?) } else { Vec::new() };
        let archive = self.archive(taken, &basis, pages.unwrap_or_default(), &claims, &files)?;
        let appended = self.writer.append(&archive);
        appended.map_err(|error| CommandFailure::CannotWrite(self.path.clone()).with_cause(error))?;
        self.shipped.add(files);
        self.claims = Some(claims);
        Ok(None)
    }

    fn archive(
        &self,
        taken: Timestamp,
        basis: &Basis,
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
            point: Some(Point { number, previous, page_bytes, database_pages }),
        };
        let mut writer = self.target.begin_archive(Vec::new(), header)?;
        writer.add_bytes(PAGES, &content)?;
        writer.add_bytes(CLAIMS, claims)?;
        for file in files {
            match File::open(&file.path) {
                Ok(open) => writer.add_file(&file.name, (open, file.bytes), |_| {})?,
                // A picture that the mall has removed since.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(CommandFailure::CannotRead(file.path.clone()).with_cause(error)),
            }
        }
        writer.finish().and_then(|output| output.finish()).map_err(|error: io::Error| error.into())
    }
}

/// Pictures and archived days that are in the backup or its stream.
#[derive(Default)]
struct Shipped(HashMap<String, u64>);

impl Shipped {
    fn add(&mut self, files: Vec<PlainFile>) {
        self.0.extend(files.into_iter().map(|file| (file.name, file.bytes)));
    }

    fn new_among(&self, mut files: Vec<PlainFile>) -> Vec<PlainFile> {
        files.retain(|file| self.0.get(&file.name) != Some(&file.bytes));
        files
    }
}
