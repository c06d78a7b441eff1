//! Picture files: pictures that an import left beside the database, known here by name.

use mallbox_storage::{Page, Timestamp, is_picture_file, picture_name, picture_names};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::columns::id;

/// SQL condition: a user, shop type or shop refers to picture `p`. The scan of shops comes last.
macro_rules! is_shown_beside_posts {
    () => {
        "EXISTS (SELECT 1 FROM users WHERE icon <> '' AND icon IN (p.name, '/imgs' || p.name))
         OR EXISTS (SELECT 1 FROM shop_types WHERE icon IN (p.name, '/imgs' || p.name))
         OR EXISTS (SELECT 1 FROM shops WHERE instr(images, p.name) > 0)"
    };
}
pub(super) use is_shown_beside_posts;

/// SQL condition: any row refers to picture `p`. Indexed look-ups come first; shops are scanned.
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

/// SQL condition: a hidden note or review refers to picture `p`.
macro_rules! is_in_hidden_post {
    () => {
        "(EXISTS (SELECT 1 FROM note_pictures AS s JOIN notes ON notes.id = s.note_id
                  WHERE s.name = p.name AND notes.status = 2)
          OR EXISTS (SELECT 1 FROM review_pictures AS s JOIN reviews ON reviews.id = s.review_id
                     WHERE s.name = p.name AND reviews.status = 2))"
    };
}
pub(super) use is_in_hidden_post;

/// SQL condition: a row that everybody sees refers to picture `p`. Shops are scanned last.
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

/// Returns whether the file with this name is withheld. Only the few files that are given up, or shown by a
/// hidden post, cost a scan of shops.
pub(super) fn is_withheld(conn: &Connection, name: &str) -> rusqlite::Result<bool> {
    let withheld = conn
        .prepare_cached(concat!(
            "SELECT CASE
               WHEN p.state = 2 THEN 1
               WHEN p.state = 0 AND NOT ",
            is_in_hidden_post!(),
            " THEN 0
               WHEN ",
            is_visible!(),
            " THEN 0
               ELSE 1
             END FROM picture_files AS p WHERE p.name = ?1"
        ))?
        .query_row([name], |row| row.get(0))
        .optional()?;
    Ok(withheld.unwrap_or(false))
}

/// Returns files that may be removed from disks.
pub(super) fn gone(
    conn: &Connection,
    since: Timestamp,
    until: Timestamp,
    page: Page,
) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached(concat!(
        "SELECT p.name FROM picture_files AS p
         WHERE p.state > 0 AND p.changed_ms > ?1 AND p.changed_ms <= ?2 AND (p.state = 2 OR NOT ",
        is_shown!(),
        ") ORDER BY p.changed_ms, p.name LIMIT ?3 OFFSET ?4"
    ))?
    .query_map(params![since.as_millis(), until.as_millis(), page.size(), id(page.skipped())], |row| {
        row.get(0)
    })?
    .collect()
}

/// Erases a name that is no upload. Returns false for a name that nothing shows, or that is erased.
pub(super) fn erase(conn: &Connection, name: &str, now: Timestamp) -> rusqlite::Result<bool> {
    let state: Option<i64> = conn
        .prepare_cached("SELECT state FROM picture_files WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    let is_there = match state {
        Some(state) => state < 2,
        None => conn
            .prepare_cached(concat!("SELECT ", is_shown!(), " FROM (SELECT ?1 AS name) AS p"))?
            .query_row([name], |row| row.get(0))?,
    };
    if is_there {
        mark_erased(conn, name, now)?;
    }
    Ok(is_there)
}

/// Marks a name as erased: a file with this name is withheld.
pub(super) fn mark_erased(conn: &Connection, name: &str, now: Timestamp) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO picture_files (name, state, changed_ms) VALUES (?1, 2, ?2)
         ON CONFLICT (name) DO UPDATE SET state = 2, changed_ms = excluded.changed_ms",
    )?
    .execute(params![name, now.as_millis()])
    .map(drop)
}

/// Gives up the files of a note. Call while the note's pictures are listed.
pub(super) fn give_up_of_note(conn: &Connection, note: i64, now: Timestamp) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "UPDATE picture_files SET state = 1, changed_ms = ?2
         WHERE state < 2 AND name IN (SELECT name FROM note_pictures WHERE note_id = ?1)",
    )?
    .execute([note, now.as_millis()])
    .map(drop)
}

/// Gives up the file of a user's icon, unless `next`, the icon to come, is the same. Call before the change.
pub(super) fn give_up_icon(conn: &Connection, user: i64, next: &str, now: Timestamp) -> rusqlite::Result<()> {
    let icon: Option<String> = conn
        .prepare_cached("SELECT icon FROM users WHERE id = ?1")?
        .query_row([user], |row| row.get(0))
        .optional()?;
    let name = picture_name(&icon.unwrap_or_default());
    if name.is_empty() || name == picture_name(next) {
        return Ok(());
    }
    conn.prepare_cached("UPDATE picture_files SET state = 1, changed_ms = ?2 WHERE state < 2 AND name = ?1")?
        .execute(params![name, now.as_millis()])
        .map(drop)
}

/// Registers the pictures of imported notes and users, at the end of an import.
pub(super) fn register_imported(conn: &Connection) -> rusqlite::Result<()> {
    let mut list = conn.prepare("INSERT OR IGNORE INTO note_pictures (name, note_id) VALUES (?1, ?2)")?;
    let mut register =
        conn.prepare("INSERT OR IGNORE INTO picture_files (name, state, changed_ms) VALUES (?1, 0, 0)")?;
    let mut notes = conn.prepare("SELECT id, images FROM notes WHERE images <> ''")?;
    let mut rows = notes.query([])?;
    while let Some(row) = rows.next()? {
        let (note, images): (i64, String) = (row.get(0)?, row.get(1)?);
        for name in picture_names(&images).into_iter().filter(|name| is_picture_file(name)) {
            list.execute(params![name, note])?;
            register.execute([&name])?;
        }
    }
    let mut users = conn.prepare("SELECT icon FROM users WHERE icon <> ''")?;
    let mut rows = users.query([])?;
    while let Some(row) = rows.next()? {
        let name = picture_name(&row.get::<_, String>(0)?);
        if is_picture_file(&name) {
            register.execute([&name])?;
        }
    }
    Ok(())
}
