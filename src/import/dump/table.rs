//! Tables to look for, and their rows.

use super::error::Position;

/// A table to look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Name in lower case.
    pub name: &'static str,
    /// Wanted columns, in lower case.
    pub columns: &'static [&'static str],
    /// Columns required to understand a row.
    pub needed: &'static [&'static str],
}

impl Wanted {
    pub(super) fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|wanted| *wanted == column)
    }
}

/// A value in a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// The row does not name the column, or contains `DEFAULT`.
    Missing,
    /// An SQL `NULL`.
    Null,
    /// A number as written; `TRUE` and `FALSE` are 1 and 0.
    Number(String),
    /// A text with resolved escapes; not checked to be UTF-8.
    Text(Vec<u8>),
    /// Bits, or bytes without a character set.
    Bytes(Vec<u8>),
    /// An expression that only MySQL can evaluate, such as `now()`.
    Expression,
}

/// A value with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// The parsed value.
    pub value: Value,
    /// Start of the value; start of the row if the value is missing.
    pub at: Position,
    /// For instants: the offset from the file's `TIME_ZONE` that applies to the column, in seconds east of
    /// UTC. `TIMESTAMP`s are written in that zone, `DATETIME`s as stored.
    pub offset_s: Option<i32>,
}

/// A row of a wanted table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Index of the wanted table.
    pub table: usize,
    /// Index of the table in the file: [`Dump::part_name`](super::Dump::part_name).
    pub part: usize,
    /// One cell per wanted column, in the order of the columns.
    pub cells: Vec<Cell>,
    /// Start of the row.
    pub at: Position,
    /// Whether the row replaces an earlier row with the same key: `REPLACE`.
    pub replaces: bool,
}

/// A column of a table in the file.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) is_timestamp: bool,
}
