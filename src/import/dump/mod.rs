//! Streaming reader of SQL dumps by mysqldump, Navicat and similar tools: bytes to tokens, tokens to
//! statements, statements to rows of named columns. Memory holds a window of 64 KiB and the current row only.
//!
//! The reader makes two passes. The first ([`Dump::survey`]) finds how the file ends, which tables of the
//! file stand for the wanted ones, and which statements change preceding rows. The second ([`Dump::again`])
//! returns the rows.
//!
//! The reader is not an SQL parser. It understands `CREATE TABLE`, `INSERT`, `REPLACE`, simple `UPDATE`s and
//! `DELETE`s and a few settings, and skips everything else that occurs in dumps. A statement that occurs in
//! no dump is an error.

mod change;
mod changes;
mod conditions;
mod ending;
mod error;
mod insert;
mod parts;
mod rows;
mod settings;
mod source;
mod statements;
mod table;
mod tokens;

use std::collections::BTreeSet;
use std::io::Read;

pub use change::Change;
pub use error::{DumpError, Position};
pub use parts::Found;
pub use table::{Cell, Row, Value, Wanted};

use self::insert::Insert;
use self::parts::Part;
use self::tokens::Tokens;
use crate::language::{Bilingual, bilingual_text, both};

/// Names in the file that are not wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unknown {
    /// Names of unwanted tables.
    pub tables: BTreeSet<String>,
    /// Unwanted columns of wanted tables, as `table.column`.
    pub columns: BTreeSet<String>,
}

/// How a file ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// With a marker of completeness.
    Whole,
    /// After a statement, without a marker of completeness.
    Unsigned {
        /// Position of the end.
        at: Position,
        /// The missing marker.
        why: Bilingual,
    },
    /// Inside a statement; preceding rows of the statement are read.
    Cut {
        /// Start of the incomplete statement, text or comment.
        at: Position,
        /// Description of the incomplete part.
        what: Bilingual,
    },
}

/// Result of the first pass.
#[derive(Clone, PartialEq, Debug)]
pub struct Survey {
    /// Findings per wanted table.
    pub found: Vec<Found>,
    /// How the file ends.
    pub end: End,
    changes: Vec<Change>,
}

impl Survey {
    /// Returns whether the file contains any wanted table.
    #[must_use]
    pub fn has_any(&self) -> bool {
        self.found.iter().any(|found| !found.parts.is_empty())
    }
}

/// Maximum number of candidate tables in a file; a sharded table may have many parts.
const PARTS_MAX: usize = 4_096;

/// Reader of a dump.
pub struct Dump<R> {
    tokens: Tokens<R>,
    wanted: &'static [Wanted],
    parts: Vec<Part>,
    /// Names of the tables to read; `None` in the first pass: all candidates.
    chosen: Option<BTreeSet<String>>,
    changes: Vec<Change>,
    unknown: Unknown,
    insert: Option<Insert>,
    /// Offset of the latest `SET TIME_ZONE`, if it was an offset.
    offset_s: Option<i32>,
    end: Option<End>,
}

impl<R: Read> Dump<R> {
    /// Creates a reader for the first pass, looking for the `wanted` tables.
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

    /// Creates a reader for the second pass over the same file from its start. Returns only the chosen
    /// tables' rows that survive the file's later statements.
    pub fn again(input: R, wanted: &'static [Wanted], survey: &Survey) -> Self {
        let (chosen, changes) = (Some(parts::names(&survey.found)), survey.changes.clone());
        Self { chosen, changes, ..Self::new(input, wanted) }
    }

    /// Runs the first pass. Calls `progress` now and then with the number of bytes read.
    ///
    /// # Errors
    /// Any [`DumpError`], with the position of the fault.
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

    /// Returns the next row of a wanted table; `None` after the last row, even if the file is truncated
    /// afterwards.
    ///
    /// # Errors
    /// Any [`DumpError`], with the position of the fault. Reading cannot continue after an error.
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

    /// Applies later statements of the file to a row. Returns whether the row survives.
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

    /// Returns the table with this lower-case name if the table is, or may be, a wanted one.
    fn part(&mut self, name: &str, at: Position) -> Result<Option<usize>, DumpError> {
        if self.chosen.as_ref().is_some_and(|chosen| !chosen.contains(name)) {
            return Ok(None);
        }
        if let Some(known) = self.parts.iter().position(|part| part.name == name) {
            return Ok(Some(known));
        }
        let Some(part) = Part::named(name, self.wanted) else { return Ok(None) };
        if self.parts.len() == PARTS_MAX {
            let what = bilingual_text!("分表超过{PARTS_MAX}张", "more than {PARTS_MAX} sharded tables");
            return Err(DumpError::at(at, what));
        }
        self.parts.push(part);
        Ok(Some(self.parts.len() - 1))
    }

    /// Returns the lower-case name of a table in the file.
    pub fn part_name(&self, part: usize) -> &str {
        &self.parts[part].name
    }

    /// Returns the statements that change preceding rows, with the number of rows changed so far.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns how the file ends, once known.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Returns the number of bytes read.
    pub fn passed(&self) -> u64 {
        self.tokens.source.passed()
    }

    /// Returns the unwanted names read so far.
    pub fn unknown(&self) -> &Unknown {
        &self.unknown
    }

    /// Skips a byte order mark, and rejects files whose first bytes prove that they are not dumps.
    fn begin(&mut self) -> Result<(), DumpError> {
        let no_dump = |zh, en| Err(DumpError::NoDump(both(zh, en)));
        match self.tokens.source.ahead(4)? {
            [] => no_dump("这不是SQL转储，而是空文件", "not an SQL dump, but an empty file"),
            [0x1f, 0x8b, ..] => no_dump(
                "这不是SQL转储，而是gzip文件；请先用gunzip解压",
                "not an SQL dump, but a gzip file; decompress it first with gunzip",
            ),
            [b'P', b'K', 3 | 5 | 7, ..] => no_dump(
                "这不是SQL转储，而是zip文件；请先解压",
                "not an SQL dump, but a zip file; unzip it first",
            ),
            [0x28, 0xb5, 0x2f, 0xfd] | [b'B', b'Z', b'h', ..] | [0xfd, b'7', b'z', ..] => no_dump(
                "这不是SQL转储，而是压缩文件；请先解压",
                "not an SQL dump, but a compressed file; decompress it first",
            ),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => no_dump(
                "这不是SQL转储，而是UTF-16文本（PowerShell的`>`会写成这样）；请用mysqldump的--result-file写文件",
                "not an SQL dump, but UTF-16 text, as written by `>` in PowerShell; run mysqldump with \
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
