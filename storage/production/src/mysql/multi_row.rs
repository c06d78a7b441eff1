//! Statements about many rows at once.
//!
//! The number of rows in a statement is always from a short list. So each connection prepares few statements,
//! instead of a statement for every number of rows. Inserts are split into pieces of the listed sizes;
//! lookups are padded by repeating the last key.

use mysql_async::{Conn, Value};

use super::columns::{Columns, all, execute};
use super::errors::MysqlError;

/// Rows per INSERT. A batch of any size takes few statements, since each costs a round trip. The largest has
/// 3,840 bound values, of the 65,535 possible in a statement, and some 30 KiB.
pub(super) const INSERT_SIZES: [usize; 6] = [256, 64, 16, 4, 2, 1];
/// Numbers of keys per lookup.
const KEY_COUNTS: [usize; 4] = [1, 16, 128, 512];

/// Inserts rows: `head` is the statement up to `VALUES`, `row` the placeholders of one row.
pub(super) async fn insert<const COLUMNS: usize>(
    conn: &mut Conn,
    head: &str,
    row: &str,
    rows: &[[Value; COLUMNS]],
) -> Result<(), MysqlError> {
    insert_with(conn, head, row, "", rows).await
}

/// Inserts rows like [`insert`], with the end of the statement, such as `ON DUPLICATE KEY`.
pub(super) async fn insert_with<const COLUMNS: usize>(
    conn: &mut Conn,
    head: &str,
    row: &str,
    tail: &str,
    rows: &[[Value; COLUMNS]],
) -> Result<(), MysqlError> {
    let mut rest = rows;
    for size in INSERT_SIZES {
        if rest.len() < size {
            continue;
        }
        let sql = format!("{head} VALUES {} {tail}", vec![row; size].join(", "));
        while let Some((now, later)) = rest.split_at_checked(size) {
            let values: Vec<Value> = now.iter().flatten().cloned().collect();
            execute(conn, &*sql, values).await?;
            rest = later;
        }
    }
    Ok(())
}

/// Reads the rows of `keys`. `{keys}` in `sql` stands for the placeholders; `fixed` is bound before the keys.
pub(super) async fn select_by_keys<T>(
    conn: &mut Conn,
    sql: &str,
    fixed: &[u64],
    keys: &[u64],
    read: impl Fn(&mut Columns) -> Result<T, MysqlError>,
) -> Result<Vec<T>, MysqlError> {
    select_by_values(conn, sql, &values(fixed), &values(keys), read).await
}

/// Reads rows like [`select_by_keys`], by keys of any type.
pub(super) async fn select_by_values<T>(
    conn: &mut Conn,
    sql: &str,
    fixed: &[Value],
    keys: &[Value],
    read: impl Fn(&mut Columns) -> Result<T, MysqlError>,
) -> Result<Vec<T>, MysqlError> {
    let mut found = Vec::new();
    for (sql, values) in pieces(sql, fixed, keys) {
        found.extend(all(conn, &*sql, values, &read).await?);
    }
    Ok(found)
}

/// Updates or deletes the rows of `keys`. `{keys}` in `sql` stands for the placeholders; `fixed` is bound
/// before the keys. Returns the number of rows.
pub(super) async fn change_by_keys(
    conn: &mut Conn,
    sql: &str,
    fixed: &[i64],
    keys: &[u64],
) -> Result<u64, MysqlError> {
    let mut rows = 0;
    for (sql, values) in pieces(sql, &values(fixed), &values(keys)) {
        rows += execute(conn, &*sql, values).await?;
    }
    Ok(rows)
}

fn values<T: Copy>(numbers: &[T]) -> Vec<Value>
where
    Value: From<T>,
{
    numbers.iter().copied().map(Value::from).collect()
}

/// Splits `keys` into statements, each with its bound values.
fn pieces<'a>(
    sql: &'a str,
    fixed: &'a [Value],
    keys: &'a [Value],
) -> impl Iterator<Item = (String, Vec<Value>)> + 'a {
    keys.chunks(KEY_COUNTS[KEY_COUNTS.len() - 1]).map(move |keys| {
        let keys = padded(keys);
        let sql = sql.replace("{keys}", &places(keys.len()));
        (sql, fixed.iter().cloned().chain(keys).collect())
    })
}

/// Repeats the last key up to the next number of keys in a lookup.
pub(super) fn padded(keys: &[Value]) -> Vec<Value> {
    let size = KEY_COUNTS.into_iter().find(|size| *size >= keys.len()).unwrap_or(keys.len());
    let last = keys.last().into_iter().cycle();
    keys.iter().chain(last).take(size).cloned().collect()
}

/// Returns the placeholders of a list.
pub(super) fn places(number: usize) -> String {
    vec!["?"; number].join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padded_keys_repeat_the_last_one_up_to_a_number_of_the_list() {
        for (keys, want) in [(1, 1), (2, 16), (16, 16), (17, 128), (512, 512)] {
            let keys: Vec<u64> = (0..keys).collect();
            let padded = padded(&values(&keys));
            assert_eq!(padded.len(), want);
            assert_eq!(padded[..keys.len()], values(&keys));
            assert!(padded[keys.len()..].iter().all(|value| *value == Value::from(keys[keys.len() - 1])));
        }
        assert_eq!(padded(&[]), []);
    }
}
