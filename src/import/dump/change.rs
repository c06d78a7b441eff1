//! A statement that changes preceding rows, and its effect on a row.

use super::conditions::Condition;
use super::error::{DumpError, Position};
use super::table::{Row, Value};
use crate::language::bilingual_text;

/// A statement that changes preceding rows.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The statement's keyword, such as `UPDATE`.
    pub verb: &'static str,
    /// Lower-case name of the table in the file.
    pub name: String,
    /// Index of the wanted table.
    pub table: usize,
    /// Start of the statement.
    pub at: Position,
    /// Number of rows changed.
    pub rows: u64,
    /// New values by column; `None` if rows are deleted.
    pub(super) sets: Option<Vec<Set>>,
    pub(super) condition: Condition,
}

/// A column with its new value.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Set {
    pub(super) column: usize,
    pub(super) to: Assignment,
    pub(super) offset_s: Option<i32>,
}

/// A new value of a column.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Assignment {
    Value(Value),
    /// The value of a column plus a number.
    Sum(usize, i128),
}

impl Change {
    /// Applies the change to a row. Returns whether the row survives.
    pub(super) fn apply(&mut self, row: &mut Row) -> Result<bool, DumpError> {
        let undecided = |row: &Row, change: &Self| {
            let (zh, en) = (change.at.line, change.at.line);
            let verb = change.verb;
            let what = bilingual_text!(
                "第{zh}行的{verb}是否适用于这一行，只有MySQL才能判断；请先把文件导入MySQL，再转储",
                "only MySQL can tell whether the {verb} on line {en} changes this row; load the file into \
                 MySQL and dump that database"
            );
            DumpError::at(row.at, what)
        };
        let Ok(applies) = self.condition.holds(row) else { return Err(undecided(row, self)) };
        if !applies {
            return Ok(true);
        }
        self.rows += 1;
        let Some(sets) = &self.sets else { return Ok(false) };
        for set in sets {
            let value = match &set.to {
                Assignment::Value(value) => Some(value.clone()),
                Assignment::Sum(column, number) => sum(&row.cells[*column].value, *number),
            };
            let Some(value) = value else { return Err(undecided(row, self)) };
            let cell = &mut row.cells[set.column];
            (cell.value, cell.offset_s) = (value, set.offset_s);
        }
        Ok(true)
    }
}

fn sum(value: &Value, number: i128) -> Option<Value> {
    let text = match value {
        Value::Null => return Some(Value::Null),
        Value::Number(text) => text.as_str(),
        Value::Text(text) => std::str::from_utf8(text).ok()?,
        Value::Missing | Value::Bytes(_) | Value::Expression => return None,
    };
    let sum = text.trim().parse::<i128>().ok()?.checked_add(number)?;
    Some(Value::Number(sum.to_string()))
}
