//! Likes of readers: concurrent readers of one page share a statement.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use futures_util::future::try_join_all;
use mallbox_storage::{BatchCall, Post, StoreError, UserId};
use mysql_async::{Conn, Value};
use tokio::runtime::Handle;

use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::multi_row;

/// Maximum number of posts times users per statement, unless it is for a single user.
const PAIRS_MAX: usize = 256;

/// A reader, and the posts of a page.
pub(super) struct Liked(pub(super) Database);

/// Posts of one kind by their ids, and the readers who see exactly these.
type Page = ((i64, Vec<u64>), BTreeSet<UserId>);
/// A like: kind and id of the post, and the user.
type Row = (i64, u64, UserId);

#[async_trait]
impl BatchCall for Liked {
    const OP: &'static str = "liked";
    type Item = (UserId, Vec<Post>);
    type Outcome = Vec<Post>;

    fn runtime(&self) -> Handle {
        self.0.home()
    }

    async fn call(&self, readers: Vec<Self::Item>) -> Result<Vec<Vec<Post>>, StoreError> {
        let found = try_join_all(pages(&readers).map(|((kind, posts), users)| async move {
            let (posts, users) = (&*posts, &*users);
            self.0.read(Self::OP, |conn| boxed(async move { rows(conn, kind, posts, users).await })).await
        }));
        let liked: BTreeSet<Row> = found.await?.into_iter().flatten().collect();
        let of_reader = |(user, mut posts): Self::Item| {
            posts.retain(|post| {
                let (kind, id) = post.in_row();
                liked.contains(&(kind, id, user))
            });
            posts
        };
        Ok(readers.into_iter().map(of_reader).collect())
    }
}

/// Returns each page with as many of its readers as fit into a statement.
fn pages(readers: &[(UserId, Vec<Post>)]) -> impl Iterator<Item = ((i64, Vec<u64>), Vec<UserId>)> {
    let mut pages: BTreeMap<(i64, Vec<u64>), BTreeSet<UserId>> = BTreeMap::new();
    for (user, posts) in readers {
        let mut of_kinds: BTreeMap<i64, BTreeSet<u64>> = BTreeMap::new();
        for (kind, id) in posts.iter().map(|post| post.in_row()) {
            of_kinds.entry(kind).or_default().insert(id);
        }
        for (kind, ids) in of_kinds {
            pages.entry((kind, ids.into_iter().collect())).or_default().insert(*user);
        }
    }
    pages.into_iter().flat_map(|(page, users): Page| {
        let users: Vec<UserId> = users.into_iter().collect();
        let share = (PAIRS_MAX / page.1.len()).max(1);
        let shares: Vec<_> = users.chunks(share).map(|some| (page.clone(), some.to_vec())).collect();
        shares
    })
}

/// Returns the likes of users for posts. Two lists take MariaDB an eighth of the time of a list of pairs as
/// parameters.
async fn rows(conn: &mut Conn, kind: i64, posts: &[u64], users: &[UserId]) -> Result<Vec<Row>, MysqlError> {
    let posts: Vec<Value> = posts.iter().copied().map(Value::from).collect();
    let posts = multi_row::padded(&posts);
    let sql = format!(
        "SELECT kind, target_id, user_id FROM likes
         WHERE kind = ? AND target_id IN ({}) AND user_id IN ({{keys}})",
        multi_row::places(posts.len())
    );
    let fixed: Vec<Value> = [kind.into()].into_iter().chain(posts).collect();
    let users: Vec<Value> = users.iter().map(|user| user.get().into()).collect();
    multi_row::select_by_values(conn, &sql, &fixed, &users, |row| {
        Ok((row.next()?, row.next()?, UserId::new(row.next()?)))
    })
    .await
}

#[cfg(test)]
mod tests {
    use mallbox_storage::{CommentId, NoteId};

    use super::*;

    fn notes(ids: std::ops::Range<u64>) -> Vec<Post> {
        ids.map(|id| Post::Note(NoteId::new(id))).collect()
    }

    #[test]
    fn readers_of_one_page_share_statements_of_limited_size() {
        let user = UserId::new;
        let same: Vec<_> = (0..60).map(|number| (user(number), notes(1..11))).collect();
        let shared: Vec<_> = pages(&same).collect();
        assert_eq!(shared.iter().map(|(_, users)| users.len()).collect::<Vec<_>>(), [25, 25, 10]);
        assert!(shared.iter().all(|((kind, posts), _)| (*kind, posts.len()) == (0, 10)));
        let many: Vec<_> = pages(&[(user(1), notes(0..600)), (user(2), notes(0..600))]).collect();
        assert_eq!(many.len(), 2);
        let comment = Post::Comment(CommentId::new(3));
        let mixed = [(user(1), vec![notes(3..4)[0], comment]), (user(2), vec![comment, comment])];
        let mixed: Vec<_> = pages(&mixed).collect();
        assert_eq!(mixed, [((0, vec![3]), vec![user(1)]), ((1, vec![3]), vec![user(1), user(2)])]);
        assert_eq!(pages(&[(user(1), Vec::new())]).count(), 0);
    }
}
