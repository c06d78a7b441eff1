//! The [`Pictures`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    NewPicture, Page, Picture, PictureSweep, PictureUsage, Pictures, PutOutcome, RemoveOutcome, StoreError,
    Timestamp, UserId,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::Database;
use super::columns::{get_count, get_known, id};
use super::picture_files::{self, is_in_hidden_post, is_shown, is_shown_beside_posts, is_visible};

/// SQL condition: picture `p` is withheld. The indexed look-up of hidden posts comes first and decides for
/// almost every picture; the scan of shops is left to the few that a hidden post shows.
macro_rules! is_withheld {
    () => {
        concat!("CASE WHEN NOT ", is_in_hidden_post!(), " THEN 0 WHEN ", is_visible!(), " THEN 0 ELSE 1 END")
    };
}

pub(crate) struct EmbeddedPictures(Database);

impl EmbeddedPictures {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl Pictures for EmbeddedPictures {
    async fn put(
        &self,
        picture: NewPicture,
        most: PictureUsage,
        now: Timestamp,
    ) -> Result<PutOutcome, StoreError> {
        const OP: &str = "put picture";
        self.0.check_sale_room(OP)?;
        let job = move |conn: &Connection| {
            let is_taken =
                conn.prepare_cached("SELECT 1 FROM pictures WHERE name = ?1")?.exists([&picture.name])?;
            if is_taken {
                return Ok(PutOutcome::NameTaken);
            }
            let has = usage(conn, picture.owner)?;
            if !has.with(picture.content.len()).is_within(most) {
                return Ok(PutOutcome::NoRoom(has));
            }
            insert(conn, &picture, now)?;
            Ok(PutOutcome::Put)
        };
        self.0.write(OP, job).await
    }

    async fn get(&self, name: &str) -> Result<Option<Picture>, StoreError> {
        let name = name.to_owned();
        let job = move |conn: &Connection| {
            conn.prepare_cached(concat!(
                "SELECT p.kind, content FROM pictures AS p JOIN picture_contents ON picture_id = p.id
                 WHERE p.name = ?1 AND ",
                is_withheld!(),
                " = 0"
            ))?
            .query_row([name], |row| Ok(Picture { kind: get_known(row, 0)?, content: row.get(1)? }))
            .optional()
        };
        self.0.read("picture", job).await
    }

    async fn keep(&self, owner: UserId, names: &[String], now: Timestamp) -> Result<Vec<String>, StoreError> {
        let names = names.to_owned();
        let job = move |conn: &Connection| {
            let mut touch =
                conn.prepare_cached("UPDATE pictures SET touched_ms = ?1 WHERE name = ?2 AND owner_id = ?3")?;
            let mut not_theirs = Vec::new();
            for name in names {
                if touch.execute(params![now.as_millis(), name, id(owner.get())])? == 0 {
                    not_theirs.push(name);
                }
            }
            Ok(not_theirs)
        };
        self.0.write("keep pictures", job).await
    }

    async fn remove(&self, owner: UserId, name: &str) -> Result<RemoveOutcome, StoreError> {
        let name = name.to_owned();
        let job = move |conn: &Connection| {
            let found = conn
                .prepare_cached(concat!(
                    "SELECT id, ",
                    is_shown!(),
                    " FROM pictures AS p WHERE name = ?1 AND owner_id = ?2"
                ))?
                .query_row(params![name, id(owner.get())], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            match found {
                None => Ok(RemoveOutcome::NotTheirs),
                Some((_, true)) => Ok(RemoveOutcome::Shown),
                Some((picture, false)) => delete(conn, picture).map(|()| RemoveOutcome::Removed),
            }
        };
        self.0.write("remove picture", job).await
    }

    async fn erase(&self, name: &str, now: Timestamp) -> Result<bool, StoreError> {
        let name = name.to_owned();
        let job = move |conn: &Connection| {
            let found = conn
                .prepare_cached("SELECT id FROM pictures WHERE name = ?1")?
                .query_row([&name], |row| row.get(0))
                .optional()?;
            let Some(picture) = found else { return picture_files::erase(conn, &name, now) };
            delete(conn, picture)?;
            picture_files::mark_erased(conn, &name, now)?;
            Ok(true)
        };
        self.0.write("erase picture", job).await
    }

    async fn is_file_withheld(&self, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.0.read("picture file", move |conn| picture_files::is_withheld(conn, &name)).await
    }

    async fn gone_files(
        &self,
        since: Timestamp,
        until: Timestamp,
        page: Page,
    ) -> Result<Vec<String>, StoreError> {
        self.0.read("gone picture files", move |conn| picture_files::gone(conn, since, until, page)).await
    }

    async fn usage(&self, owner: UserId) -> Result<PictureUsage, StoreError> {
        self.0.read("picture usage", move |conn| usage(conn, owner)).await
    }

    async fn sweep(
        &self,
        untouched_since: Timestamp,
        max: u32,
        now: Timestamp,
    ) -> Result<PictureSweep, StoreError> {
        let job = move |conn: &Connection| {
            let old: Vec<(i64, bool)> = conn
                .prepare_cached(concat!(
                    "SELECT id, ",
                    is_shown!(),
                    " FROM pictures AS p WHERE touched_ms <= ?1 ORDER BY touched_ms, id LIMIT ?2"
                ))?
                .query_map(params![untouched_since.as_millis(), max], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            let mut sweep = PictureSweep { removed: 0, has_more: old.len() as u64 == u64::from(max) };
            for (picture, is_shown) in old {
                if is_shown {
                    conn.prepare_cached("UPDATE pictures SET touched_ms = ?1 WHERE id = ?2")?
                        .execute([now.as_millis(), picture])?;
                } else {
                    delete(conn, picture)?;
                    sweep.removed += 1;
                }
            }
            Ok(sweep)
        };
        self.0.write_bulk("sweep pictures", job).await
    }
}

fn usage(conn: &Connection, owner: UserId) -> rusqlite::Result<PictureUsage> {
    conn.prepare_cached("SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM pictures WHERE owner_id = ?1")?
        .query_row([id(owner.get())], |row| {
            Ok(PictureUsage { pictures: get_count(row, 0)?, bytes: get_count(row, 1)? })
        })
}

fn insert(conn: &Connection, picture: &NewPicture, now: Timestamp) -> rusqlite::Result<()> {
    let NewPicture { name, owner, kind, content } = picture;
    let bytes = id(content.len() as u64);
    conn.prepare_cached(
        "INSERT INTO pictures (name, owner_id, kind, bytes, created_ms, touched_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
    )?
    .execute(params![name, id(owner.get()), kind.number(), bytes, now.as_millis()])?;
    conn.prepare_cached("INSERT INTO picture_contents (picture_id, content) VALUES (?1, ?2)")?
        .execute(params![conn.last_insert_rowid(), content])
        .map(drop)
}

fn delete(conn: &Connection, picture: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM picture_contents WHERE picture_id = ?1")?.execute([picture])?;
    conn.prepare_cached("DELETE FROM pictures WHERE id = ?1")?.execute([picture]).map(drop)
}
