//! Rows into their tables, many at once, with the ids they come with.

use mysql_async::{Conn, Value};

use super::tables::{self, Table};
use crate::ImportRow;
use crate::production::mysql::columns::execute;
use crate::production::mysql::many::INSERTS;
use crate::production::mysql::trouble::Fault;

/// A statement with longer texts is made of fewer rows: it has to fit into one packet, of which a server takes 16 MiB or
/// more unless it is told otherwise.
const LONGEST: usize = 1 << 20;

/// Rows of one table, in the order in which they came, and their places among all.
pub(super) struct Group {
    table: &'static Table,
    rows: Vec<Row>,
    places: Vec<usize>,
}

struct Row {
    values: Vec<Value>,
    replaces: bool,
}

/// The vouchers among these rows: their places, their ids, and whether they call themselves sales.
pub(super) fn vouchers(rows: &[(ImportRow, bool)]) -> Vec<(usize, u64, bool)> {
    rows.iter()
        .enumerate()
        .filter_map(|(place, (row, _))| match row {
            ImportRow::Voucher(voucher) => Some((place, voucher.id.get(), voucher.is_sale)),
            _ => None,
        })
        .collect()
}

/// Sorts rows by their table: those of different tables are nothing to each other yet.
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

/// Writes them. Answers for each of the `count` rows whether it was written.
pub(super) async fn insert(conn: &mut Conn, groups: &[Group], count: usize) -> Result<Vec<bool>, Fault> {
    let mut written = vec![false; count];
    for Group { table, rows, places } in groups {
        for (place, is_written) in places.iter().zip(insert_group(conn, table, rows).await?) {
            written[*place] = is_written;
        }
    }
    Ok(written)
}

/// Hardly any row finds its key taken. So many are tried at once, which is the same as one after the other if all keys are
/// free; where one is not, the server undoes the statement, and it is made of fewer rows, down to one.
async fn insert_group(conn: &mut Conn, table: &Table, rows: &[Row]) -> Result<Vec<bool>, Fault> {
    let mut written = Vec::with_capacity(rows.len());
    let mut to_do = vec![(rows, INSERTS.as_slice())];
    while let Some((rows, sizes)) = to_do.pop() {
        let Some((&size, smaller)) = sizes.split_first().filter(|_| !rows.is_empty()) else { continue };
        let Some((now, later)) = rows.split_at_checked(size) else {
            to_do.push((rows, smaller));
            continue;
        };
        to_do.push((later, sizes));
        if let [one] = now {
            written.push(insert_one(conn, table, one).await?);
        } else if now.iter().map(Row::length).sum::<usize>() <= LONGEST
            && try_insert(conn, table, now).await?
        {
            written.resize(written.len() + size, true);
        } else {
            to_do.push((now, smaller));
        }
    }
    Ok(written)
}

async fn insert_one(conn: &mut Conn, table: &Table, row: &Row) -> Result<bool, Fault> {
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
    // None found: what is taken is not the id, but another user's phone. And one may be taken beside the id.
    Ok(unless_taken(execute(conn, sql, values).await)?.is_some_and(|found| found > 0))
}

/// `false`, and nothing is written, if one of their keys is taken.
async fn try_insert(conn: &mut Conn, table: &Table, rows: &[Row]) -> Result<bool, Fault> {
    let places = format!("({})", vec!["?"; table.columns.len()].join(", "));
    let places = vec![&*places; rows.len()].join(", ");
    let sql = format!("INSERT INTO {} ({}) VALUES {places}", table.name, table.columns.join(", "));
    let values: Vec<Value> = rows.iter().flat_map(|row| &row.values).cloned().collect();
    Ok(unless_taken(execute(conn, sql, values).await)?.is_some())
}

fn unless_taken<T>(done: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match done {
        Err(fault) if fault.is_taken_key() => Ok(None),
        done => done.map(Some),
    }
}

impl Row {
    /// About so many bytes.
    fn length(&self) -> usize {
        self.values.iter().map(|value| if let Value::Bytes(text) = value { text.len() } else { 8 }).sum()
    }
}
