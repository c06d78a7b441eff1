//! A table as text, for a backup: a head with the names of the columns, then a JSON array per row.
//!
//! A value is `null`, a number, a text, `{"real": "121.5"}` for a floating-point number, or
//! `{"base64": "…"}` for bytes that are no UTF-8. The columns of a mall have no other types.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use mysql_async::Value;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value as Json, json};

/// The first line of a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TableHead {
    pub(super) table: String,
    /// Columns of the rows, in order; without generated columns.
    pub(super) columns: Vec<String>,
    /// The next id that the server draws; `None` for a table whose ids it does not draw.
    pub(super) next_id: Option<u64>,
}

/// Appends a row and a line break to `line`. Returns `None` for a value of a type that no mall stores.
pub(super) fn append_row(line: &mut Vec<u8>, row: Vec<Value>) -> Option<()> {
    let row: Vec<Json> = row.into_iter().map(to_json).collect::<Option<_>>()?;
    serde_json::to_writer(&mut *line, &row).ok()?;
    line.push(b'\n');
    Some(())
}

/// Reads a row back; `None` for a line that is no row of `columns` values.
pub(super) fn row_in(line: &str, columns: usize) -> Option<Vec<Value>> {
    let row: Vec<Json> = serde_json::from_str(line).ok()?;
    if row.len() != columns {
        return None;
    }
    row.into_iter().map(from_json).collect()
}

fn to_json(value: Value) -> Option<Json> {
    Some(match value {
        Value::NULL => Json::Null,
        Value::Int(number) => number.into(),
        Value::UInt(number) => number.into(),
        Value::Float(number) => json!({ "real": number.to_string() }),
        Value::Double(number) => json!({ "real": number.to_string() }),
        Value::Bytes(bytes) => match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => json!({ "base64": BASE64_STANDARD.encode(error.as_bytes()) }),
        },
        Value::Date(..) | Value::Time(..) => return None,
    })
}

fn from_json(value: Json) -> Option<Value> {
    let unsigned = |number: &Number| number.as_u64().map(Value::UInt);
    Some(match value {
        Json::Null => Value::NULL,
        Json::Number(number) => number.as_i64().map(Value::Int).or_else(|| unsigned(&number))?,
        Json::String(text) => Value::Bytes(text.into_bytes()),
        Json::Object(object) if object.len() == 1 => match (object.get("real"), object.get("base64")) {
            (Some(Json::String(real)), None) => Value::Double(real.parse().ok()?),
            (None, Some(Json::String(text))) => Value::Bytes(BASE64_STANDARD.decode(text).ok()?),
            _ => return None,
        },
        Json::Bool(_) | Json::Array(_) | Json::Object(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_comes_back_as_it_was() {
        let row = vec![
            Value::NULL,
            Value::Int(i64::MIN),
            Value::Int(-1),
            Value::UInt(u64::MAX),
            Value::Double(0.1 + 0.2),
            Value::Double(-121.473_701_999_999_9),
            Value::Bytes("茶“\n\0\u{2028}".into()),
            Value::Bytes(vec![0xff, 0xd8, 0x00, 0x7f]),
            Value::Bytes(Vec::new()),
        ];
        let mut line = Vec::new();
        append_row(&mut line, row.clone()).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert_eq!(line.matches('\n').count(), 1, "{line}");
        assert_eq!(row_in(line.trim_end(), row.len()), Some(row));
    }

    #[test]
    fn a_line_that_is_no_row_is_refused() {
        for (line, columns) in [
            ("", 1),
            ("[1]", 2),
            ("[1,2]", 1),
            ("[1", 1),
            ("{}", 0),
            ("[true]", 1),
            ("[[1]]", 1),
            ("[1.5]", 1),
            (r#"[{"real":"x"}]"#, 1),
            (r#"[{"base64":"?"}]"#, 1),
            (r#"[{"base64":"AA==","real":"1"}]"#, 1),
            (r#"[{"text":"a"}]"#, 1),
        ] {
            assert_eq!(row_in(line, columns), None, "{line}");
        }
    }

    #[test]
    fn a_date_has_no_text() {
        assert_eq!(append_row(&mut Vec::new(), vec![Value::Date(2026, 11, 30, 0, 0, 0, 0)]), None);
    }
}
