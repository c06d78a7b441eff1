//! [`Notes`] in MySQL.

use std::collections::HashMap;

use async_trait::async_trait;
use mallbox_storage::backend::{NewEvent, Numbered as _};
use mallbox_storage::{
    Note, NoteId, NoteText, Notes, Page, Post, ShopId, StoreError, Timestamp, UserId, Visibility,
};
use mysql_async::{Conn, Value, params};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::event_rows::EventSwitch;
use super::job::boxed;
use super::{multi_row, picture_files, reports};

pub(super) struct MysqlNotes(pub(super) Database);

/// Start of every query for notes; read by [`note`].
pub(super) const SELECT: &str =
    "SELECT id, user_id, shop_id, title, images, content, liked, imported_comments, comments,
    status, created_ms, updated_ms FROM notes";

#[async_trait]
impl Notes for MysqlNotes {
    async fn insert(&self, author: UserId, text: &NoteText, now: Timestamp) -> Result<NoteId, StoreError> {
        let events = self.0.events();
        self.0.write("insert note", |conn| boxed(insert(conn, author, text, now, events))).await
    }

    async fn get(&self, which: NoteId) -> Result<Option<Note>, StoreError> {
        let sql = format!("{SELECT} WHERE id = ?");
        let sql = &*sql;
        self.0.read("note", |conn| boxed(async move { first(conn, sql, (which.get(),), note).await })).await
    }

    async fn those(&self, notes: &[NoteId]) -> Result<Vec<Note>, StoreError> {
        let ids: &[u64] = &notes.iter().copied().map(NoteId::get).collect::<Vec<_>>();
        let sql: &str = &format!("{SELECT} WHERE id IN ({{keys}})");
        let found = self
            .0
            .read("notes by id", |conn| {
                boxed(async move { multi_row::select_by_keys(conn, sql, &[], ids, note).await })
            })
            .await?;
        let found: HashMap<NoteId, Note> = found.into_iter().map(|note| (note.id, note)).collect();
        Ok(notes.iter().filter_map(|note| found.get(note).cloned()).collect())
    }

    async fn hot(&self, page: Page) -> Result<Vec<Note>, StoreError> {
        let sql: &str = &format!(
            "{SELECT} WHERE status < 2 ORDER BY liked DESC, created_ms DESC, id DESC LIMIT ? OFFSET ?"
        );
        let which = (page.size(), page.skipped());
        self.0.read("hot notes", |conn| boxed(async move { all(conn, sql, which, note).await })).await
    }

    async fn of_author(&self, author: UserId, page: Page) -> Result<Vec<Note>, StoreError> {
        let sql: &str = &format!(
            "{SELECT} WHERE user_id = ? AND status < 2 ORDER BY created_ms DESC, id DESC LIMIT ? OFFSET ?"
        );
        let which = (author.get(), page.size(), page.skipped());
        self.0.read("notes of author", |conn| boxed(async move { all(conn, sql, which, note).await })).await
    }

    async fn put_visibility(
        &self,
        note: NoteId,
        visibility: Visibility,
        now: Timestamp,
    ) -> Result<Option<Visibility>, StoreError> {
        self.0.write("put visibility", |conn| boxed(put_visibility(conn, note, visibility, now))).await
    }
}

async fn insert(
    conn: &mut Conn,
    author: UserId,
    text: &NoteText,
    now: Timestamp,
    events: EventSwitch,
) -> Result<NoteId, MysqlError> {
    let sql = "INSERT INTO notes (user_id, shop_id, title, images, content, pushed, created_ms, updated_ms)
               VALUES (:author, :shop, :title, :images, :content, 0, :now, :now)";
    let params = params! {
        "author" => author.get(),
        "shop" => text.shop.get(),
        "title" => &text.title,
        "images" => &text.images,
        "content" => &text.content,
        "now" => now.as_millis(),
    };
    execute(conn, sql, params).await?;
    let note = conn.last_insert_id().unwrap_or_default();
    let pictures: Vec<[Value; 2]> =
        text.pictures().into_iter().map(|name| [name.into(), note.into()]).collect();
    multi_row::insert(conn, "INSERT INTO note_pictures (name, note_id)", "(?, ?)", &pictures).await?;
    let note = NoteId::new(note);
    events.write(conn, now, || [NewEvent::note_published(note, author, text.shop)]).await?;
    Ok(note)
}

async fn put_visibility(
    conn: &mut Conn,
    note: NoteId,
    visibility: Visibility,
    now: Timestamp,
) -> Result<Option<Visibility>, MysqlError> {
    let sql = "SELECT status FROM notes WHERE id = ? FOR UPDATE";
    let was: Option<Visibility> = first(conn, sql, (note.get(),), Columns::known).await?;
    if matches!(was, None | Some(Visibility::Deleted)) || was == Some(visibility) {
        return Ok(was);
    }
    let sql = "UPDATE notes SET status = ?, updated_ms = ? WHERE id = ?";
    execute(conn, sql, (visibility.number(), now.as_millis(), note.get())).await?;
    if visibility == Visibility::Deleted {
        picture_files::give_up_of_note(conn, note.get(), now).await?;
        let sql = "UPDATE notes SET title = '', images = '', content = '' WHERE id = ?";
        execute(conn, sql, (note.get(),)).await?;
        execute(conn, "DELETE FROM note_pictures WHERE note_id = ?", (note.get(),)).await?;
    }
    if visibility != Visibility::Reported {
        reports::decide(conn, Post::Note(note), now).await?;
    }
    Ok(was)
}

/// Reads a note.
pub(super) fn note(row: &mut Columns) -> Result<Note, MysqlError> {
    Ok(Note {
        id: NoteId::new(row.next()?),
        author: UserId::new(row.next()?),
        text: NoteText {
            shop: ShopId::new(row.next()?),
            title: row.next()?,
            images: row.next()?,
            content: row.next()?,
        },
        liked: row.next()?,
        comments: row.next::<u64>()?.saturating_add_signed(row.next()?),
        visibility: row.known()?,
        created: row.time()?,
        updated: row.time()?,
    })
}
