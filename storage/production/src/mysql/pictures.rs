//! [`Pictures`] in MySQL.

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    NewPicture, Page, Picture, PictureSweep, PictureUsage, Pictures, PutOutcome, RemoveOutcome, StoreError,
    Timestamp, UserId,
};
use mysql_async::Conn;

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::multi_row;
use super::picture_files::{self, is_in_hidden_post, is_shown, is_shown_beside_posts, is_visible};

/// Whether picture `p` is withheld. The indexed look-up of hidden posts comes first and decides for almost
/// every picture; the scan of shops is left to the few that a hidden post shows.
macro_rules! is_withheld {
    () => {
        concat!("CASE WHEN NOT ", is_in_hidden_post!(), " THEN 0 WHEN ", is_visible!(), " THEN 0 ELSE 1 END")
    };
}

pub(super) struct MysqlPictures(pub(super) Database);

#[async_trait]
impl Pictures for MysqlPictures {
    async fn put(
        &self,
        picture: NewPicture,
        most: PictureUsage,
        now: Timestamp,
    ) -> Result<PutOutcome, StoreError> {
        let picture = &picture;
        self.0
            .write("put picture", |conn| {
                boxed(async move {
                    // Of two uploads by one owner, the second waits here until the first is counted.
                    let owner = picture.owner.get();
                    first(conn, "SELECT id FROM users WHERE id = ? FOR UPDATE", (owner,), id).await?;
                    let sql = "SELECT id FROM pictures WHERE name = ?";
                    if first(conn, sql, (&picture.name,), id).await?.is_some() {
                        return Ok(PutOutcome::NameTaken);
                    }
                    let has = usage(conn, picture.owner).await?;
                    if !has.with(picture.content.len()).is_within(most) {
                        return Ok(PutOutcome::NoRoom(has));
                    }
                    insert(conn, picture, now).await?;
                    Ok(PutOutcome::Put)
                })
            })
            .await
    }

    async fn get(&self, name: &str) -> Result<Option<Picture>, StoreError> {
        let sql = concat!(
            "SELECT p.kind, content FROM pictures AS p JOIN picture_contents ON picture_id = p.id
             WHERE p.name = ? AND ",
            is_withheld!(),
            " = 0"
        );
        self.0
            .read("picture", |conn| {
                boxed(async move {
                    first(conn, sql, (name,), |row| Ok(Picture { kind: row.known()?, content: row.next()? }))
                        .await
                })
            })
            .await
    }

    async fn keep(&self, owner: UserId, names: &[String], now: Timestamp) -> Result<Vec<String>, StoreError> {
        let sql = "UPDATE pictures SET touched_ms = ? WHERE name = ? AND owner_id = ?";
        self.0
            .write("keep pictures", |conn| {
                boxed(async move {
                    let mut not_theirs = Vec::new();
                    for name in names {
                        if execute(conn, sql, (now.as_millis(), name, owner.get())).await? == 0 {
                            not_theirs.push(name.clone());
                        }
                    }
                    Ok(not_theirs)
                })
            })
            .await
    }

    async fn remove(&self, owner: UserId, name: &str) -> Result<RemoveOutcome, StoreError> {
        let sql = concat!("SELECT id, ", is_shown!(), " FROM pictures AS p WHERE name = ? AND owner_id = ?");
        self.0
            .write("remove picture", |conn| {
                boxed(async move {
                    let found = first(conn, sql, (name, owner.get()), with_mark).await?;
                    let Some((picture, is_shown)) = found else { return Ok(RemoveOutcome::NotTheirs) };
                    if is_shown {
                        return Ok(RemoveOutcome::Shown);
                    }
                    multi_row::change_by_keys(
                        conn,
                        "DELETE FROM pictures WHERE id IN ({keys})",
                        &[],
                        &[picture],
                    )
                    .await?;
                    delete_contents(conn, &[picture]).await?;
                    Ok(RemoveOutcome::Removed)
                })
            })
            .await
    }

    async fn erase(&self, name: &str, now: Timestamp) -> Result<bool, StoreError> {
        self.0
            .write("erase picture", |conn| {
                boxed(async move {
                    let sql = "SELECT id FROM pictures WHERE name = ? FOR UPDATE";
                    let Some(picture) = first(conn, sql, (name,), id).await? else {
                        return picture_files::erase(conn, name, now).await;
                    };
                    execute(conn, "DELETE FROM pictures WHERE id = ?", (picture,)).await?;
                    delete_contents(conn, &[picture]).await?;
                    picture_files::mark_erased(conn, name, now).await?;
                    Ok(true)
                })
            })
            .await
    }

    async fn is_file_withheld(&self, name: &str) -> Result<bool, StoreError> {
        self.0.read("picture file", |conn| boxed(picture_files::is_withheld(conn, name))).await
    }

    async fn gone_files(
        &self,
        since: Timestamp,
        until: Timestamp,
        page: Page,
    ) -> Result<Vec<String>, StoreError> {
        self.0.read("gone picture files", |conn| boxed(picture_files::gone(conn, since, until, page))).await
    }

    async fn usage(&self, owner: UserId) -> Result<PictureUsage, StoreError> {
        self.0.read("picture usage", |conn| boxed(async move { usage(conn, owner).await })).await
    }

    async fn sweep(
        &self,
        untouched_since: Timestamp,
        max: u32,
        now: Timestamp,
    ) -> Result<PictureSweep, StoreError> {
        let sql = concat!(
            "SELECT id, ",
            is_shown!(),
            " FROM pictures AS p WHERE touched_ms <= ? ORDER BY touched_ms, id LIMIT ?"
        );
        let since = untouched_since.as_millis();
        self.0
            .write("sweep pictures", |conn| {
                boxed(async move {
                    let old = all(conn, sql, (since, max), with_mark).await?;
                    let has_more = old.len() as u64 == u64::from(max);
                    let (shown, idle): (Vec<_>, Vec<_>) =
                        old.into_iter().partition(|(_, is_shown)| *is_shown);
                    let [shown, idle] =
                        [shown, idle].map(|of| of.into_iter().map(|(id, _)| id).collect::<Vec<_>>());
                    let sql = "UPDATE pictures SET touched_ms = ? WHERE id IN ({keys})";
                    multi_row::change_by_keys(conn, sql, &[now.as_millis()], &shown).await?;
                    // A picture touched since the query above stays.
                    let sql = "DELETE FROM pictures WHERE touched_ms <= ? AND id IN ({keys})";
                    let removed = multi_row::change_by_keys(conn, sql, &[since], &idle).await?;
                    delete_contents(conn, &idle).await?;
                    Ok(PictureSweep { removed, has_more })
                })
            })
            .await
    }
}

fn id(row: &mut Columns) -> Result<u64, MysqlError> {
    row.next()
}

fn with_mark(row: &mut Columns) -> Result<(u64, bool), MysqlError> {
    Ok((row.next()?, row.next()?))
}

async fn usage(conn: &mut Conn, owner: UserId) -> Result<PictureUsage, MysqlError> {
    let sql = "SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS UNSIGNED) FROM pictures WHERE owner_id = ?";
    let read = |row: &mut Columns| Ok(PictureUsage { pictures: row.count()?, bytes: row.next()? });
    Ok(first(conn, sql, (owner.get(),), read).await?.unwrap_or_default())
}

async fn insert(conn: &mut Conn, picture: &NewPicture, now: Timestamp) -> Result<(), MysqlError> {
    let NewPicture { name, owner, kind, content } = picture;
    let (bytes, now) = (content.len() as u64, now.as_millis());
    let sql = "INSERT INTO pictures (name, owner_id, kind, bytes, created_ms, touched_ms) VALUES (?, ?, ?, ?, ?, ?)";
    execute(conn, sql, (name, owner.get(), kind.number(), bytes, now, now)).await?;
    let picture = conn.last_insert_id();
    let sql = "INSERT INTO picture_contents (picture_id, content) VALUES (?, ?)";
    execute(conn, sql, (picture, content)).await.map(drop)
}

/// Deletes the contents of all `pictures` without a row any more.
async fn delete_contents(conn: &mut Conn, pictures: &[u64]) -> Result<(), MysqlError> {
    let sql = "DELETE FROM picture_contents WHERE picture_id IN ({keys})
               AND NOT EXISTS (SELECT 1 FROM pictures WHERE id = picture_id)";
    multi_row::change_by_keys(conn, sql, &[], pictures).await.map(drop)
}
