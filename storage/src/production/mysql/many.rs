//! Statements about many rows at once.
//!
//! A statement has a fixed number of rows, out of a few: so it is prepared once a connection and not for every number of
//! rows there is. What is inserted is cut into such pieces; what is looked for is filled up with the last one again.

use mysql_async::{Conn, Value};

use super::columns::{Columns, all, execute};
use super::trouble::Fault;

/// Rows of one INSERT: a batch of any size takes few, since each is a round trip. The largest has 3,840 bound values of the
/// 65,535 that a statement may have, and some 30 KiB.
pub(super) const INSERTS: [usize; 6] = [256, 64, 16, 4, 2, 1];
/// Keys of one look.
const LOOKS: [usize; 4] = [1, 16, 128, 512];

/// Inserts rows: `head` is the statement up to its values, `row` the places of one row.
pub(super) async fn insert<const COLUMNS: usize>(
    conn: &mut Conn,
    head: &str,
    row: &str,
    rows: &[[Value; COLUMNS]],
) -> Result<(), Fault> {
    let mut rest = rows;
    for size in INSERTS {
        if rest.len() < size {
            continue;
        }
        let sql = format!("{head} VALUES {}", vec![row; size].join(", "));
        while let Some((now, later)) = rest.split_at_checked(size) {
            let values: Vec<Value> = now.iter().flatten().cloned().collect();
            execute(conn, &*sql, values).await?;
            rest = later;
        }
    }
    Ok(())
}

/// Looks for keys: `sql` with `{keys}` where their places belong. `fixed` is bound before them.
pub(super) async fn look<T>(
    conn: &mut Conn,
    sql: &str,
    fixed: &[u64],
    keys: &[u64],
    read: impl Fn(&mut Columns) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut found = Vec::new();
    let fixed: Vec<Value> = fixed.iter().copied().map(Value::from).collect();
    for (sql, values) in pieces(sql, &fixed, keys) {
        found.extend(all(conn, &*sql, values, &read).await?);
    }
    Ok(found)
}

/// Changes or removes the rows of these keys: `sql` with `{keys}` where their places belong. `fixed` is bound before them.
/// Answers how many rows that are.
pub(super) async fn change(conn: &mut Conn, sql: &str, fixed: &[i64], keys: &[u64]) -> Result<u64, Fault> {
    let fixed: Vec<Value> = fixed.iter().copied().map(Value::from).collect();
    let mut rows = 0;
    for (sql, values) in pieces(sql, &fixed, keys) {
        rows += execute(conn, &*sql, values).await?;
    }
    Ok(rows)
}

/// The statements about so many keys, and what is bound to each.
fn pieces<'a>(
    sql: &'a str,
    fixed: &'a [Value],
    keys: &'a [u64],
) -> impl Iterator<Item = (String, Vec<Value>)> + 'a {
    keys.chunks(LOOKS[LOOKS.len() - 1]).map(move |keys| {
        let size = LOOKS.into_iter().find(|size| *size >= keys.len()).unwrap_or(keys.len());
        let last = keys.last().copied().into_iter().cycle();
        let places = keys.iter().copied().chain(last).take(size).map(Value::from);
        let values = fixed.iter().cloned().chain(places).collect();
        (sql.replace("{keys}", &vec!["?"; size].join(", ")), values)
    })
}
