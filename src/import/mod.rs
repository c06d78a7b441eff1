//! A mall from a dump of an hm-dianping database: `mallbox import`.
//!
//! [`dump`] reads rows as a stream; `rows.rs` makes of each what the mall knows; the storage's
//! [`Import`](mallbox_storage::Import) takes them in one transaction. So a file of any length is taken whole or not at all,
//! and no more of it than a batch is ever in memory.

pub mod dump;
mod fields;
mod pictures;
mod report;
mod rows;
pub mod tables;

use std::io::Read;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use mallbox_storage::{ImportEnd, ImportRow, Importing, PaymentMode, StoreError, Timestamp, UnpaidOrders};

pub use pictures::PictureCounts;
pub use report::{Counts, Report};

use self::dump::{Dump, DumpError};
use self::fields::Unfit;
use self::pictures::Pictures;
use self::rows::{Looked, Reader};
use self::tables::{TABLES, Table};
use crate::language::{Both, both};
use crate::mall::{IMPORTED, Settings, wall_time};

/// Rows that are written at once.
const BATCH: usize = 512;

/// What an import has to know beside the file.
#[derive(Clone, Debug)]
pub struct Import {
    /// The zone whose clock the dump's times are of.
    pub zone: TimeZone,
    /// Its name, if the mall has not been told it yet.
    pub new_zone: Option<String>,
    /// A front end's folder of pictures.
    pub imgs: Option<PathBuf>,
    /// Where the mall keeps pictures, if it keeps any.
    pub uploads: Option<PathBuf>,
    /// What becomes of orders that nobody has paid.
    pub unpaid: UnpaidOrders,
    /// How orders are paid for from now on, and how those were that move in.
    pub payment: PaymentMode,
    /// The time.
    pub now: Timestamp,
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file is not what it should be.
    #[error(transparent)]
    Dump(#[from] DumpError),
    /// The mall could not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The pictures could not be written.
    #[error("the pictures cannot be written")]
    Pictures(#[source] std::io::Error),
}

impl Import {
    /// Reads the whole file and finishes. `progress` is told how many bytes and rows have been read, often.
    ///
    /// Blocks on the file: for a thread that does nothing else.
    ///
    /// # Errors
    /// [`ImportError`]: nothing has been imported.
    pub async fn run(
        self,
        file: impl Read,
        mut into: Box<dyn Importing>,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Report, ImportError> {
        let mut dump = Dump::new(file, TABLES);
        let mut pictures = Pictures::new(self.imgs.as_deref(), self.uploads.clone());
        let mut reader = Reader { zone: &self.zone, now: self.now, pictures: &mut pictures };
        let mut report = Report::default();
        let mut batch = Batch::default();
        let mut rows = 0;
        while let Some(row) = dump.next_row()? {
            rows += 1;
            batch.add(reader.look(&row), &mut report)?;
            if batch.rows.len() >= BATCH {
                batch.put(&mut *into, &mut report).await?;
                progress(dump.passed(), rows);
            }
        }
        if !dump.has_met_any() {
            let what = both(
                "这不是hm-dianping数据库的转储：里面没有它的任何一张表，例如tb_user",
                "this is no dump of an hm-dianping database: none of its tables is in it, such as tb_user",
            );
            return Err(DumpError::NoDump(what).into());
        }
        batch.put(&mut *into, &mut report).await?;
        pictures.sync().map_err(ImportError::Pictures)?;
        into.put(self.settings()).await?;
        let end =
            ImportEnd { unpaid: self.unpaid, ..ImportEnd::new(Settings::default().pay_within, self.now) };
        for findings in into.finish(end).await? {
            report.found(findings);
        }
        report.unknown = dump.unknown().clone();
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

/// Rows that wait to be written, and which they are.
#[derive(Default)]
struct Batch {
    rows: Vec<(ImportRow, bool)>,
    which: Vec<(Table, u64, u64)>,
}

impl Batch {
    fn add(&mut self, looked: Looked, report: &mut Report) -> Result<(), DumpError> {
        let Looked { table, label, line, remarks, replaces, row } = looked;
        report.read(table);
        match row {
            Ok(row) => {
                remarks.into_iter().for_each(|how| report.change(table, how, label, line));
                self.rows.push((row, replaces));
                self.which.push((table, label, line));
                Ok(())
            }
            Err(Unfit::Row(why)) => {
                report.leave_out(table, why, label, line);
                Ok(())
            }
            Err(Unfit::File(error)) => Err(error),
        }
    }

    async fn put(&mut self, into: &mut dyn Importing, report: &mut Report) -> Result<(), StoreError> {
        let written = into.put(std::mem::take(&mut self.rows)).await?;
        for ((table, label, line), written) in self.which.drain(..).zip(written) {
            if !written {
                report.leave_out(table, twice(table), label, line);
            }
        }
        Ok(())
    }
}

fn twice(table: Table) -> Both {
    match table {
        Table::User => both("编号或手机号已被前面的用户占用", "an earlier user has its id or its phone"),
        Table::Follow => both("前面已有同样的关注", "the same follow came before"),
        Table::Sign => both("前面已有同一天的签到", "the same day came before"),
        _ => both("编号已被前面的行占用", "an earlier row has its id"),
    }
}

/// Removes what opening a new mall made in a directory in which there was none.
///
/// # Errors
/// If the system refuses.
pub fn remove_unborn(dir: &Path) -> std::io::Result<()> {
    use std::fs;
    let gone = |result: std::io::Result<()>| match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    for file in ["mall.sqlite", "mall.sqlite-wal", "mall.sqlite-shm", "lock"] {
        gone(fs::remove_file(dir.join(file)))?;
    }
    gone(fs::remove_dir_all(dir.join("log")))
}
