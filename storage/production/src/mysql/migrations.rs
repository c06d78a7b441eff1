//! Migrations of the database schema.
//!
//! Each file holds one statement, since MySQL cannot roll back a schema change. A step that was done but not
//! noted (the process died in between) runs again and finds its work done. A released file never changes;
//! later schema changes are further files. Of several processes that start at the same moment, one migrates
//! and the others wait.
//!
//! Written for this crate instead of using refinery: refinery takes no lock (of two concurrent runs one
//! fails), and cannot handle half-done steps.

use std::collections::BTreeSet;

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use super::columns::first;
use super::errors::MysqlError;

macro_rules! steps {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("migrations/", $name, ".sql")))),+]
    };
}

/// Names and statements; a step's number is its position, counted from 1.
const STEPS: &[(&str, &str)] = steps![
    "0001_users",
    "0002_user_info",
    "0003_shop_types",
    "0004_shops",
    "0005_vouchers",
    "0006_sales",
    "0007_orders",
    "0008_dead_letters",
    "0009_payments",
    "0010_sequences",
    "0011_settings",
    "0012_stock_changes",
    "0013_outbox_releases",
    "0014_audit",
    "0015_audit_head",
    "0016_audit_is_not_changed",
    "0017_audit_is_not_shortened",
    "0018_audit_head_stays",
    "0019_notes",
    "0020_note_comments",
    "0021_follows",
    "0022_sign_ins",
    "0023_follows_by_time",
    "0024_sign_ins_by_day",
    "0025_notes_at_work",
    "0026_note_pictures",
    "0027_comments_at_work",
    "0028_comments_moved_in",
    "0029_reports",
    "0030_likes",
    "0031_follows_since",
    "0032_authors_with_many_fans",
    "0033_pictures",
    "0034_picture_contents",
    "0035_users_by_icon",
    "0036_purchases",
    "0037_shop_types_draw_ids",
    "0038_payment_modes",
    "0039_server_epochs",
    "0040_order_instances",
    "0041_payment_gateways",
    "0042_users_deleted",
    "0043_note_comments_by_user",
    "0044_likes_by_user",
    "0045_picture_files",
    "0046_pictures_of_imported_notes",
    "0047_picture_files_of_imports",
    "0048_credit_lines",
    "0049_set_level",
    "0050_credits_before",
    "0051_second_factors",
    "0052_recovery_codes",
    "0053_reviews",
    "0054_review_pictures",
    "0055_vote_lines",
    "0056_vote_marks",
    "0057_parts_of_scores",
    "0058_scores_before",
    "0059_retry_kinds",
    "0060_retry_tasks",
    "0061_event_outbox",
    "0062_events",
    "0063_event_ends",
    "0064_event_ends_begin",
    "0065_event_subscribers",
    "0066_archived_days",
    "0067_archive_drafts",
    "0068_archive_parts",
    "0069_archived_users",
    "0070_sale_waves",
    "0071_sale_guard",
    "0072_waiting_entries",
    "0073_sale_waiting",
    "0074_waiting_room",
    "0075_claim_limit",
    "0076_thresholds",
    "0077_judgement",
    "0078_attempts",
    "0079_units_per_user",
    "0080_sale_slots",
    "0081_order_slot",
    "0082_live_slots",
    "0083_terms_token",
    "0084_claim_gateways",
    "0085_claim_batches",
    "0086_cash_sessions",
    "0087_cash_entries",
    "0088_cash_reports",
    "0089_cash_entries_are_not_changed",
    "0090_cash_entries_are_not_removed",
    "0091_cash_reports_are_not_changed",
    "0092_cash_reports_are_not_removed",
];

/// The newest step known to this program.
pub(super) const LATEST_STEP: u64 = STEPS.len() as u64;
/// Number in the list of steps that marks a database into which a mall is being restored. Earlier versions
/// take it for the schema of a newer one, and refuse the database too.
const RESTORING: u64 = 4_294_967_295;
/// Why a database with the mark cannot be used.
pub(super) const RESTORE_CUT_SHORT: &str =
    "a restore into it has not finished; repeat mallbox restore, or drop the database";
/// Why the lock was not free.
pub(super) const MIGRATING: &str =
    "another mallbox has been migrating it for a minute; start again after the migration";
/// Longest wait for the migrations of another process, in seconds.
const LOCK_TIMEOUT_S: u32 = 60;
/// Creates the list of the steps applied.
const CREATE_LIST: &str =
    "CREATE TABLE IF NOT EXISTS mallbox_schema (number BIGINT UNSIGNED NOT NULL PRIMARY KEY, name VARCHAR(64) NOT NULL)
     ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin";
/// A column, a key, a table or a trigger exists already, or is dropped already: the step was done but not
/// noted.
const ALREADY_DONE_CODES: [u16; 5] = [1050, 1060, 1061, 1091, 1359];
/// The account may not create triggers, or not beside a binary log (MySQL 8, unless
/// `log_bin_trust_function_creators`).
const TRIGGER_DENIED_CODES: [u16; 2] = [1142, 1419];

/// The state of a database's schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SchemaState {
    /// No database of this name, or no table in it: a start creates a new mall.
    Empty,
    /// Tables, and none of them by mallbox.
    Foreign,
    /// A restore into it is running, or was cut short.
    Restoring,
    /// The database of a mall.
    At {
        /// The last step applied.
        step: u64,
        /// The newest step known to this program.
        latest: u64,
    },
}

/// Why a database cannot be used, in words for the operator.
pub(super) enum MigrationError {
    /// The database is no usable mallbox database; the text says why.
    Because(String),
    /// The database could not be examined.
    Trouble(MysqlError),
}

impl<F: Into<MysqlError>> From<F> for MigrationError {
    fn from(fault: F) -> Self {
        Self::Trouble(fault.into())
    }
}

/// Migrates the database to the newest version. Does nothing if already up to date.
pub(super) async fn apply(conn: &mut Conn) -> Result<(), MigrationError> {
    if !lock(conn).await? {
        return Err(MigrationError::Because(MIGRATING.into()));
    }
    let applied = apply_locked(conn).await;
    unlock(conn).await?;
    applied
}

/// Takes the lock under which the schema of the database is migrated, read or begun. Returns whether it was
/// free within [`LOCK_TIMEOUT_S`].
pub(super) async fn lock(conn: &mut Conn) -> Result<bool, MysqlError> {
    // `GET_LOCK` is server-wide and its names are short, so the lock's name holds a hash of the database's
    // name.
    let sql = "SELECT GET_LOCK(CONCAT('mallbox ', SHA1(DATABASE())), ?)";
    let got = first(conn, sql, (LOCK_TIMEOUT_S,), |row| row.next::<Option<i64>>());
    Ok(got.await?.flatten() == Some(1))
}

/// Releases the lock, as closing the connection would.
pub(super) async fn unlock(conn: &mut Conn) -> Result<(), MysqlError> {
    Ok(conn.query_drop("SELECT RELEASE_LOCK(CONCAT('mallbox ', SHA1(DATABASE())))").await?)
}

async fn apply_locked(conn: &mut Conn) -> Result<(), MigrationError> {
    match state(conn).await? {
        SchemaState::Foreign => {
            return Err(MigrationError::Because(
                "it contains tables of another program; use a separate database for mallbox".into(),
            ));
        }
        SchemaState::Restoring => return Err(MigrationError::Because(RESTORE_CUT_SHORT.into())),
        SchemaState::At { step, latest } if step > latest => {
            return Err(MigrationError::Because(format!(
                "it was written by a newer mallbox (schema {step}; this version supports up to {latest}); use that \
                 version"
            )));
        }
        SchemaState::Empty | SchemaState::At { .. } => {}
    }
    Ok(apply_steps(conn, LATEST_STEP).await?)
}

/// Applies the steps up to number `last` that the database lacks.
pub(super) async fn apply_steps(conn: &mut Conn, last: u64) -> Result<(), MysqlError> {
    conn.query_drop(CREATE_LIST).await?;
    let has = applied(conn).await?;
    for (number, (name, sql)) in (1..=last).zip(STEPS) {
        if number > has {
            step(conn, sql).await?;
            conn.exec_drop("INSERT INTO mallbox_schema (number, name) VALUES (?, ?)", (number, name)).await?;
        }
    }
    Ok(())
}

/// Returns the number of the last step applied.
async fn applied(conn: &mut Conn) -> Result<u64, MysqlError> {
    let sql = "SELECT MAX(number) FROM mallbox_schema WHERE number < ?";
    Ok(first(conn, sql, (RESTORING,), |row| row.next::<Option<u64>>()).await?.flatten().unwrap_or(0))
}

/// Marks an empty database as one into which a mall is being restored.
pub(super) async fn begin_restore(conn: &mut Conn) -> Result<(), MysqlError> {
    // One statement: there is no moment with the table and without the mark.
    let sql = format!("{CREATE_LIST} SELECT {RESTORING} AS number, 'restoring' AS name");
    Ok(conn.query_drop(sql).await?)
}

/// Removes the mark.
pub(super) async fn end_restore(conn: &mut Conn) -> Result<(), MysqlError> {
    Ok(conn.exec_drop("DELETE FROM mallbox_schema WHERE number = ?", (RESTORING,)).await?)
}

/// Returns the names of all tables that the steps create.
pub(super) fn tables_of_mall() -> BTreeSet<&'static str> {
    let name = |(_, sql): &(&str, &'static str)| {
        let (_, rest) = sql.split_once("CREATE TABLE IF NOT EXISTS ")?;
        rest.split_whitespace().next()
    };
    STEPS.iter().filter_map(name).collect()
}

/// Returns the state of the schema. Changes nothing.
pub(super) async fn state(conn: &mut Conn) -> Result<SchemaState, MysqlError> {
    match tables(conn).await? {
        (0, _) => Ok(SchemaState::Empty),
        (_, 0) => Ok(SchemaState::Foreign),
        _ => {
            let sql = "SELECT number FROM mallbox_schema WHERE number = ?";
            let mark = first(conn, sql, (RESTORING,), |row| row.next::<u64>()).await?;
            match mark {
                Some(_) => Ok(SchemaState::Restoring),
                None => Ok(SchemaState::At { step: applied(conn).await?, latest: LATEST_STEP }),
            }
        }
    }
}

/// Counts all tables of the database, and the tables among them that list the steps.
async fn tables(conn: &mut Conn) -> Result<(i64, i64), MysqlError> {
    let sql = "SELECT COUNT(*), COUNT(CASE WHEN table_name = 'mallbox_schema' THEN 1 END)
               FROM information_schema.tables WHERE table_schema = DATABASE()";
    let counted = first(conn, sql, (), |row| Ok((row.next()?, row.next()?))).await?;
    Ok(counted.unwrap_or_default())
}

async fn step(conn: &mut Conn, sql: &str) -> Result<(), MysqlError> {
    match conn.query_drop(sql).await {
        Err(mysql_async::Error::Server(error)) if ALREADY_DONE_CODES.contains(&error.code) => Ok(()),
        // The triggers are a second safeguard; the hash chain is the first.
        Err(mysql_async::Error::Server(error))
            if TRIGGER_DENIED_CODES.contains(&error.code) && sql.contains("CREATE TRIGGER") =>
        {
            tracing::warn!(%error, "could not create the triggers that keep the audit log append-only");
            Ok(())
        }
        other => Ok(other?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_a_mall_are_known() {
        let tables = tables_of_mall();
        assert!(tables.len() > 50 && tables.contains("users") && tables.contains("orders"), "{tables:?}");
        let created = STEPS.iter().filter(|(_, sql)| sql.contains("CREATE TABLE")).count();
        assert_eq!(tables.len(), created);
    }

    #[test]
    fn steps_are_numbered_without_a_gap_and_hold_one_statement_each() {
        for (number, (name, sql)) in (1..).zip(STEPS) {
            assert!(name.starts_with(&format!("{number:04}_")), "{name}");
            assert_eq!(sql.trim_end().find(';'), Some(sql.trim_end().len() - 1), "{name}");
        }
    }
}
