//! Likes of readers: concurrent readers of pages share a statement.

use std::collections::BTreeSet;

use async_trait::async_trait;
use mallbox_storage::{BatchCall, Post, StoreError, UserId};
use mysql_async::{Conn, Value};
use tokio::runtime::Handle;

use super::columns::all;
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;

/// Maximum number of pairs per statement.
const PAIRS_MAX: usize = 256;

/// A note or comment, and a user.
pub(super) type Pair = (Post, UserId);

/// A reader, and the posts of a page.
pub(super) struct Liked(pub(super) Database);

#[async_trait]
impl BatchCall for Liked {
    const OP: &'static str = "liked";
    type Item = (UserId, Vec<Post>);
    type Outcome = Vec<Post>;

    fn runtime(&self) -> Handle {
        self.0.home()
    }

    async fn call(&self, readers: Vec<Self::Item>) -> Result<Vec<Vec<Post>>, StoreError> {
        let pairs = readers.iter().flat_map(|(user, posts)| posts.iter().map(|post| (*post, *user)));
        let pairs: BTreeSet<Pair> = pairs.collect();
        let pairs = &pairs;
        let liked = self.0.read(Self::OP, |conn| boxed(async move { rows(conn, pairs).await })).await?;
        let of_reader = |(user, mut posts): Self::Item| {
            posts.retain(|post| liked.contains(&(*post, user)));
            posts
        };
        Ok(readers.into_iter().map(of_reader).collect())
    }
}

/// Returns the existing likes among `pairs`.
pub(super) async fn rows(conn: &mut Conn, pairs: &BTreeSet<Pair>) -> Result<BTreeSet<Pair>, MysqlError> {
    let mut found = BTreeSet::new();
    let pairs: Vec<Pair> = pairs.iter().copied().collect();
    for some in pairs.chunks(PAIRS_MAX) {
        let values: Vec<Value> = padded(some).flat_map(values_of).collect();
        let places = vec!["(?, ?, ?)"; values.len() / 3].join(", ");
        let sql = format!(
            "SELECT kind, target_id, user_id FROM likes WHERE (kind, target_id, user_id) IN ({places})"
        );
        let rows = all(conn, sql, values, |row| {
            Ok((row.next::<i64>()?, row.next::<u64>()?, UserId::new(row.next()?)))
        });
        let rows: BTreeSet<_> = rows.await?.into_iter().collect();
        let is_there = |(what, user): &Pair| {
            let (kind, subject) = what.in_row();
            rows.contains(&(kind, subject, *user))
        };
        found.extend(some.iter().copied().filter(is_there));
    }
    Ok(found)
}

/// Repeats the last pair up to a power of two of pairs, so that few statements are prepared.
pub(super) fn padded(pairs: &[Pair]) -> impl Iterator<Item = Pair> + '_ {
    let last = pairs.last().copied().into_iter().cycle();
    pairs.iter().copied().chain(last).take(pairs.len().next_power_of_two())
}

pub(super) fn values_of((what, user): Pair) -> [Value; 3] {
    let (kind, subject) = what.in_row();
    [kind.into(), subject.into(), user.get().into()]
}
