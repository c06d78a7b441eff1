//! The [`Likes`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::backend::MISCOUNTED_LIKES;
use mallbox_storage::{LikeChange, LikeOutcome, Likes, Page, Post, StoreError, Timestamp, UserId};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::Database;
use super::columns::{get_count, get_id, id};

pub(crate) struct EmbeddedLikes(Database);

impl EmbeddedLikes {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl Likes for EmbeddedLikes {
    async fn change(
        &self,
        user: UserId,
        what: Post,
        change: LikeChange,
        now: Timestamp,
    ) -> Result<Option<LikeOutcome>, StoreError> {
        let job = move |conn: &Connection| {
            let Some(count) = count(conn, what)? else { return Ok(None) };
            let before = likes(conn, user, what)?;
            let likes = change.after(before);
            let count = match (before, likes) {
                (false, true) => like(conn, user, what, now).map(|()| count + 1)?,
                (true, false) => unlike(conn, user, what).map(|()| count.saturating_sub(1))?,
                _ => count,
            };
            Ok(Some(LikeOutcome { likes, count }))
        };
        self.0.write("change like", job).await
    }

    async fn likers(&self, what: Post, page: Page) -> Result<Vec<UserId>, StoreError> {
        let (kind, subject) = what.in_row();
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT user_id FROM likes WHERE kind = ?1 AND target_id = ?2
                 ORDER BY liked_ms, user_id LIMIT ?3 OFFSET ?4",
            )?
            .query_map(params![kind, id(subject), page.size(), id(page.skipped())], |row| {
                Ok(UserId::new(get_id(row, 0)?))
            })?
            .collect()
        };
        self.0.read("likers", job).await
    }

    async fn liked(&self, user: UserId, among: &[Post]) -> Result<Vec<Post>, StoreError> {
        let among = among.to_vec();
        let job = move |conn: &Connection| {
            let asked = among.into_iter().map(|what| Ok(likes(conn, user, what)?.then_some(what)));
            asked.filter_map(Result::transpose).collect()
        };
        self.0.read("liked", job).await
    }

    async fn miscounted(&self) -> Result<u64, StoreError> {
        let job =
            |conn: &Connection| conn.prepare_cached(MISCOUNTED_LIKES)?.query_row([], |row| get_count(row, 0));
        self.0.read("miscounted likes", job).await
    }
}

/// Returns the number of likes; `None` if the post is absent or hidden, or has no likes.
fn count(conn: &Connection, what: Post) -> rusqlite::Result<Option<u64>> {
    if matches!(what, Post::Review(_)) {
        return Ok(None);
    }
    let sql = format!("SELECT imported_likes + likes FROM {} WHERE id = ?1 AND status < 2", what.table());
    conn.prepare_cached(&sql)?.query_row([id(what.in_row().1)], |row| get_count(row, 0)).optional()
}

fn likes(conn: &Connection, user: UserId, what: Post) -> rusqlite::Result<bool> {
    let (kind, subject) = what.in_row();
    conn.prepare_cached("SELECT 1 FROM likes WHERE kind = ?1 AND target_id = ?2 AND user_id = ?3")?.exists([
        kind,
        id(subject),
        id(user.get()),
    ])
}

fn like(conn: &Connection, user: UserId, what: Post, now: Timestamp) -> rusqlite::Result<()> {
    let (kind, subject) = what.in_row();
    conn.prepare_cached("INSERT INTO likes (kind, target_id, user_id, liked_ms) VALUES (?1, ?2, ?3, ?4)")?
        .execute([kind, id(subject), id(user.get()), now.as_millis()])?;
    count_on(conn, what, 1)
}

fn unlike(conn: &Connection, user: UserId, what: Post) -> rusqlite::Result<()> {
    let (kind, subject) = what.in_row();
    conn.prepare_cached("DELETE FROM likes WHERE kind = ?1 AND target_id = ?2 AND user_id = ?3")?
        .execute([kind, id(subject), id(user.get())])?;
    count_on(conn, what, -1)
}

fn count_on(conn: &Connection, what: Post, by: i64) -> rusqlite::Result<()> {
    let sql = format!("UPDATE {} SET likes = likes + ?2 WHERE id = ?1", what.table());
    conn.prepare_cached(&sql)?.execute([id(what.in_row().1), by]).map(drop)
}
