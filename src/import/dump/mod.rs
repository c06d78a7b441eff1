//! Reads what mysqldump, Navicat and their like write, as a stream: bytes into tokens, tokens into statements, statements
//! into rows of named columns. Of the file only a window of 64 KiB and the row at hand are in memory.
//!
//! A file is read twice. The first pass ([`Dump::survey`]) finds how the file ends, which of its tables stand for the wanted
//! ones, and what changes rows behind them; the second one ([`Dump::again`]) gives the rows.
//!
//! Not a parser of SQL: it knows `CREATE TABLE`, `INSERT`, `REPLACE`, simple `UPDATE`s and `DELETE`s and a few settings, and
//! passes whatever else a dump holds. What no dump holds is an error.

mod changes;
mod conditions;
mod ending;
mod error;
mod parts;
mod rows;
mod settings;
mod source;
mod statements;
mod tokens;

use std::collections::BTreeSet;
use std::io::Read;

pub use changes::Change;
pub use error::{DumpError, Position};
pub use parts::Found;

use self::parts::Part;
use self::rows::Insert;
use self::tokens::Tokens;
use crate::language::{Both, both, told};

/// A table that the reader is to look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Its name, in small letters.
    pub name: &'static str,
    /// The columns that are wanted, in small letters.
    pub columns: &'static [&'static str],
    /// The columns without which no row of it can be understood.
    pub needed: &'static [&'static str],
}

impl Wanted {
    fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|wanted| *wanted == column)
    }
}

/// A value in a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// The row does not name this column, or says `DEFAULT`.
    Missing,
    /// `NULL`.
    Null,
    /// A number as it is written; `TRUE` and `FALSE` are 1 and 0.
    Number(String),
    /// A text, its escapes resolved; not checked to be UTF-8.
    Text(Vec<u8>),
    /// Bits, or bytes of no character set.
    Bytes(Vec<u8>),
    /// Something that MySQL would have to work out, such as `now()`.
    Expression,
}

/// A value and where it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// What.
    pub value: Value,
    /// Where; the row's own place if the value is missing.
    pub at: Position,
    /// For instants: what the file's `TIME_ZONE` says of this column, in seconds east of UTC. `TIMESTAMP`s are written
    /// in that zone, `DATETIME`s as they stand.
    pub offset_s: Option<i32>,
}

/// A row of a wanted table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Which of the wanted tables.
    pub table: usize,
    /// Which table of the file: [`Dump::part_name`].
    pub part: usize,
    /// One for each wanted column, in their order.
    pub cells: Vec<Cell>,
    /// Where it begins.
    pub at: Position,
    /// Whether it takes the place of an earlier row with its key: `REPLACE`.
    pub replaces: bool,
}

/// Names of what is in the file and not wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unknown {
    /// Tables.
    pub tables: BTreeSet<String>,
    /// Columns of wanted tables, as `table.column`.
    pub columns: BTreeSet<String>,
}

/// How a file ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// With a sign that it is whole.
    Whole,
    /// Behind a statement, and without a sign that it is whole.
    Unsigned {
        /// Where.
        at: Position,
        /// What is missing.
        why: Both,
    },
    /// Inside a statement, whose rows up to there are read.
    Cut {
        /// Where the statement, text or comment begins that is not whole.
        at: Position,
        /// What is not whole.
        what: Both,
    },
}

/// What the first pass over a file found.
#[derive(Clone, PartialEq, Debug)]
pub struct Survey {
    /// Each wanted table.
    pub found: Vec<Found>,
    /// How the file ends.
    pub end: End,
    changes: Vec<Change>,
}

impl Survey {
    /// Whether the file has any wanted table.
    #[must_use]
    pub fn has_any(&self) -> bool {
        self.found.iter().any(|found| !found.parts.is_empty())
    }
}

/// Tables that can stand for wanted ones: a sharded table may have many.
const MOST_PARTS: usize = 4_096;

#[derive(Clone, Debug)]
struct Column {
    name: String,
    is_timestamp: bool,
}

/// A dump that is being read.
pub struct Dump<R> {
    tokens: Tokens<R>,
    wanted: &'static [Wanted],
    parts: Vec<Part>,
    /// Names of the tables that are read; all that may be wanted in the first pass.
    chosen: Option<BTreeSet<String>>,
    changes: Vec<Change>,
    unknown: Unknown,
    insert: Option<Insert>,
    /// What `SET TIME_ZONE` said last, if it is an offset.
    offset_s: Option<i32>,
    end: Option<End>,
}

impl<R: Read> Dump<R> {
    /// Looks for these tables.
    pub fn new(input: R, wanted: &'static [Wanted]) -> Self {
        Self {
            tokens: Tokens::new(input),
            wanted,
            parts: Vec::new(),
            chosen: None,
            changes: Vec::new(),
            unknown: Unknown::default(),
            insert: None,
            offset_s: None,
            end: None,
        }
    }

    /// The same file once more, from its beginning: the rows that its statements leave of the tables that were found.
    pub fn again(input: R, wanted: &'static [Wanted], survey: &Survey) -> Self {
        let (chosen, changes) = (Some(parts::names(&survey.found)), survey.changes.clone());
        Self { chosen, changes, ..Self::new(input, wanted) }
    }

    /// The first pass. `progress` is told now and then how many bytes have been read.
    ///
    /// # Errors
    /// [`DumpError`]: where the file is not what it should be.
    pub fn survey(mut self, mut progress: impl FnMut(u64)) -> Result<Survey, DumpError> {
        const ROWS_BETWEEN: u64 = 4_096;
        let mut rows = 0_u64;
        while self.next_row()?.is_some() {
            rows += 1;
            if rows.is_multiple_of(ROWS_BETWEEN) {
                progress(self.passed());
            }
        }
        let found = parts::choose(&self.parts, self.wanted);
        Ok(Survey { found, end: self.end.unwrap_or(End::Whole), changes: self.changes })
    }

    /// The next row of a wanted table; `None` after the last one, even if the file is cut off behind it.
    ///
    /// # Errors
    /// [`DumpError`]: where the file is not what it should be. After an error there is no sense in going on.
    pub fn next_row(&mut self) -> Result<Option<Row>, DumpError> {
        match self.row_or_end() {
            Err(DumpError::Cut { at, what }) => {
                self.end = Some(End::Cut { at, what });
                Ok(None)
            }
            row => row,
        }
    }

    fn row_or_end(&mut self) -> Result<Option<Row>, DumpError> {
        if self.tokens.source.passed() == 0 {
            self.begin()?;
        }
        loop {
            if let Some(insert) = self.insert.take() {
                if let Some(mut row) = self.row(&insert)? {
                    self.insert = Some(insert);
                    self.parts[row.part].rows += 1;
                    if self.is_left(&mut row)? {
                        return Ok(Some(row));
                    }
                }
            } else if self.end.is_some() || !self.statement()? {
                return Ok(None);
            }
        }
    }

    /// Applies what changes this row further on in the file. Whether the row is still there then.
    fn is_left(&mut self, row: &mut Row) -> Result<bool, DumpError> {
        if !self.is_second_pass() {
            return Ok(true);
        }
        let (name, at) = (&self.parts[row.part].name, row.at);
        for change in self.changes.iter_mut().filter(|change| change.at > at && change.name == *name) {
            if !change.apply(row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_second_pass(&self) -> bool {
        self.chosen.is_some()
    }

    /// The table of this name, in small letters, if it is or may be a wanted one.
    fn part(&mut self, name: &str, at: Position) -> Result<Option<usize>, DumpError> {
        if self.chosen.as_ref().is_some_and(|chosen| !chosen.contains(name)) {
            return Ok(None);
        }
        if let Some(known) = self.parts.iter().position(|part| part.name == name) {
            return Ok(Some(known));
        }
        let Some(part) = Part::named(name, self.wanted) else { return Ok(None) };
        if self.parts.len() == MOST_PARTS {
            let what = told!("分表超过{MOST_PARTS}张", "tables in more than {MOST_PARTS} parts");
            return Err(DumpError::at(at, what));
        }
        self.parts.push(part);
        Ok(Some(self.parts.len() - 1))
    }

    /// The name of a table in the file, in small letters.
    pub fn part_name(&self, part: usize) -> &str {
        &self.parts[part].name
    }

    /// What changes rows behind them, and how many each has changed so far.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// How the file ends, once that is known.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Bytes of the file that have been read.
    pub fn passed(&self) -> u64 {
        self.tokens.source.passed()
    }

    /// What the file holds besides, as far as it has been read.
    pub fn unknown(&self) -> &Unknown {
        &self.unknown
    }

    /// Passes a byte order mark, and tells what cannot be a dump by its first bytes.
    fn begin(&mut self) -> Result<(), DumpError> {
        let no_dump = |zh, en| Err(DumpError::NoDump(both(zh, en)));
        match self.tokens.source.ahead(4)? {
            [] => no_dump("这不是SQL转储，而是空文件", "this is no SQL dump but an empty file"),
            [0x1f, 0x8b, ..] => no_dump(
                "这不是SQL转储，而是gzip文件；请先用gunzip解压",
                "this is no SQL dump but a gzip file; unpack it first, with gunzip",
            ),
            [b'P', b'K', 3 | 5 | 7, ..] => no_dump(
                "这不是SQL转储，而是zip文件；请先解压",
                "this is no SQL dump but a zip file; unpack it first",
            ),
            [0x28, 0xb5, 0x2f, 0xfd] | [b'B', b'Z', b'h', ..] | [0xfd, b'7', b'z', ..] => no_dump(
                "这不是SQL转储，而是压缩文件；请先解压",
                "this is no SQL dump but a compressed file; unpack it first",
            ),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => no_dump(
                "这不是SQL转储，而是UTF-16文本（PowerShell的`>`写出的就是）；请让mysqldump用--result-file写文件",
                "this is no SQL dump but a text in UTF-16, as PowerShell's `>` writes it; let mysqldump write it with \
                 --result-file",
            ),
            [0xef, 0xbb, 0xbf, ..] => {
                self.tokens.source.pass(3);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
