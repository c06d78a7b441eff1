//! Reads what mysqldump, Navicat and their like write, as a stream: bytes into tokens, tokens into statements, statements
//! into rows of named columns. Of the file only a window of 64 KiB and the row at hand are in memory.
//!
//! Not a parser of SQL: it knows `CREATE TABLE`, `INSERT`, `REPLACE` and two settings, and passes whatever else a dump
//! holds. What no dump holds is an error, as is a file that ends too early.

mod error;
mod rows;
mod source;
mod statements;
mod tokens;

use std::collections::BTreeSet;
use std::io::Read;

pub use error::{DumpError, Position};

use self::rows::{Insert, Meaning};
use self::tokens::Tokens;
use crate::language::both;

/// A table that the reader is to look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Its name, in small letters.
    pub name: &'static str,
    /// The columns that are wanted, in small letters.
    pub columns: &'static [&'static str],
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

/// What the file has said about a wanted table.
#[derive(Clone, Debug, Default)]
struct Known {
    is_met: bool,
    /// Where it is made.
    made: Option<Position>,
    /// Its columns, if a `CREATE TABLE` names them; and what they mean to an `INSERT` that names none.
    columns: Vec<Column>,
    meaning: Option<Meaning>,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    is_timestamp: bool,
}

/// A dump that is being read.
pub struct Dump<R> {
    tokens: Tokens<R>,
    wanted: &'static [Wanted],
    known: Vec<Known>,
    unknown: Unknown,
    insert: Option<Insert>,
    /// What `SET TIME_ZONE` said last, if it is an offset.
    offset_s: Option<i32>,
    /// What `SET FOREIGN_KEY_CHECKS` said last: a Navicat dump that is whole turns them on again.
    checks_are_off: bool,
    is_over: bool,
}

impl<R: Read> Dump<R> {
    /// Looks for these tables.
    pub fn new(input: R, wanted: &'static [Wanted]) -> Self {
        Self {
            tokens: Tokens::new(input),
            wanted,
            known: vec![Known::default(); wanted.len()],
            unknown: Unknown::default(),
            insert: None,
            offset_s: None,
            checks_are_off: false,
            is_over: false,
        }
    }

    /// The next row of a wanted table; `None` after the last one of a file that is whole.
    ///
    /// # Errors
    /// [`DumpError`]: where the file is not what it should be. After an error there is no sense in going on.
    pub fn next_row(&mut self) -> Result<Option<Row>, DumpError> {
        if self.tokens.source.passed() == 0 {
            self.begin()?;
        }
        loop {
            if let Some(insert) = self.insert.take() {
                if let Some(row) = self.row(&insert)? {
                    self.insert = Some(insert);
                    return Ok(Some(row));
                }
            } else if self.is_over || !self.statement()? {
                self.is_over = true;
                return Ok(None);
            }
        }
    }

    /// Bytes of the file that have been read.
    pub fn passed(&self) -> u64 {
        self.tokens.source.passed()
    }

    /// What the file holds besides, as far as it has been read.
    pub fn unknown(&self) -> &Unknown {
        &self.unknown
    }

    /// Whether the file has named any wanted table so far.
    pub fn has_met_any(&self) -> bool {
        self.known.iter().any(|known| known.is_met)
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
