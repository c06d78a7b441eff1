//! [`Comments`] in MySQL.
//!
//! A transaction that changes the visible comments of a note locks the note's row first, then the comment's
//! row: concurrent changes run one after the other, without deadlocks.

use std::collections::HashMap;

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::backend::change_of_count;
use mallbox_storage::{
    Comment, CommentId, CommentOutcome, Comments, NoteId, Page, Post, StoreError, Thread, Timestamp, UserId,
    Visibility,
};
use mysql_async::{Conn, Params};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::{multi_row, reports};

pub(super) struct MysqlComments(pub(super) Database);

/// Columns of a comment; [`comment`] reads them, from the first on.
pub(super) const COLUMNS: &str =
    "id, note_id, user_id, parent_id, answer_id, content, imported_likes + likes, status, created_ms";

#[async_trait]
impl Comments for MysqlComments {
    async fn insert(
        &self,
        author: UserId,
        note: NoteId,
        answers: Option<CommentId>,
        content: &str,
        now: Timestamp,
    ) -> Result<CommentOutcome, StoreError> {
        self.0.write("insert comment", |conn| boxed(insert(conn, author, note, answers, content, now))).await
    }

    async fn those(&self, comments: &[CommentId]) -> Result<Vec<Comment>, StoreError> {
        let ids: &[u64] = &comments.iter().copied().map(CommentId::get).collect::<Vec<_>>();
        let sql: &str = &format!("SELECT {COLUMNS} FROM note_comments WHERE id IN ({{keys}})");
        let found = self
            .0
            .read("comments by id", |conn| {
                boxed(async move { multi_row::select_by_keys(conn, sql, &[], ids, comment).await })
            })
            .await?;
        let found: HashMap<CommentId, Comment> =
            found.into_iter().map(|comment| (comment.id, comment)).collect();
        Ok(comments.iter().filter_map(|comment| found.get(comment).cloned()).collect())
    }

    async fn threads(&self, note: NoteId, page: Page) -> Result<(Vec<Thread>, u64), StoreError> {
        self.0.read("comments of note", |conn| boxed(threads(conn, note, page))).await
    }

    async fn answers(&self, parent: CommentId, page: Page) -> Result<(Vec<Comment>, u64), StoreError> {
        self.0.read("replies to comment", |conn| boxed(answers(conn, parent, page))).await
    }

    async fn put_visibility(
        &self,
        comment: CommentId,
        visibility: Visibility,
        now: Timestamp,
    ) -> Result<Option<Visibility>, StoreError> {
        let op = "put visibility of comment";
        self.0.write(op, |conn| boxed(put_visibility(conn, comment, visibility, now))).await
    }

    async fn miscounted(&self) -> Result<u64, StoreError> {
        // `imported` is unsigned, and MySQL refuses to subtract it from 0.
        let sql = "SELECT COUNT(*) FROM notes LEFT JOIN
                     (SELECT note_id, SUM((status < 2) - CAST(imported AS SIGNED)) AS changed
                      FROM note_comments GROUP BY note_id) AS counted
                     ON note_id = notes.id
                   WHERE notes.comments <> COALESCE(changed, 0)";
        let found = self.0.look("miscounted comments", |conn| {
            boxed(async move { first(conn, sql, (), Columns::count).await })
        });
        Ok(found.await?.unwrap_or_default())
    }
}

async fn insert(
    conn: &mut Conn,
    author: UserId,
    note: NoteId,
    answers: Option<CommentId>,
    content: &str,
    now: Timestamp,
) -> Result<CommentOutcome, MysqlError> {
    let sql = "SELECT 1 FROM notes WHERE id = ? AND status < 2 FOR UPDATE";
    if first(conn, sql, (note.get(),), Columns::next::<i64>).await?.is_none() {
        return Ok(CommentOutcome::NoNote);
    }
    let (parent, answer) = match answers {
        None => (0, 0),
        Some(answered) => match parent_of_answer(conn, note, answered).await? {
            Some(parent) => (parent, answered.get()),
            None => return Ok(CommentOutcome::NoComment),
        },
    };
    let sql = "INSERT INTO note_comments (note_id, user_id, parent_id, answer_id, content, created_ms)
               VALUES (?, ?, ?, ?, ?, ?)";
    execute(conn, sql, (note.get(), author.get(), parent, answer, content, now.as_millis())).await?;
    let comment = CommentId::new(conn.last_insert_id().unwrap_or_default());
    change_count(conn, note.get(), 1).await?;
    Ok(CommentOutcome::Written(comment))
}

/// Returns the top-level comment above the reply to `answered`; `None` if `answered` is not a visible comment
/// of the note.
async fn parent_of_answer(
    conn: &mut Conn,
    note: NoteId,
    answered: CommentId,
) -> Result<Option<u64>, MysqlError> {
    let sql = "SELECT IF(parent_id = 0, id, parent_id) FROM note_comments
               WHERE id = ? AND note_id = ? AND status < 2 FOR UPDATE";
    first(conn, sql, (answered.get(), note.get()), Columns::next).await
}

async fn change_count(conn: &mut Conn, note: u64, by: i64) -> Result<(), MysqlError> {
    execute(conn, "UPDATE notes SET comments = comments + ? WHERE id = ?", (by, note)).await.map(drop)
}

async fn threads(conn: &mut Conn, note: NoteId, page: Page) -> Result<(Vec<Thread>, u64), MysqlError> {
    let filter = "WHERE note_id = ? AND parent_id = 0 AND (status < 2 OR EXISTS
      (SELECT 1 FROM note_comments AS below WHERE below.parent_id = note_comments.id AND below.status < 2))";
    let rest = format!("{filter} ORDER BY created_ms DESC, id DESC LIMIT ? OFFSET ?");
    let comments = list(conn, &rest, (note.get(), page.size(), page.skipped())).await?;
    let mut below = first_answers(conn, &comments).await?;
    let with_answers = |comment: Comment| {
        let (answers, answer_count) = below.remove(&comment.id).unwrap_or_default();
        Thread { comment, answers, answer_count }
    };
    let threads = comments.into_iter().map(with_answers).collect();
    Ok((threads, count(conn, filter, note.get()).await?))
}

/// Returns the first replies to each comment, and the number of its replies.
async fn first_answers(
    conn: &mut Conn,
    comments: &[Comment],
) -> Result<HashMap<CommentId, (Vec<Comment>, u64)>, MysqlError> {
    let ids: Vec<u64> = comments.iter().map(|comment| comment.id.get()).collect();
    let sql = format!(
        "SELECT {COLUMNS}, answers FROM (
           SELECT note_comments.*, ROW_NUMBER() OVER (PARTITION BY parent_id ORDER BY created_ms, id) AS place,
             COUNT(*) OVER (PARTITION BY parent_id) AS answers FROM note_comments
           WHERE parent_id IN ({{keys}}) AND status < 2) AS below
         WHERE place <= {} ORDER BY parent_id, place",
        Thread::REPLIES_MAX
    );
    let read = |row: &mut Columns| Ok((comment(row)?, row.count()?));
    let mut below: HashMap<CommentId, (Vec<Comment>, u64)> = HashMap::new();
    for (answer, count) in multi_row::select_by_keys(conn, &sql, &[], &ids, read).await? {
        if let Some(parent) = answer.parent {
            let (answers, answer_count) = below.entry(parent).or_default();
            answers.push(answer);
            *answer_count = count;
        }
    }
    Ok(below)
}

async fn answers(conn: &mut Conn, parent: CommentId, page: Page) -> Result<(Vec<Comment>, u64), MysqlError> {
    let filter = "WHERE parent_id = ? AND parent_id <> 0 AND status < 2";
    let rest = format!("{filter} ORDER BY created_ms, id LIMIT ? OFFSET ?");
    let answers = list(conn, &rest, (parent.get(), page.size(), page.skipped())).await?;
    Ok((answers, count(conn, filter, parent.get()).await?))
}

async fn put_visibility(
    conn: &mut Conn,
    comment: CommentId,
    visibility: Visibility,
    now: Timestamp,
) -> Result<Option<Visibility>, MysqlError> {
    let key = (comment.get(),);
    // A comment never moves to another note, so the note's id may be read before the lock.
    let sql = "SELECT note_id FROM note_comments WHERE id = ?";
    let Some(note) = first(conn, sql, key, Columns::next::<u64>).await? else { return Ok(None) };
    first(conn, "SELECT 1 FROM notes WHERE id = ? FOR UPDATE", (note,), Columns::next::<i64>).await?;
    let sql = "SELECT status FROM note_comments WHERE id = ? FOR UPDATE";
    let Some(was) = first(conn, sql, key, Columns::known::<Visibility>).await? else { return Ok(None) };
    if was == Visibility::Deleted || was == visibility {
        return Ok(Some(was));
    }
    let sql = "UPDATE note_comments SET status = ? WHERE id = ?";
    execute(conn, sql, (visibility.number(), comment.get())).await?;
    if visibility == Visibility::Deleted {
        execute(conn, "UPDATE note_comments SET content = '' WHERE id = ?", key).await?;
    }
    change_count(conn, note, change_of_count(was, visibility)).await?;
    if visibility != Visibility::Reported {
        reports::decide(conn, Post::Comment(comment), now).await?;
    }
    Ok(Some(was))
}

async fn list(
    conn: &mut Conn,
    rest: &str,
    which: impl Into<Params> + Send,
) -> Result<Vec<Comment>, MysqlError> {
    all(conn, format!("SELECT {COLUMNS} FROM note_comments {rest}"), which, comment).await
}

async fn count(conn: &mut Conn, filter: &str, key: u64) -> Result<u64, MysqlError> {
    let sql = format!("SELECT COUNT(*) FROM note_comments {filter}");
    Ok(first(conn, sql, (key,), Columns::count).await?.unwrap_or_default())
}

/// Reads a comment.
pub(super) fn comment(row: &mut Columns) -> Result<Comment, MysqlError> {
    let one_or_none = |id: u64| (id != 0).then(|| CommentId::new(id));
    Ok(Comment {
        id: CommentId::new(row.next()?),
        note: NoteId::new(row.next()?),
        author: UserId::new(row.next()?),
        parent: one_or_none(row.next()?),
        answers: one_or_none(row.next()?),
        content: row.next()?,
        liked: row.next()?,
        visibility: row.known()?,
        created: row.time()?,
    })
}
