//! The ids that the mall draws after an import.

use std::collections::BTreeMap;

use mysql_async::Conn;

use crate::ImportIds;
use crate::production::mysql::columns::execute;
use crate::production::mysql::trouble::Fault;

/// Raises the server's counters so that ids go on from these.
///
/// `ALTER TABLE … AUTO_INCREMENT` would commit the import before its time. A row with the last id before `next` raises the
/// counter too, and is deleted at once. Its other columns are what MySQL takes where a mode does not forbid that.
pub(super) async fn raise(conn: &mut Conn, next_ids: &BTreeMap<ImportIds, u64>) -> Result<(), Fault> {
    if next_ids.is_empty() {
        return Ok(());
    }
    execute(conn, "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", ()).await?;
    for (ids, next) in next_ids {
        let (table, last) = (table(*ids), next.saturating_sub(1));
        let inserted = execute(conn, format!("INSERT IGNORE INTO {table} (id) VALUES (?)"), (last,)).await?;
        if inserted > 0 {
            execute(conn, format!("DELETE FROM {table} WHERE id = ?"), (last,)).await?;
        }
    }
    Ok(())
}

fn table(ids: ImportIds) -> &'static str {
    match ids {
        ImportIds::Shops => "shops",
        ImportIds::Users => "users",
        ImportIds::Vouchers => "vouchers",
        ImportIds::Notes => "notes",
        ImportIds::Comments => "note_comments",
    }
}
