//! The ids that the mall generates after an import.

use std::collections::BTreeMap;

use mallbox_storage::ImportSequence;
use mysql_async::Conn;

use crate::mysql::columns::execute;
use crate::mysql::errors::MysqlError;

/// Raises the `AUTO_INCREMENT` counters: generated ids then start at `next_ids`.
///
/// `ALTER TABLE … AUTO_INCREMENT` would implicitly commit the import. Instead, a row with the last id before
/// `next` raises the counter, and is deleted at once. All other columns get MySQL's implicit defaults, as
/// permitted by the SQL mode set here.
pub(super) async fn raise(
    conn: &mut Conn,
    next_ids: &BTreeMap<ImportSequence, u64>,
) -> Result<(), MysqlError> {
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

fn table(ids: ImportSequence) -> &'static str {
    match ids {
        ImportSequence::Shops => "shops",
        ImportSequence::Users => "users",
        ImportSequence::Vouchers => "vouchers",
        ImportSequence::Notes => "notes",
        ImportSequence::Comments => "note_comments",
    }
}
