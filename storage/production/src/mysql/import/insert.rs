//! Bulk inserts of imported rows, with their original ids.

use mallbox_storage::ImportRow;
use mysql_async::{Conn, Value};

use super::tables::{self, Table};
use crate::mysql::columns::execute;
use crate::mysql::errors::MysqlError;
use crate::mysql::multi_row::INSERT_SIZES;

/// Rows of one table, in order of arrival, and their positions among all rows.
pub(super) struct Group {
    table: &'static Table,
    rows: Vec<Row>,
    places: Vec<usize>,
}

struct Row {
    values: Vec<Value>,
    replaces: bool,
}

/// Returns the vouchers among `rows`: position, id, and whether marked as a sale.
pub(super) fn vouchers(rows: &[(ImportRow, bool)]) -> Vec<(usize, u64, bool)> {
    rows.iter()
        .enumerate()
        .filter_map(|(place, (row, _))| match row {
            ImportRow::Voucher(voucher) => Some((place, voucher.id.get(), voucher.is_sale)),
            _ => None,
        })
        .collect()
}

/// Groups rows by table: rows of different tables do not depend on each other yet.
pub(super) fn by_table(rows: Vec<(ImportRow, bool)>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (place, (row, replaces)) in rows.into_iter().enumerate() {
        let (table, values) = tables::values(row);
        let known = groups.iter().position(|group| group.table.name == table.name);
        let index = known.unwrap_or_else(|| {
            groups.push(Group { table, rows: Vec::new(), places: Vec::new() });
            groups.len() - 1
        });
        groups[index].rows.push(Row { values, replaces });
        groups[index].places.push(place);
    }
    groups
}

/// Writes the groups. Returns, for each of the `count` rows, whether the row was written.
pub(super) async fn insert(conn: &mut Conn, groups: &[Group], count: usize) -> Result<Vec<bool>, MysqlError> {
    let mut written = vec![false; count];
    for Group { table, rows, places } in groups {
        for (place, is_written) in places.iter().zip(insert_group(conn, table, rows).await?) {
            written[*place] = is_written;
        }
    }
    Ok(written)
}

/// Inserts rows, optimistically many per statement: hardly any key is taken, and if all keys are free the
/// result equals single inserts. If a key is taken, the server rolls back the statement, and smaller
/// statements follow, down to single rows.
async fn insert_group(conn: &mut Conn, table: &Table, rows: &[Row]) -> Result<Vec<bool>, MysqlError> {
    let mut written = Vec::with_capacity(rows.len());
    let mut to_do = vec![(rows, INSERT_SIZES.as_slice())];
    while let Some((rows, sizes)) = to_do.pop() {
        let Some((&size, smaller)) = sizes.split_first().filter(|_| !rows.is_empty()) else { continue };
        let Some((now, later)) = rows.split_at_checked(size) else {
            to_do.push((rows, smaller));
            continue;
        };
        to_do.push((later, sizes));
        if let [one] = now {
            written.push(insert_one(conn, table, one).await?);
        } else if try_insert(conn, table, now).await? {
            written.resize(written.len() + size, true);
        } else {
            to_do.push((now, smaller));
        }
    }
    Ok(written)
}

async fn insert_one(conn: &mut Conn, table: &Table, row: &Row) -> Result<bool, MysqlError> {
    if try_insert(conn, table, std::slice::from_ref(row)).await? {
        return Ok(true);
    }
    if !row.replaces || !table.has_id {
        return Ok(false);
    }
    let values = table.columns[1..].join(" = ?, ");
    let sql = format!("UPDATE {} SET {values} = ? WHERE {} = ?", table.name, table.columns[0]);
    let mut values = row.values.clone();
    values.rotate_left(1);
    // No row found: the taken key is not the id but the phone number of another user. And a key other than
    // the id may be taken too.
    Ok(unless_taken(execute(conn, sql, values).await)?.is_some_and(|found| found > 0))
}

/// Inserts rows with one statement. Returns `false`, and writes nothing, if any key is taken.
async fn try_insert(conn: &mut Conn, table: &Table, rows: &[Row]) -> Result<bool, MysqlError> {
    let places = format!("({})", vec!["?"; table.columns.len()].join(", "));
    let places = vec![&*places; rows.len()].join(", ");
    let sql = format!("INSERT INTO {} ({}) VALUES {places}", table.name, table.columns.join(", "));
    let values: Vec<Value> = rows.iter().flat_map(|row| &row.values).cloned().collect();
    Ok(unless_taken(execute(conn, sql, values).await)?.is_some())
}

fn unless_taken<T>(done: Result<T, MysqlError>) -> Result<Option<T>, MysqlError> {
    match done {
        Err(fault) if fault.is_duplicate_key() => Ok(None),
        done => done.map(Some),
    }
}
