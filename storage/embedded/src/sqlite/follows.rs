//! The [`Follows`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::backend::FOLLOW_BACKFILL;
use mallbox_storage::{FollowCounts, Follows, Page, StoreError, Timestamp, UserId};
use rusqlite::{Connection, params};

use super::Database;
use super::columns::{get_count, get_id, id};

pub(crate) struct EmbeddedFollows(Database);

impl EmbeddedFollows {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }

    /// Returns a page of users. `sql` takes the page size, the number of skipped rows, and `of`.
    async fn page<const N: usize>(
        &self,
        op: &'static str,
        sql: &'static str,
        page: Page,
        of: [UserId; N],
    ) -> Result<Vec<UserId>, StoreError> {
        let job = move |conn: &Connection| {
            let mut values = vec![i64::from(page.size()), id(page.skipped())];
            values.extend(of.map(|user| id(user.get())));
            conn.prepare_cached(sql)?
                .query_map(rusqlite::params_from_iter(values), |row| Ok(UserId::new(get_id(row, 0)?)))?
                .collect()
        };
        self.0.read(op, job).await
    }
}

#[async_trait]
impl Follows for EmbeddedFollows {
    async fn follow(&self, user: UserId, followee: UserId, now: Timestamp) -> Result<bool, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "INSERT INTO follows (user_id, followee_id, created_ms, since_ms) VALUES (?1, ?2, ?3, COALESCE(
                     (SELECT created_ms FROM notes WHERE user_id = ?2 AND status < 2
                      ORDER BY created_ms DESC LIMIT 1 OFFSET ?4), 0))
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![id(user.get()), id(followee.get()), now.as_millis(), FOLLOW_BACKFILL - 1])
            .map(|written| written > 0)
        };
        self.0.write("follow", job).await
    }

    async fn unfollow(&self, user: UserId, followee: UserId) -> Result<bool, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached("DELETE FROM follows WHERE user_id = ?1 AND followee_id = ?2")?
                .execute([id(user.get()), id(followee.get())])
                .map(|removed| removed > 0)
        };
        self.0.write("unfollow", job).await
    }

    async fn is_following(&self, user: UserId, followee: UserId) -> Result<bool, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached("SELECT 1 FROM follows WHERE user_id = ?1 AND followee_id = ?2")?
                .exists([id(user.get()), id(followee.get())])
        };
        self.0.read("is following", job).await
    }

    async fn common(&self, one: UserId, other: UserId, page: Page) -> Result<Vec<UserId>, StoreError> {
        let sql = "SELECT mine.followee_id FROM follows AS mine
                   JOIN follows AS theirs ON theirs.user_id = ?4 AND theirs.followee_id = mine.followee_id
                   WHERE mine.user_id = ?3 ORDER BY mine.followee_id LIMIT ?1 OFFSET ?2";
        self.page("common follows", sql, page, [one, other]).await
    }

    async fn fans(&self, followee: UserId, page: Page) -> Result<Vec<UserId>, StoreError> {
        let sql = "SELECT user_id FROM follows WHERE followee_id = ?3
                   ORDER BY created_ms DESC, user_id DESC LIMIT ?1 OFFSET ?2";
        self.page("fans", sql, page, [followee]).await
    }

    async fn followees(&self, user: UserId, page: Page) -> Result<Vec<UserId>, StoreError> {
        let sql = "SELECT followee_id FROM follows WHERE user_id = ?3
                   ORDER BY created_ms DESC, followee_id DESC LIMIT ?1 OFFSET ?2";
        self.page("followees", sql, page, [user]).await
    }

    async fn counts(&self, user: UserId) -> Result<FollowCounts, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT (SELECT COUNT(*) FROM follows WHERE followee_id = ?1),
                        (SELECT COUNT(*) FROM follows WHERE user_id = ?1)",
            )?
            .query_row([id(user.get())], |row| {
                Ok(FollowCounts { fans: get_count(row, 0)?, followees: get_count(row, 1)? })
            })
        };
        self.0.read("follow counts", job).await
    }
}
