//! Schema migrations, one file per version.
//!
//! A released file is never changed: a later version is a further file.

use rusqlite::Connection;

use super::orders_by_user;

const VERSIONS: &[&str] = &[
    include_str!("migrations/0001_sales.sql"),
    include_str!("migrations/0002_outbox.sql"),
    include_str!("migrations/0003_people.sql"),
    include_str!("migrations/0004_notes.sql"),
    include_str!("migrations/0005_operator.sql"),
    include_str!("migrations/0006_follows_by_time.sql"),
    include_str!("migrations/0007_sign_blocks.sql"),
    include_str!("migrations/0008_notes_at_work.sql"),
    include_str!("migrations/0009_comments_at_work.sql"),
    include_str!("migrations/0010_likes.sql"),
    include_str!("migrations/0011_feeds.sql"),
    include_str!("migrations/0012_pictures.sql"),
    include_str!("migrations/0013_purchases.sql"),
    include_str!("migrations/0014_visits.sql"),
    include_str!("migrations/0015_payment_modes.sql"),
    include_str!("migrations/0016_payment_gateways.sql"),
    include_str!("migrations/0017_deleted_users.sql"),
    include_str!("migrations/0018_picture_files.sql"),
    include_str!("migrations/0019_credits.sql"),
    include_str!("migrations/0020_second_factors.sql"),
    include_str!("migrations/0021_reviews.sql"),
    include_str!("migrations/0022_retry_tasks.sql"),
    include_str!("migrations/0023_events.sql"),
    include_str!("migrations/0024_archive.sql"),
    include_str!("migrations/0025_sale_waves.sql"),
    include_str!("migrations/0026_sale_guard.sql"),
    include_str!("migrations/0027_waiting_lists.sql"),
    include_str!("migrations/0028_waiting_room.sql"),
    include_str!("migrations/0029_claim_limit.sql"),
    include_str!("migrations/0030_thresholds.sql"),
    include_str!("migrations/0031_judgement.sql"),
    include_str!("migrations/0032_units_per_user.sql"),
    include_str!("migrations/0033_terms_token.sql"),
    include_str!("migrations/0034_orders_by_user.sql"),
    include_str!("migrations/0035_claim_gateways.sql"),
    include_str!("migrations/0036_cash.sql"),
];

type Work = fn(&Connection) -> rusqlite::Result<()>;

/// Work of a version that SQL cannot express, done in the transaction of its file.
const CODE: &[(i64, Work)] = &[(34, orders_by_user::rebuild)];

/// The newest schema version known to this program, as SQLite's `user_version`.
pub(crate) const NEWEST: i64 = VERSIONS.len() as i64;

/// The newest schema version known to the version of the program before.
const FORMER: i64 = 33;

/// Undoes the schema versions after [`FORMER`].
const TO_FORMER: &str = "DROP TABLE cash_reports;
     DROP TABLE cash_entries;
     DROP TABLE cash_sessions;
     DROP TABLE claim_batches;
     DROP TABLE claim_gateways;
     DROP INDEX orders_by_voucher;
     CREATE UNIQUE INDEX orders_by_user ON orders (user_id, voucher_id, slot);
     DROP TABLE order_tail;
     DROP TABLE order_runs;
     DROP TABLE order_chunks;";

/// Changes a database of the newest version to the version of the program before, in the caller's
/// transaction.
pub(super) fn undo_to_former(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(TO_FORMER)?;
    conn.pragma_update(None, "user_version", FORMER)
}

/// Migrates the database to the newest version, each step in a separate transaction. No effect if up to
/// date.
pub(super) fn apply(conn: &Connection) -> rusqlite::Result<()> {
    apply_through(conn, NEWEST)
}

/// Migrates the database to `newest`.
pub(super) fn apply_through(conn: &Connection, newest: i64) -> rusqlite::Result<()> {
    let has: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for (version, sql) in (1..=newest).zip(VERSIONS) {
        if version > has {
            let step = conn.unchecked_transaction()?;
            step.execute_batch(sql)?;
            for (_, work) in CODE.iter().filter(|(of, _)| *of == version) {
                work(&step)?;
            }
            step.pragma_update(None, "user_version", version)?;
            step.commit()?;
        }
    }
    Ok(())
}
