//! The files of an export: written in a private directory, and named when all of them are whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cli::backup::naming::name_durably;
use crate::cli::messages::{CommandFailure, UsageError};
use crate::cli::room::Room;
use crate::http::api::operator::accounts::csv_form::{
    BOOK_COLUMNS, BYTE_ORDER_MARK, CASH_COLUMNS, CsvForm, ORDER_COLUMNS, PAYMENT_COLUMNS,
};
use crate::http::api::operator::accounts::rows::{BookRow, CashReportRow, MovementRow, OrderRow};

/// Name of the summary, which is named last.
const SUMMARY: &str = "summary.json";
/// Names of the other files, without their ending.
const STEMS: [&str; 4] = ["orders", "payments", "books", "cash"];

/// Format of the rows.
#[derive(Clone, Copy)]
pub(super) enum RowFormat {
    Csv(CsvForm),
    /// An object per line.
    JsonLines,
}

impl RowFormat {
    fn ending(self) -> &'static str {
        match self {
            Self::Csv(_) => "csv",
            Self::JsonLines => "jsonl",
        }
    }
}

/// Files being written for a directory. Dropped before [`ExportFiles::publish`], they leave nothing.
pub(super) struct ExportFiles {
    dir: PathBuf,
    room: Room,
    orders: RowFile,
    payments: RowFile,
    books: RowFile,
    cash: RowFile,
}

/// A file of rows.
struct RowFile {
    path: PathBuf,
    rows: Rows,
}

enum Rows {
    Csv(Box<csv::Writer<File>>, CsvForm),
    Json(BufWriter<File>),
}

/// A line of the books as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BookLine<'a> {
    #[serde(flatten)]
    book: &'a BookRow,
    net_cents: i128,
}

impl ExportFiles {
    /// Begins the files of `dir`.
    ///
    /// # Errors
    /// [`UsageError`] if the directory is missing, or one of the files exists in either format;
    /// [`CommandFailure`] if the directory is not writable.
    pub(super) fn begin(dir: &Path, format: RowFormat) -> anyhow::Result<Self> {
        if !dir.is_dir() {
            return Err(UsageError::NoExportDirectory(dir.to_owned()).into());
        }
        let endings = ["csv", "jsonl"];
        let names = STEMS.iter().flat_map(|stem| endings.map(|ending| format!("{stem}.{ending}")));
        for name in names.chain([SUMMARY.to_owned()]) {
            let path = dir.join(name);
            if fs::symlink_metadata(&path).is_ok() {
                return Err(UsageError::ExportExists(path).into());
            }
        }
        let room = Room::make(dir)?;
        let [orders, payments, books, cash] = STEMS.map(|stem| format!("{stem}.{}", format.ending()));
        let begin = |name: &str, columns| {
            RowFile::begin(room.path().join(name), format, columns)
                .map_err(|error| failed(&dir.join(name), error))
        };
        Ok(Self {
            orders: begin(&orders, ORDER_COLUMNS)?,
            payments: begin(&payments, PAYMENT_COLUMNS)?,
            books: begin(&books, BOOK_COLUMNS)?,
            cash: begin(&cash, CASH_COLUMNS)?,
            dir: dir.to_owned(),
            room,
        })
    }

    /// Writes rows of a page.
    ///
    /// # Errors
    /// [`CommandFailure::CannotWrite`], for example on a full disk.
    pub(super) fn write(&mut self, orders: &[OrderRow], movements: &[MovementRow]) -> anyhow::Result<()> {
        for order in orders {
            let written = self.orders.rows.write(order, |form| form.order(order));
            written.map_err(|error| failed(&self.final_path(&self.orders), error))?;
        }
        for movement in movements {
            let written = self.payments.rows.write(movement, |form| form.payment(movement));
            written.map_err(|error| failed(&self.final_path(&self.payments), error))?;
        }
        Ok(())
    }

    /// Writes books, Z reports and summary, makes all files durable and gives them their names: the summary
    /// last. If a name cannot be given, the names given before are taken back.
    ///
    /// # Errors
    /// [`CommandFailure::CannotWrite`]; then no file is left.
    pub(super) fn publish<'a>(
        mut self,
        books: impl Iterator<Item = &'a BookRow>,
        cash_reports: impl Iterator<Item = &'a CashReportRow>,
        summary: &impl Serialize,
    ) -> anyhow::Result<()> {
        for book in books {
            let net_cents = book.net_cents();
            let written = self.books.rows.write(&BookLine { book, net_cents }, |form| form.book(book));
            written.map_err(|error| failed(&self.final_path(&self.books), error))?;
        }
        for report in cash_reports {
            let written = self.cash.rows.write(report, |form| form.cash_report(report));
            written.map_err(|error| failed(&self.final_path(&self.cash), error))?;
        }
        let mut moves = vec![];
        let dir = self.dir;
        for file in [self.orders, self.payments, self.books, self.cash] {
            let to = dir.join(file.path.file_name().unwrap_or_default());
            file.rows.close().map_err(|error| failed(&to, error))?;
            moves.push((file.path, to));
        }
        let (from, to) = (self.room.path().join(SUMMARY), dir.join(SUMMARY));
        write_summary(&from, summary).map_err(|error| failed(&to, error))?;
        moves.push((from, to));
        for (place, (from, to)) in moves.iter().enumerate() {
            if let Err(error) = name_durably(from, to) {
                for (_, named) in &moves[..place] {
                    let _ = fs::remove_file(named);
                }
                return Err(failed(to, error));
            }
        }
        Ok(())
    }

    fn final_path(&self, file: &RowFile) -> PathBuf {
        self.dir.join(file.path.file_name().unwrap_or_default())
    }
}

impl RowFile {
    fn begin(path: PathBuf, format: RowFormat, columns: &[&str]) -> io::Result<Self> {
        let mut file = create(&path)?;
        let rows = match format {
            RowFormat::JsonLines => Rows::Json(BufWriter::new(file)),
            RowFormat::Csv(form) => {
                if form.is_for_excel {
                    file.write_all(BYTE_ORDER_MARK.as_bytes())?;
                }
                let mut rows = csv::Writer::from_writer(file);
                rows.write_record(columns)?;
                Rows::Csv(Box::new(rows), form)
            }
        };
        Ok(Self { path, rows })
    }
}

impl Rows {
    fn write(&mut self, row: &impl Serialize, fields: impl FnOnce(CsvForm) -> Vec<String>) -> io::Result<()> {
        match self {
            Self::Csv(rows, form) => Ok(rows.write_record(fields(*form))?),
            Self::Json(file) => {
                serde_json::to_writer(&mut *file, row)?;
                file.write_all(b"\n")
            }
        }
    }

    /// Makes the file durable.
    fn close(self) -> io::Result<()> {
        let file = match self {
            Self::Csv(rows, _) => rows.into_inner().map_err(|error| error.into_error())?,
            Self::Json(file) => file.into_inner().map_err(io::IntoInnerError::into_error)?,
        };
        file.sync_all()
    }
}

fn write_summary(path: &Path, summary: &impl Serialize) -> io::Result<()> {
    let mut file = BufWriter::new(create(path)?);
    serde_json::to_writer_pretty(&mut file, summary)?;
    file.write_all(b"\n")?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// Creates a file for its owner alone.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn failed(path: &Path, error: io::Error) -> anyhow::Error {
    CommandFailure::CannotWrite(path.to_owned()).with_cause(error)
}
