//! `WHERE` conditions, evaluated as MySQL does with hm-dianping's collations.

use std::cmp::Ordering;

use super::table::{Row, Value};

/// Condition on a row. Columns are indices into the row.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Condition {
    Always,
    All(Vec<Condition>),
    Any(Vec<Condition>),
    /// Compares a column with values. True if the comparison holds for any value; for
    /// [`Comparison::NotEqual`], if it holds for all.
    Compare(usize, Comparison, Vec<Value>),
    /// Tests whether a column is `NULL` (true) or not (false).
    Null(usize, bool),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    NotGreater,
    Greater,
    NotLess,
}

/// Only MySQL can decide the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct UndecidableError;

impl Condition {
    /// Returns whether the condition holds for a row. Comparisons with `NULL` never hold.
    pub(super) fn holds(&self, row: &Row) -> Result<bool, UndecidableError> {
        match self {
            Self::Always => Ok(true),
            Self::All(all) => all.iter().try_fold(true, |holds, one| Ok(holds && one.holds(row)?)),
            Self::Any(any) => any.iter().try_fold(false, |holds, one| Ok(holds || one.holds(row)?)),
            Self::Null(column, is_null) => match row.cells[*column].value {
                Value::Missing => Err(UndecidableError),
                ref value => Ok((*value == Value::Null) == *is_null),
            },
            Self::Compare(column, is, values) => {
                let cell = &row.cells[*column].value;
                if *cell == Value::Null {
                    return Ok(false);
                }
                let holds = |value: &Value| Ok(is.holds(compare(cell, value, *is)?));
                if *is == Comparison::NotEqual {
                    values.iter().try_fold(true, |so_far, value| Ok(so_far && holds(value)?))
                } else {
                    values.iter().try_fold(false, |so_far, value| Ok(so_far || holds(value)?))
                }
            }
        }
    }
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::NotGreater => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::NotLess => order.is_ge(),
        }
    }
}

/// Compares a row's value with a statement's value: numbers by size, instants by time, other texts for
/// equality only.
fn compare(cell: &Value, value: &Value, is: Comparison) -> Result<Ordering, UndecidableError> {
    match (cell, value) {
        (Value::Text(cell), Value::Text(value)) => texts(cell, value, is),
        _ => numbers(cell, value),
    }
}

fn numbers(cell: &Value, value: &Value) -> Result<Ordering, UndecidableError> {
    let text = |value| match value {
        Value::Number(text) => Ok(text),
        Value::Text(text) => String::from_utf8(text).map_err(|_| UndecidableError),
        Value::Bytes(bytes) if bytes.len() <= 8 => {
            Ok(bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)).to_string())
        }
        Value::Bytes(_) | Value::Missing | Value::Null | Value::Expression => Err(UndecidableError),
    };
    let (cell, value) = (text(cell.clone())?, text(value.clone())?);
    let (cell, value) = (cell.trim(), value.trim());
    if let (Ok(cell), Ok(value)) = (cell.parse::<i128>(), value.parse::<i128>()) {
        return Ok(cell.cmp(&value));
    }
    let fraction = |text: &str| text.parse::<f64>().map_err(|_| UndecidableError);
    fraction(cell)?.partial_cmp(&fraction(value)?).ok_or(UndecidableError)
}

/// Compares texts. MySQL's usual collations ignore case and trailing blanks. Whether `é` equals `e`, and
/// which of two words sorts first, only MySQL can decide.
fn texts(cell: &[u8], value: &[u8], is: Comparison) -> Result<Ordering, UndecidableError> {
    let text = |bytes| std::str::from_utf8(bytes).map_err(|_| UndecidableError);
    let (cell, value) = (text(cell)?.trim_end(), text(value)?.trim_end());
    if let (Some(cell), Some(value)) = (instant(cell), instant(value)) {
        return Ok(cell.cmp(&value));
    }
    let has_accents = |text: &str| text.chars().any(|c| ('\u{c0}'..='\u{24f}').contains(&c));
    let is_equality = matches!(is, Comparison::Equal | Comparison::NotEqual);
    if cell.to_lowercase() == value.to_lowercase() {
        Ok(Ordering::Equal)
    } else if is_equality && !has_accents(cell) && !has_accents(value) {
        Ok(Ordering::Less)
    } else {
        Err(UndecidableError)
    }
}

/// Converts `2022-01-31` and `2022-01-31 10:00:00` to texts that sort chronologically.
fn instant(text: &str) -> Option<String> {
    let is_day = text.len() >= 10 && text.is_char_boundary(10);
    let (day, time) = if is_day { text.split_at(10) } else { return None };
    let digits = |text: &str, marks: char| text.chars().all(|c| c.is_ascii_digit() || c == marks);
    let has_form = digits(day, '-') && day.as_bytes().get(4) == Some(&b'-');
    match time.strip_prefix([' ', 'T']) {
        _ if !has_form => None,
        None if time.is_empty() => Some(format!("{day} 00:00:00")),
        Some(time) if time.len() == 8 && digits(time, ':') => Some(format!("{day} {time}")),
        _ => None,
    }
}
