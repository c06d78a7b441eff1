//! Typed access to the values of a row. Reports why a row, or the whole file, cannot be imported.

use jiff::tz::{Offset, TimeZone};
use mallbox_storage::Timestamp;

use super::dump::{Cell, DumpError, Row, Value};
use super::tables::{LARGEST_ID, TABLES, Table};
use crate::language::{Bilingual, bilingual_text, both};
use crate::mall::base::wall_time;

/// Reason why a row is not imported.
#[derive(Debug)]
pub(super) enum RowError {
    /// The row is left out.
    Row(Bilingual),
    /// The row proves that the file is invalid.
    File(DumpError),
}

/// A row with values accessible by column name.
pub(super) struct Fields<'a> {
    row: &'a Row,
    table: Table,
    zone: &'a TimeZone,
    now: Timestamp,
    /// Changes made to the row.
    pub(super) remarks: Vec<Bilingual>,
}

impl<'a> Fields<'a> {
    /// Wraps a row. `zone` is the time zone of the dump; `now` replaces missing times.
    pub(super) fn new(row: &'a Row, table: Table, zone: &'a TimeZone, now: Timestamp) -> Self {
        Self { row, table, zone, now, remarks: Vec::new() }
    }

    /// Returns a label by which people can find the row: its first number, or 0 if it does not begin with a
    /// number.
    pub(super) fn label(&self) -> u64 {
        self.row.cells.first().and_then(|cell| whole(cell).ok().flatten()).map_or(0, i64::unsigned_abs)
    }

    /// Returns the id in the column, from 1.
    pub(super) fn id(&self, name: &str) -> Result<u64, RowError> {
        let number = self.whole_number(self.cell(name))?;
        match number.and_then(|number| u64::try_from(number).ok()) {
            Some(id @ 1..=LARGEST_ID) => Ok(id),
            _ => Err(RowError::Row(both("缺少编号，或编号超出范围", "an id is missing or out of range"))),
        }
    }

    /// Returns the id of an order. No sequence continues after order ids, so any positive `BIGINT` is valid.
    pub(super) fn order_id(&self) -> Result<u64, RowError> {
        let number = self.whole_number(self.cell("id"))?;
        let id = number.and_then(|number| u64::try_from(number).ok()).filter(|id| *id > 0);
        id.ok_or(RowError::Row(both("缺少编号，或编号超出范围", "id missing or out of range")))
    }

    /// Returns the id in the column; 0 if missing.
    pub(super) fn id_if_any(&self, name: &str) -> Result<u64, RowError> {
        match self.whole_number(self.cell(name))? {
            None | Some(0) => Ok(0),
            Some(id) => u64::try_from(id)
                .ok()
                .filter(|id| *id <= LARGEST_ID)
                .ok_or(RowError::Row(both("编号超出范围", "an id is out of range"))),
        }
    }

    /// Returns a non-negative number; 0 if missing.
    pub(super) fn count(&self, name: &str) -> Result<u64, RowError> {
        let number = self.whole_number(self.cell(name))?.unwrap_or(0);
        u64::try_from(number).map_err(|_| RowError::Row(both("数值小于0", "a number is below 0")))
    }

    /// Returns a whole number, if present.
    pub(super) fn number(&self, name: &str) -> Result<Option<i64>, RowError> {
        self.whole_number(self.cell(name))
    }

    /// Returns a fractional number within the given range.
    pub(super) fn between(&self, name: &str, least: f64, most: f64) -> Result<f64, RowError> {
        let text = match &self.cell(name).value {
            Value::Number(text) => text.clone(),
            Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
            _ => return Err(RowError::Row(both("缺少坐标", "coordinates missing"))),
        };
        let number: Option<f64> = text.trim().parse().ok();
        // NaN is in no range.
        number
            .filter(|number| (least..=most).contains(number))
            .ok_or(RowError::Row(both("坐标超出范围", "coordinates out of range")))
    }

    /// Returns a text; `""` if missing.
    pub(super) fn text(&self, name: &str) -> Result<String, RowError> {
        let cell = self.cell(name);
        match &cell.value {
            Value::Missing | Value::Null => Ok(String::new()),
            Value::Number(text) => Ok(text.clone()),
            Value::Text(bytes) | Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(text.to_owned()),
                Err(_) => {
                    let table = self.table.name();
                    let what = bilingual_text!(
                        "{table}的`{name}`不是UTF-8文本；请用--default-character-set=utf8mb4转储",
                        "`{name}` of {table} is not UTF-8; dump with --default-character-set=utf8mb4"
                    );
                    Err(RowError::File(DumpError::at(cell.at, what)))
                }
            },
            Value::Expression => Err(RowError::Row(both(
                "含有须由MySQL计算的表达式",
                "contains an expression that only MySQL can evaluate",
            ))),
        }
    }

    /// Returns an instant; `None` if missing, or for `0000-00-00`.
    pub(super) fn instant(&self, name: &str) -> Result<Option<Timestamp>, RowError> {
        const NO_TIME: RowError = RowError::Row(both("时间无效", "invalid time"));
        let cell = self.cell(name);
        let text = match &cell.value {
            Value::Missing | Value::Null => return Ok(None),
            // The only expressions valid for an instant: now(), CURRENT_TIMESTAMP.
            Value::Expression => return Ok(Some(self.now)),
            Value::Text(text) => std::str::from_utf8(text).map_err(|_| NO_TIME)?.trim(),
            Value::Number(_) | Value::Bytes(_) => return Err(NO_TIME),
        };
        if text.starts_with("0000-00-00") {
            return Ok(None);
        }
        // Values meaning "never ends" are beyond the calendar's range.
        if text.starts_with("9999-12-3") {
            return Ok(Some(Timestamp::from_millis(jiff::Timestamp::MAX.as_millisecond())));
        }
        let fixed = cell.offset_s.and_then(|seconds| Offset::from_seconds(seconds).ok()).map(TimeZone::fixed);
        let zone = fixed.as_ref().unwrap_or(self.zone);
        let whole = if text.len() == "2000-01-31".len() { &format!("{text} 00:00:00") } else { text };
        wall_time::parse(whole, zone).map(Some).ok_or(NO_TIME)
    }

    /// Returns the time of creation or change; now if missing.
    pub(super) fn instant_or_now(&self, name: &str) -> Result<Timestamp, RowError> {
        Ok(self.instant(name)?.unwrap_or(self.now))
    }

    fn cell(&self, name: &str) -> &'a Cell {
        let place = TABLES[self.table as usize].columns.iter().position(|column| *column == name);
        debug_assert!(place.is_some(), "{name} is not a column of {}", self.table.name());
        &self.row.cells[place.unwrap_or(0)]
    }

    /// Checks that all required columns are present.
    pub(super) fn check_needed(&self) -> Result<(), RowError> {
        let missing = self.table.needed().iter().find(|name| self.cell(name).value == Value::Missing);
        missing.map_or(Ok(()), |name| {
            let table = self.table.name();
            let what = bilingual_text!(
                "{table}的这一行没有`{name}`列",
                "a row of {table} lacks the column `{name}`"
            );
            Err(RowError::File(DumpError::at(self.row.at, what)))
        })
    }

    fn whole_number(&self, cell: &Cell) -> Result<Option<i64>, RowError> {
        whole(cell).map_err(|()| RowError::Row(both("数值无效", "invalid number")))
    }
}

/// Parses a whole number, written bare, in quotes or as bits.
fn whole(cell: &Cell) -> Result<Option<i64>, ()> {
    let text = match &cell.value {
        Value::Missing | Value::Null => return Ok(None),
        Value::Number(text) => text.as_str(),
        Value::Text(text) => std::str::from_utf8(text).map_err(|_| ())?.trim(),
        Value::Bytes(bytes) if bytes.len() <= 8 => {
            let number = bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            return i64::try_from(number).map(Some).map_err(|_| ());
        }
        Value::Bytes(_) | Value::Expression => return Err(()),
    };
    text.parse().map(Some).map_err(|_| ())
}
