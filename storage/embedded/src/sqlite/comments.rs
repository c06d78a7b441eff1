//! The [`Comments`] port on SQLite.

use std::collections::HashMap;

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::backend::change_of_count;
use mallbox_storage::{
    Comment, CommentId, CommentOutcome, Comments, NoteId, Page, Post, StoreError, Thread, Timestamp, UserId,
    Visibility,
};
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::columns::{get_count, get_id, get_known, get_time, id};
use super::{Database, reports};

pub(crate) struct EmbeddedComments(Database);

impl EmbeddedComments {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

/// Columns of a comment; [`comment`] reads the columns, from the first one on.
const COLUMNS: &str =
    "id, note_id, user_id, parent_id, answer_id, content, imported_likes + likes, status, created_ms";

#[async_trait]
impl Comments for EmbeddedComments {
    async fn insert(
        &self,
        author: UserId,
        note: NoteId,
        answers: Option<CommentId>,
        content: &str,
        now: Timestamp,
    ) -> Result<CommentOutcome, StoreError> {
        let content = content.to_owned();
        let job = move |conn: &Connection| insert(conn, author, note, answers, &content, now);
        self.0.write("insert comment", job).await
    }

    async fn those(&self, comments: &[CommentId]) -> Result<Vec<Comment>, StoreError> {
        let ids: Vec<i64> = comments.iter().map(|comment| id(comment.get())).collect();
        let ids = format!("{ids:?}");
        let job = move |conn: &Connection| list(conn, "WHERE id IN (SELECT value FROM json_each(?1))", [ids]);
        let found = self.0.read("comments by id", job).await?;
        let found: HashMap<CommentId, Comment> =
            found.into_iter().map(|comment| (comment.id, comment)).collect();
        Ok(comments.iter().filter_map(|comment| found.get(comment).cloned()).collect())
    }

    async fn threads(&self, note: NoteId, page: Page) -> Result<(Vec<Thread>, u64), StoreError> {
        self.0.read("comments of note", move |conn| threads(conn, note, page)).await
    }

    async fn answers(&self, parent: CommentId, page: Page) -> Result<(Vec<Comment>, u64), StoreError> {
        let (key, size, skipped) = (id(parent.get()), i64::from(page.size()), id(page.skipped()));
        let job = move |conn: &Connection| {
            let filter = "WHERE parent_id = ?1 AND parent_id <> 0 AND status < 2";
            let rest = format!("{filter} ORDER BY created_ms, id LIMIT ?2 OFFSET ?3");
            let answers = list(conn, &rest, [key, size, skipped])?;
            Ok((answers, count(conn, filter, key)?))
        };
        self.0.read("replies to comment", job).await
    }

    async fn put_visibility(
        &self,
        comment: CommentId,
        visibility: Visibility,
        now: Timestamp,
    ) -> Result<Option<Visibility>, StoreError> {
        let job = move |conn: &Connection| put_visibility(conn, comment, visibility, now);
        self.0.write("put visibility of comment", job).await
    }

    async fn miscounted(&self) -> Result<u64, StoreError> {
        let job = |conn: &Connection| {
            conn.prepare_cached(
                "SELECT COUNT(*) FROM notes LEFT JOIN
                   (SELECT note_id, SUM((status < 2) - imported) AS changed FROM note_comments GROUP BY note_id)
                   ON note_id = notes.id
                 WHERE notes.comments <> COALESCE(changed, 0)",
            )?
            .query_row([], |row| get_count(row, 0))
        };
        self.0.read("miscounted comments", job).await
    }
}

fn insert(
    conn: &Connection,
    author: UserId,
    note: NoteId,
    answers: Option<CommentId>,
    content: &str,
    now: Timestamp,
) -> rusqlite::Result<CommentOutcome> {
    let is_seen =
        conn.prepare_cached("SELECT 1 FROM notes WHERE id = ?1 AND status < 2")?.exists([id(note.get())])?;
    if !is_seen {
        return Ok(CommentOutcome::NoNote);
    }
    let (parent, answer) = match answers {
        None => (0, 0),
        Some(answered) => match parent_of_answer(conn, note, answered)? {
            Some(parent) => (parent, id(answered.get())),
            None => return Ok(CommentOutcome::NoComment),
        },
    };
    conn.prepare_cached(
        "INSERT INTO note_comments (note_id, user_id, parent_id, answer_id, content, created_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![id(note.get()), id(author.get()), parent, answer, content, now.as_millis()])?;
    let comment = CommentId::new(conn.last_insert_rowid().cast_unsigned());
    change_count(conn, id(note.get()), 1)?;
    Ok(CommentOutcome::Written(comment))
}

/// Returns the top-level comment above a reply to `answered`; `None` if `answered` is absent or hidden.
fn parent_of_answer(conn: &Connection, note: NoteId, answered: CommentId) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached(
        "SELECT iif(parent_id = 0, id, parent_id) FROM note_comments WHERE id = ?1 AND note_id = ?2 AND status < 2",
    )?
    .query_row([id(answered.get()), id(note.get())], |row| row.get(0))
    .optional()
}

fn change_count(conn: &Connection, note: i64, by: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("UPDATE notes SET comments = comments + ?2 WHERE id = ?1")?
        .execute([note, by])
        .map(drop)
}

fn threads(conn: &Connection, note: NoteId, page: Page) -> rusqlite::Result<(Vec<Thread>, u64)> {
    let filter = "WHERE note_id = ?1 AND parent_id = 0 AND (status < 2 OR EXISTS
      (SELECT 1 FROM note_comments AS below WHERE below.parent_id = note_comments.id AND below.status < 2))";
    let key = id(note.get());
    let rest = format!("{filter} ORDER BY created_ms DESC, id DESC LIMIT ?2 OFFSET ?3");
    let comments = list(conn, &rest, [key, i64::from(page.size()), id(page.skipped())])?;
    let mut below = first_answers(conn, &comments)?;
    let with_answers = |comment: Comment| {
        let (answers, answer_count) = below.remove(&comment.id).unwrap_or_default();
        Thread { comment, answers, answer_count }
    };
    Ok((comments.into_iter().map(with_answers).collect(), count(conn, filter, key)?))
}

/// Returns the first replies of each comment, and the number of replies.
fn first_answers(
    conn: &Connection,
    comments: &[Comment],
) -> rusqlite::Result<HashMap<CommentId, (Vec<Comment>, u64)>> {
    let ids: Vec<i64> = comments.iter().map(|comment| id(comment.id.get())).collect();
    let mut select = conn.prepare_cached(&format!(
        "SELECT {COLUMNS}, answers FROM (
           SELECT *, ROW_NUMBER() OVER (PARTITION BY parent_id ORDER BY created_ms, id) AS place,
             COUNT(*) OVER (PARTITION BY parent_id) AS answers FROM note_comments
           WHERE parent_id <> 0 AND parent_id IN (SELECT value FROM json_each(?1)) AND status < 2)
         WHERE place <= ?2 ORDER BY parent_id, place"
    ))?;
    let rows = select.query_map(params![format!("{ids:?}"), Thread::REPLIES_MAX], |row| {
        Ok((comment(row)?, get_count(row, 9)?))
    })?;
    let mut below: HashMap<CommentId, (Vec<Comment>, u64)> = HashMap::new();
    for row in rows {
        let (answer, count) = row?;
        if let Some(parent) = answer.parent {
            let (answers, answer_count) = below.entry(parent).or_default();
            answers.push(answer);
            *answer_count = count;
        }
    }
    Ok(below)
}

fn put_visibility(
    conn: &Connection,
    comment: CommentId,
    visibility: Visibility,
    now: Timestamp,
) -> rusqlite::Result<Option<Visibility>> {
    let key = id(comment.get());
    let found: Option<(Visibility, i64)> = conn
        .prepare_cached("SELECT status, note_id FROM note_comments WHERE id = ?1")?
        .query_row([key], |row| Ok((get_known(row, 0)?, row.get(1)?)))
        .optional()?;
    let Some((was, note)) = found else { return Ok(None) };
    if was == Visibility::Deleted || was == visibility {
        return Ok(Some(was));
    }
    conn.prepare_cached("UPDATE note_comments SET status = ?2 WHERE id = ?1")?
        .execute([key, visibility.number()])?;
    if visibility == Visibility::Deleted {
        conn.prepare_cached("UPDATE note_comments SET content = '' WHERE id = ?1")?.execute([key])?;
    }
    change_count(conn, note, change_of_count(was, visibility))?;
    if visibility != Visibility::Reported {
        reports::decide(conn, Post::Comment(comment), now)?;
    }
    Ok(Some(was))
}

/// Returns the comments selected by the rest of a query, after the columns and the table.
pub(super) fn list(conn: &Connection, rest: &str, which: impl Params) -> rusqlite::Result<Vec<Comment>> {
    let sql = format!("SELECT {COLUMNS} FROM note_comments {rest}");
    conn.prepare_cached(&sql)?.query_map(which, comment)?.collect()
}

fn count(conn: &Connection, filter: &str, key: i64) -> rusqlite::Result<u64> {
    conn.prepare_cached(&format!("SELECT COUNT(*) FROM note_comments {filter}"))?
        .query_row([key], |row| get_count(row, 0))
}

fn comment(row: &Row<'_>) -> rusqlite::Result<Comment> {
    let one_or_none = |column| get_id(row, column).map(|id| (id != 0).then(|| CommentId::new(id)));
    Ok(Comment {
        id: CommentId::new(get_id(row, 0)?),
        note: NoteId::new(get_id(row, 1)?),
        author: UserId::new(get_id(row, 2)?),
        parent: one_or_none(3)?,
        answers: one_or_none(4)?,
        content: row.get(5)?,
        liked: get_count(row, 6)?,
        visibility: get_known(row, 7)?,
        created: get_time(row, 8)?,
    })
}
