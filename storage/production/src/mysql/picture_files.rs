//! Picture files: pictures that an import left beside the database, known here by name.

use std::collections::BTreeSet;

use mallbox_storage::{Page, Timestamp, is_picture_file, picture_name, picture_names};
use mysql_async::{Conn, Value};

use super::columns::{Columns, all, execute, first};
use super::errors::MysqlError;
use super::multi_row;

/// Whether a user, shop type or shop refers to picture `p`. The scan of shops comes last.
macro_rules! is_shown_beside_posts {
    () => {
        "EXISTS (SELECT 1 FROM users WHERE icon IN (p.name, CONCAT('/imgs', p.name)))
         OR EXISTS (SELECT 1 FROM shop_types WHERE icon IN (p.name, CONCAT('/imgs', p.name)))
         OR EXISTS (SELECT 1 FROM shops WHERE LOCATE(p.name, images) > 0)"
    };
}
pub(super) use is_shown_beside_posts;

/// Whether any row refers to picture `p`. Indexed references are checked first; the check of shops scans all
/// rows.
macro_rules! is_shown {
    () => {
        concat!(
            "(EXISTS (SELECT 1 FROM note_pictures WHERE note_pictures.name = p.name)
             OR EXISTS (SELECT 1 FROM review_pictures WHERE review_pictures.name = p.name) OR ",
            is_shown_beside_posts!(),
            ")"
        )
    };
}
pub(super) use is_shown;

/// Whether a hidden note or review refers to picture `p`.
macro_rules! is_in_hidden_post {
    () => {
        "(EXISTS (SELECT 1 FROM note_pictures AS s JOIN notes ON notes.id = s.note_id
                  WHERE s.name = p.name AND notes.status = 2)
          OR EXISTS (SELECT 1 FROM review_pictures AS s JOIN reviews ON reviews.id = s.review_id
                     WHERE s.name = p.name AND reviews.status = 2))"
    };
}
pub(super) use is_in_hidden_post;

/// Whether a row that everybody sees refers to picture `p`. Shops are scanned last.
macro_rules! is_visible {
    () => {
        concat!(
            "(EXISTS (SELECT 1 FROM note_pictures AS s JOIN notes ON notes.id = s.note_id
                      WHERE s.name = p.name AND notes.status < 2)
             OR EXISTS (SELECT 1 FROM review_pictures AS s JOIN reviews ON reviews.id = s.review_id
                        WHERE s.name = p.name AND reviews.status < 2) OR ",
            is_shown_beside_posts!(),
            ")"
        )
    };
}
pub(super) use is_visible;

/// The name as text: compared with the columns of other tables by their indexes.
macro_rules! as_text {
    ($name:literal) => {
        concat!("CONVERT(", $name, " USING utf8mb4) COLLATE utf8mb4_bin")
    };
}

/// Rows read or written at once during an import.
const IMPORT_BATCH: u32 = 1_000;

/// Returns whether the file with this name is withheld. Only the few files that are given up, or shown by a
/// hidden post, cost a scan of shops.
pub(super) async fn is_withheld(conn: &mut Conn, name: &str) -> Result<bool, MysqlError> {
    let sql = concat!(
        "SELECT CASE
           WHEN p.state = 2 THEN 1
           WHEN p.state = 0 AND NOT ",
        is_in_hidden_post!(),
        " THEN 0
           WHEN ",
        is_visible!(),
        " THEN 0
           ELSE 1
         END FROM (SELECT ",
        as_text!("name"),
        " AS name, state FROM picture_files WHERE name = ?) AS p"
    );
    Ok(first(conn, sql, (name,), Columns::next::<bool>).await?.unwrap_or(false))
}

/// Returns files that may be removed from disks.
pub(super) async fn gone(
    conn: &mut Conn,
    since: Timestamp,
    until: Timestamp,
    page: Page,
) -> Result<Vec<String>, MysqlError> {
    let sql = concat!(
        "SELECT p.name FROM
           (SELECT ",
        as_text!("name"),
        " AS name, state, changed_ms FROM picture_files
            WHERE state > 0 AND changed_ms > ? AND changed_ms <= ?) AS p
         WHERE p.state = 2 OR NOT ",
        is_shown!(),
        " ORDER BY p.changed_ms, p.name LIMIT ? OFFSET ?"
    );
    let which = (since.as_millis(), until.as_millis(), page.size(), page.skipped());
    all(conn, sql, which, Columns::next::<String>).await
}

/// Erases a name that is no upload. Returns false for a name that nothing shows, or that is erased.
pub(super) async fn erase(conn: &mut Conn, name: &str, now: Timestamp) -> Result<bool, MysqlError> {
    let sql = "SELECT state FROM picture_files WHERE name = ? FOR UPDATE";
    let is_there = match first(conn, sql, (name,), Columns::next::<u8>).await? {
        Some(state) => state < 2,
        None => {
            let sql = concat!("SELECT ", is_shown!(), " FROM (SELECT ", as_text!("?"), " AS name) AS p");
            first(conn, sql, (name,), Columns::next::<bool>).await?.unwrap_or(false)
        }
    };
    if is_there {
        mark_erased(conn, name, now).await?;
    }
    Ok(is_there)
}

/// Marks a name as erased: a file with this name is withheld.
pub(super) async fn mark_erased(conn: &mut Conn, name: &str, now: Timestamp) -> Result<(), MysqlError> {
    let sql = "INSERT INTO picture_files (name, state, changed_ms) VALUES (?, 2, ?)
               ON DUPLICATE KEY UPDATE state = 2, changed_ms = VALUES(changed_ms)";
    execute(conn, sql, (name, now.as_millis())).await.map(drop)
}

/// Gives up the files of a note. Call while the note's pictures are listed.
pub(super) async fn give_up_of_note(conn: &mut Conn, note: u64, now: Timestamp) -> Result<(), MysqlError> {
    let sql = "UPDATE picture_files JOIN note_pictures ON note_pictures.name = picture_files.name
               SET state = 1, changed_ms = ? WHERE note_id = ? AND state < 2";
    execute(conn, sql, (now.as_millis(), note)).await.map(drop)
}

/// Gives up the file of a user's icon, unless `next`, the icon to come, is the same. Call before the change.
pub(super) async fn give_up_icon(
    conn: &mut Conn,
    user: u64,
    next: &str,
    now: Timestamp,
) -> Result<(), MysqlError> {
    let sql = "SELECT icon FROM users WHERE id = ? FOR UPDATE";
    let icon = first(conn, sql, (user,), Columns::next::<String>).await?.unwrap_or_default();
    let name = picture_name(&icon);
    if name.is_empty() || name == picture_name(next) {
        return Ok(());
    }
    let sql = "UPDATE picture_files SET state = 1, changed_ms = ? WHERE name = ? AND state < 2";
    execute(conn, sql, (now.as_millis(), name)).await.map(drop)
}

/// Registers the pictures of imported notes and users, at the end of an import.
pub(super) async fn register_imported(conn: &mut Conn) -> Result<(), MysqlError> {
    let read = |row: &mut Columns| Ok((row.next()?, row.next()?));
    let mut after = 0_u64;
    loop {
        let sql = "SELECT id, images FROM notes WHERE id > ? AND images <> '' ORDER BY id LIMIT ?";
        let notes: Vec<(u64, String)> = all(conn, sql, (after, IMPORT_BATCH), read).await?;
        let Some((last, _)) = notes.last() else { break };
        after = *last;
        let listed = notes.iter().flat_map(|(note, images)| {
            let names = picture_names(images).into_iter().filter(|name| is_picture_file(name));
            names.map(|name| (name, *note))
        });
        let listed: Vec<(String, u64)> = listed.collect();
        let rows: Vec<[Value; 2]> =
            listed.iter().map(|(name, note)| [name.as_str().into(), (*note).into()]).collect();
        let sql = "INSERT IGNORE INTO note_pictures (name, note_id)";
        multi_row::insert(conn, sql, "(?, ?)", &rows).await?;
        register(conn, listed.into_iter().map(|(name, _)| name).collect()).await?;
    }
    let mut after = 0_u64;
    loop {
        let sql = "SELECT id, icon FROM users WHERE id > ? AND icon <> '' ORDER BY id LIMIT ?";
        let users: Vec<(u64, String)> = all(conn, sql, (after, IMPORT_BATCH), read).await?;
        let Some((last, _)) = users.last() else { return Ok(()) };
        after = *last;
        let names = users.iter().map(|(_, icon)| picture_name(icon));
        register(conn, names.filter(|name| is_picture_file(name)).collect()).await?;
    }
}

async fn register(conn: &mut Conn, names: BTreeSet<String>) -> Result<(), MysqlError> {
    let rows: Vec<[Value; 1]> = names.into_iter().map(|name| [name.into()]).collect();
    let sql = "INSERT IGNORE INTO picture_files (name, state, changed_ms)";
    multi_row::insert(conn, sql, "(?, 0, 0)", &rows).await
}
