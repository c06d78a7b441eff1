//! Import of a dump of an hm-dianping database: `mallbox import`.
//!
//! [`survey`] reads the file once and refuses an incomplete file before any mall is created. Then [`dump`]
//! reads the rows as a stream, `rows.rs` converts each to the mall's types, and the storage's
//! [`Import`](mallbox_storage::Import) writes all of them in one transaction. A file of any length is
//! imported completely or not at all, and at most one batch is in memory at a time.
//!
//! Reasons and figures: `src/decisions/0018-reader-of-dumps.md`, `src/decisions/0019-imports.md`.

pub mod dump;
mod fields;
mod pictures;
mod remote;
mod report;
mod rows;
pub mod tables;

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use mallbox_storage::{
    FinishOptions, ImportRow, Importing, PaymentMode, StoreError, Timestamp, UnpaidOrders,
};

pub use pictures::PictureCounts;
pub use remote::Fetched;
#[cfg(feature = "https")]
pub use remote::fetch;
pub use report::{Counts, Report};

use self::dump::{Dump, DumpError, Position};
pub use self::dump::{End, Survey};
use self::fields::RowError;
use self::pictures::Pictures;
use self::rows::{ConvertedRow, RowConverter};
use self::tables::{TABLES, Table};
use crate::language::{Bilingual, bilingual_text, both};
use crate::mall::base::wall_time;
use crate::mall::{IMPORTED, Settings};

/// Rows per write.
const BATCH: usize = 512;

/// Parameters of an import besides the file.
#[derive(Clone, Debug)]
pub struct Import {
    /// Time zone of the dump's local times.
    pub zone: TimeZone,
    /// Name of the zone, if the mall has no zone yet.
    pub new_zone: Option<String>,
    /// Directory of a front end's pictures.
    pub imgs: Option<PathBuf>,
    /// Upload directory of the mall, if any.
    pub uploads: Option<PathBuf>,
    /// Result of fetching remote pictures into `uploads`.
    pub fetched: Fetched,
    /// Treatment of unpaid orders.
    pub unpaid: UnpaidOrders,
    /// Payment mode of the mall, also assigned to the imported orders.
    pub payment: PaymentMode,
    /// Time of the import.
    pub now: Timestamp,
}

/// Reason why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file is invalid.
    #[error(transparent)]
    Dump(#[from] DumpError),
    /// The file is truncated, or nothing in the file proves its completeness.
    #[error("the dump is truncated or has no end mark: {0:?}")]
    NotWhole(End),
    /// The mall's storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The pictures could not be written.
    #[error("cannot write the pictures")]
    Pictures(#[source] std::io::Error),
}

/// First pass: reads the whole file and surveys its contents. Calls `progress` now and then with the number
/// of bytes read.
///
/// # Errors
/// - [`ImportError::Dump`]: the file is not a dump.
/// - [`ImportError::NotWhole`]: the file is or may be truncated, unless `may_be_cut_off`.
pub fn survey(
    file: impl Read,
    may_be_cut_off: bool,
    progress: impl FnMut(u64),
) -> Result<Survey, ImportError> {
    let survey = Dump::new(file, TABLES).survey(progress)?;
    if !survey.has_any() && !matches!(survey.end, End::Cut { .. }) {
        let what = both(
            "这不是hm-dianping数据库的转储：里面没有它的任何一张表，例如tb_user",
            "not a dump of an hm-dianping database: none of its tables, such as tb_user, is in the file",
        );
        return Err(DumpError::NoDump(what).into());
    }
    if survey.end != End::Whole && !may_be_cut_off {
        return Err(ImportError::NotWhole(survey.end));
    }
    Ok(survey)
}

/// Returns the remote picture addresses named in a surveyed file, at most 5,000.
///
/// # Errors
/// [`ImportError::Dump`]: the file is invalid.
pub fn remote_pictures(file: impl Read, survey: &Survey) -> Result<BTreeSet<String>, ImportError> {
    let mut dump = Dump::again(file, TABLES, survey);
    let mut pictures = Pictures::gathering();
    let (zone, now) = (TimeZone::UTC, Timestamp::from_millis(0));
    let mut reader = RowConverter { zone: &zone, now, pictures: &mut pictures };
    while let Some(row) = dump.next_row()? {
        reader.look(&row);
    }
    Ok(pictures.gathered())
}

impl Import {
    /// Second pass: imports a surveyed file and finishes the import. Calls `progress` after each batch with
    /// the numbers of bytes and rows read.
    ///
    /// Blocks on reading the file; run on a dedicated thread.
    ///
    /// # Errors
    /// Any [`ImportError`]: nothing has been imported.
    pub async fn run(
        mut self,
        file: impl Read,
        survey: &Survey,
        mut into: Box<dyn Importing>,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Report, ImportError> {
        let mut dump = Dump::again(file, TABLES, survey);
        let pictures = Pictures::new(self.imgs.as_deref(), self.uploads.clone());
        let mut pictures = pictures.with(std::mem::take(&mut self.fetched));
        let mut reader = RowConverter { zone: &self.zone, now: self.now, pictures: &mut pictures };
        let mut report = Report::of(survey);
        let mut batch = Batch::default();
        let mut rows = 0;
        while let Some(row) = dump.next_row()? {
            rows += 1;
            let is_sharded = survey.found[row.table].parts.len() > 1;
            batch.add(reader.look(&row), is_sharded.then_some(row.part), &mut report)?;
            if batch.rows.len() >= BATCH {
                batch.put(&mut *into, &mut report, |part| dump.part_name(part)).await?;
                progress(dump.passed(), rows);
            }
        }
        batch.put(&mut *into, &mut report, |part| dump.part_name(part)).await?;
        pictures.sync().map_err(ImportError::Pictures)?;
        into.put(self.settings()).await?;
        let end = FinishOptions {
            unpaid: self.unpaid,
            next_ids: tables::next_ids(survey),
            ..FinishOptions::new(Settings::default().pay_within, self.now)
        };
        for findings in into.finish(end).await? {
            report.found(findings);
        }
        report.unknown = dump.unknown().clone();
        report.changes = dump.changes().to_vec();
        report.pictures = pictures.counts;
        Ok(report)
    }

    fn settings(&self) -> Vec<(ImportRow, bool)> {
        let when = wall_time::text(self.now, &self.zone);
        let zone = self.new_zone.clone().map(|zone| ImportRow::Setting(crate::mall::ZONE, zone));
        let payment = ImportRow::Setting(PaymentMode::SETTING, self.payment.name().to_owned());
        [Some(ImportRow::Setting(IMPORTED, when)), Some(payment), zone]
            .into_iter()
            .flatten()
            .map(|row| (row, true))
            .collect()
    }
}

/// Rows waiting to be written, and their origins.
#[derive(Default)]
struct Batch {
    rows: Vec<(ImportRow, bool)>,
    which: Vec<Which>,
}

struct Which {
    table: Table,
    label: u64,
    at: Position,
    /// Part containing the row, if the table is sharded.
    part: Option<usize>,
}

impl Batch {
    fn add(
        &mut self,
        converted: ConvertedRow,
        part: Option<usize>,
        report: &mut Report,
    ) -> Result<(), DumpError> {
        let ConvertedRow { table, label, at, remarks, replaces, row } = converted;
        report.read(table);
        match row {
            Ok(row) => {
                remarks.into_iter().for_each(|how| report.change(table, how, label, at.line));
                self.rows.push((row, replaces));
                self.which.push(Which { table, label, at, part });
                Ok(())
            }
            Err(RowError::Row(why)) => {
                report.leave_out(table, why, label, at.line);
                Ok(())
            }
            Err(RowError::File(error)) => Err(error),
        }
    }

    async fn put<'a>(
        &mut self,
        into: &mut dyn Importing,
        report: &mut Report,
        part_name: impl Fn(usize) -> &'a str,
    ) -> Result<(), ImportError> {
        let written = into.put(std::mem::take(&mut self.rows)).await?;
        for (which, written) in self.which.drain(..).zip(written) {
            let Which { table, label, at, part } = which;
            match part {
                _ if written => {}
                Some(part) if table.has_id() => return Err(clash(table, label, at, part_name(part)).into()),
                _ => report.leave_out(table, twice(table), label, at.line),
            }
        }
        Ok(())
    }
}

/// If two users have one id, the owner of an order is ambiguous: the import fails.
fn clash(table: Table, id: u64, at: Position, part: &str) -> DumpError {
    let whole = table.name();
    let what = match table {
        Table::User => bilingual_text!(
            "{part}里用户{id}的编号或手机号与另一张分表里的用户相同，无法判断订单属于谁；请先让{whole}各分表的编号和手机号互不重复",
            "user {id} in {part} has the same id or phone as a user in another shard of {whole}, so the \
             owners of orders are ambiguous; make ids and phones unique across the shards of {whole} first"
        ),
        _ => bilingual_text!(
            "{part}里的编号{id}与另一张分表里的编号相同；请先让{whole}各分表的编号互不重复",
            "id {id} in {part} also occurs in another shard of {whole}; make ids unique across the shards \
             first"
        ),
    };
    DumpError::at(at, what)
}

fn twice(table: Table) -> Bilingual {
    match table {
        Table::User => both("编号或手机号已被前面的用户占用", "id or phone already taken by an earlier user"),
        Table::Follow => both("重复的关注", "duplicate follow"),
        Table::Sign => both("重复的签到", "duplicate sign-in day"),
        _ => both("编号已被前面的行占用", "id already taken by an earlier row"),
    }
}

/// Removes the files of a new, unused mall from a directory that held none before. Missing files are no
/// error.
///
/// # Errors
/// If the system refuses to remove a file.
pub fn remove_unused_mall(dir: &Path) -> std::io::Result<()> {
    use std::fs;
    let gone = |result: std::io::Result<()>| match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    let Ok(entries) = fs::read_dir(dir) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        // The database, with the files beside it.
        let name = entry.file_name();
        if name == "lock" || name.to_string_lossy().starts_with("mall.sqlite") {
            gone(fs::remove_file(entry.path()))?;
        }
    }
    gone(fs::remove_dir_all(dir.join("log")))
}
