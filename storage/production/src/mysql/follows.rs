//! [`Follows`] in MySQL.

use async_trait::async_trait;
use mallbox_storage::backend::FOLLOW_BACKFILL;
use mallbox_storage::{FollowCounts, Follows, Page, StoreError, Timestamp, UserId};
use mysql_async::Value;

use super::columns::{all, execute, first};
use super::database::Database;
use super::job::boxed;

pub(super) struct MysqlFollows(pub(super) Database);

impl MysqlFollows {
    /// Returns a page of users. `sql` binds the ids in `of`, then the page's size and offset.
    async fn page<const N: usize>(
        &self,
        op: &'static str,
        sql: &str,
        of: [UserId; N],
        page: Page,
    ) -> Result<Vec<UserId>, StoreError> {
        self.0
            .read(op, |conn| {
                boxed(async move {
                    let page = [u64::from(page.size()), page.skipped()];
                    let values: Vec<Value> =
                        of.into_iter().map(UserId::get).chain(page).map(Value::from).collect();
                    all(conn, sql, values, |row| Ok(UserId::new(row.next()?))).await
                })
            })
            .await
    }
}

#[async_trait]
impl Follows for MysqlFollows {
    async fn follow(&self, user: UserId, followee: UserId, now: Timestamp) -> Result<bool, StoreError> {
        let sql =
            "INSERT INTO follows (user_id, followee_id, created_ms, since_ms) VALUES (?, ?, ?, COALESCE(
                       (SELECT created_ms FROM notes WHERE user_id = ? AND status < 2
                        ORDER BY created_ms DESC LIMIT 1 OFFSET ?), 0))";
        let values = (user.get(), followee.get(), now.as_millis(), followee.get(), FOLLOW_BACKFILL - 1);
        self.0
            .write_at_once("follow", |conn| {
                boxed(async move {
                    match execute(conn, sql, values).await {
                        // The user followed already.
                        Err(fault) if fault.is_duplicate_key() => Ok(false),
                        written => written.map(|_| true),
                    }
                })
            })
            .await
    }

    async fn unfollow(&self, user: UserId, followee: UserId) -> Result<bool, StoreError> {
        let sql = "DELETE FROM follows WHERE user_id = ? AND followee_id = ?";
        self.0
            .write_at_once("unfollow", |conn| {
                boxed(async move { Ok(execute(conn, sql, (user.get(), followee.get())).await? > 0) })
            })
            .await
    }

    async fn is_following(&self, user: UserId, followee: UserId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM follows WHERE user_id = ? AND followee_id = ?";
        let found = self.0.read("is following", |conn| {
            boxed(
                async move { first(conn, sql, (user.get(), followee.get()), |row| row.next::<i64>()).await },
            )
        });
        Ok(found.await?.is_some())
    }

    async fn common(&self, one: UserId, other: UserId, page: Page) -> Result<Vec<UserId>, StoreError> {
        let sql = "SELECT mine.followee_id FROM follows AS mine
                   JOIN follows AS theirs ON theirs.followee_id = mine.followee_id
                   WHERE mine.user_id = ? AND theirs.user_id = ? ORDER BY mine.followee_id LIMIT ? OFFSET ?";
        self.page("common follows", sql, [one, other], page).await
    }

    async fn fans(&self, followee: UserId, page: Page) -> Result<Vec<UserId>, StoreError> {
        let sql = "SELECT user_id FROM follows WHERE followee_id = ?
                   ORDER BY created_ms DESC, user_id DESC LIMIT ? OFFSET ?";
        self.page("fans", sql, [followee], page).await
    }

    async fn followees(&self, user: UserId, page: Page) -> Result<Vec<UserId>, StoreError> {
        let sql = "SELECT followee_id FROM follows WHERE user_id = ?
                   ORDER BY created_ms DESC, followee_id DESC LIMIT ? OFFSET ?";
        self.page("followees", sql, [user], page).await
    }

    async fn counts(&self, user: UserId) -> Result<FollowCounts, StoreError> {
        let sql = "SELECT (SELECT COUNT(*) FROM follows WHERE followee_id = ?),
                          (SELECT COUNT(*) FROM follows WHERE user_id = ?)";
        let counts = self.0.read("follow counts", |conn| {
            boxed(async move {
                first(conn, sql, (user.get(), user.get()), |row| {
                    Ok(FollowCounts { fans: row.count()?, followees: row.count()? })
                })
                .await
            })
        });
        Ok(counts.await?.unwrap_or_default())
    }
}
