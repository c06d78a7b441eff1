//! The [`Notes`] port on SQLite.

use std::collections::HashMap;

use async_trait::async_trait;
use mallbox_storage::backend::{NewEvent, Numbered as _};
use mallbox_storage::{
    Note, NoteId, NoteText, Notes, Page, Post, ShopId, StoreError, Timestamp, UserId, Visibility,
};
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::columns::{get_count, get_id, get_known, get_time, id};
use super::{Database, event_rows, picture_files, reports};

pub(crate) struct EmbeddedNotes(Database);

impl EmbeddedNotes {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

/// Head of every query for notes; [`note`] reads the columns.
const SELECT: &str =
    "SELECT id, user_id, shop_id, title, images, content, liked, imported_comments, comments,
    status, created_ms, updated_ms FROM notes";

#[async_trait]
impl Notes for EmbeddedNotes {
    async fn insert(&self, author: UserId, text: &NoteText, now: Timestamp) -> Result<NoteId, StoreError> {
        let text = text.clone();
        self.0.write("insert note", move |conn| insert(conn, author, &text, now)).await
    }

    async fn get(&self, which: NoteId) -> Result<Option<Note>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?
                .query_row([id(which.get())], note)
                .optional()
        };
        self.0.read("note", job).await
    }

    async fn those(&self, notes: &[NoteId]) -> Result<Vec<Note>, StoreError> {
        let ids: Vec<i64> = notes.iter().map(|note| id(note.get())).collect();
        let ids = format!("{ids:?}");
        let job = move |conn: &Connection| list(conn, "WHERE id IN (SELECT value FROM json_each(?1))", [ids]);
        let found = self.0.read("notes by id", job).await?;
        let found: HashMap<NoteId, Note> = found.into_iter().map(|note| (note.id, note)).collect();
        Ok(notes.iter().filter_map(|note| found.get(note).cloned()).collect())
    }

    async fn hot(&self, page: Page) -> Result<Vec<Note>, StoreError> {
        let rest = "WHERE status < 2 ORDER BY liked DESC, created_ms DESC, id DESC LIMIT ?1 OFFSET ?2";
        let which = [i64::from(page.size()), id(page.skipped())];
        self.0.read("hot notes", move |conn| list(conn, rest, which)).await
    }

    async fn of_author(&self, author: UserId, page: Page) -> Result<Vec<Note>, StoreError> {
        let rest = "WHERE user_id = ?3 AND status < 2 ORDER BY created_ms DESC, id DESC LIMIT ?1 OFFSET ?2";
        let which = [i64::from(page.size()), id(page.skipped()), id(author.get())];
        self.0.read("notes of author", move |conn| list(conn, rest, which)).await
    }

    async fn put_visibility(
        &self,
        note: NoteId,
        visibility: Visibility,
        now: Timestamp,
    ) -> Result<Option<Visibility>, StoreError> {
        self.0.write("put visibility", move |conn| put_visibility(conn, note, visibility, now)).await
    }
}

fn insert(conn: &Connection, author: UserId, text: &NoteText, now: Timestamp) -> rusqlite::Result<NoteId> {
    conn.prepare_cached(
        "INSERT INTO notes (user_id, shop_id, title, images, content, pushed, created_ms, updated_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?6)",
    )?
    .execute(params![
        id(author.get()),
        id(text.shop.get()),
        text.title,
        text.images,
        text.content,
        now.as_millis()
    ])?;
    let note = conn.last_insert_rowid();
    let mut add = conn.prepare_cached("INSERT INTO note_pictures (name, note_id) VALUES (?1, ?2)")?;
    for name in text.pictures() {
        add.execute(params![name, note])?;
    }
    let note = NoteId::new(note.cast_unsigned());
    event_rows::write(conn, now, || [NewEvent::note_published(note, author, text.shop)])?;
    Ok(note)
}

fn put_visibility(
    conn: &Connection,
    note: NoteId,
    visibility: Visibility,
    now: Timestamp,
) -> rusqlite::Result<Option<Visibility>> {
    let key = id(note.get());
    let was: Option<Visibility> = conn
        .prepare_cached("SELECT status FROM notes WHERE id = ?1")?
        .query_row([key], |row| get_known(row, 0))
        .optional()?;
    if matches!(was, None | Some(Visibility::Deleted)) || was == Some(visibility) {
        return Ok(was);
    }
    conn.prepare_cached("UPDATE notes SET status = ?2, updated_ms = ?3 WHERE id = ?1")?.execute([
        key,
        visibility.number(),
        now.as_millis(),
    ])?;
    if visibility == Visibility::Deleted {
        picture_files::give_up_of_note(conn, key, now)?;
        conn.prepare_cached("UPDATE notes SET title = '', images = '', content = '' WHERE id = ?1")?
            .execute([key])?;
        conn.prepare_cached("DELETE FROM note_pictures WHERE note_id = ?1")?.execute([key])?;
    }
    if visibility != Visibility::Reported {
        reports::decide(conn, Post::Note(note), now)?;
    }
    Ok(was)
}

/// Returns the notes selected by the rest of a query, after the columns and the table.
pub(super) fn list(conn: &Connection, rest: &str, which: impl Params) -> rusqlite::Result<Vec<Note>> {
    conn.prepare_cached(&format!("{SELECT} {rest}"))?.query_map(which, note)?.collect()
}

fn note(row: &Row<'_>) -> rusqlite::Result<Note> {
    Ok(Note {
        id: NoteId::new(get_id(row, 0)?),
        author: UserId::new(get_id(row, 1)?),
        text: NoteText {
            shop: ShopId::new(get_id(row, 2)?),
            title: row.get(3)?,
            images: row.get(4)?,
            content: row.get(5)?,
        },
        liked: get_count(row, 6)?,
        comments: get_count(row, 7)?.saturating_add_signed(row.get(8)?),
        visibility: get_known(row, 9)?,
        created: get_time(row, 10)?,
        updated: get_time(row, 11)?,
    })
}
