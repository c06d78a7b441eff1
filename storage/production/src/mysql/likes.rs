//! [`Likes`] in MySQL.
//!
//! During a rush on a note, separate transactions would run one by one, each holding the note's row lock
//! during a disk sync. So a task per process batches the waiting changes. Each transaction locks the rows of
//! all liked notes and comments, by id, applies the changes in memory in sequence, and writes the result.
//!
//! Reasons and figures: `storage/decisions/0012-likes-and-follows-as-rows.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use mallbox_storage::backend::MISCOUNTED_LIKES;
use mallbox_storage::{Batcher, LikeChange, LikeOutcome, Likes, Page, Post, StoreError, Timestamp, UserId};
use mysql_async::{Conn, Value};
use tokio::sync::{mpsc, oneshot};

use super::columns::{all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::liked::Liked;
use super::multi_row;

/// Maximum number of changes per transaction: some ten milliseconds of work.
const BATCH_MAX: usize = 256;
/// Maximum number of waiting changes. Further callers wait for a place (backpressure).
const QUEUE_MAX: usize = 4_096;
const OP: &str = "change like";

/// A change, and the channel for the outcome.
struct QueuedChange {
    change: Change,
    answer: oneshot::Sender<Result<Option<LikeOutcome>, StoreError>>,
}

#[derive(Clone, Copy)]
struct Change {
    user: UserId,
    what: Post,
    change: LikeChange,
    now: Timestamp,
}

pub(super) struct MysqlLikes {
    database: Database,
    queue: mpsc::Sender<QueuedChange>,
    liked: Arc<Batcher<Liked>>,
}

impl MysqlLikes {
    /// Spawns the writer task, which ends when this value is dropped.
    pub(super) fn new(database: Database) -> Self {
        let (queue, mut waiting) = mpsc::channel(QUEUE_MAX);
        let writer = database.clone();
        database.spawn(async move {
            let mut batch = Vec::with_capacity(BATCH_MAX);
            while waiting.recv_many(&mut batch, BATCH_MAX).await > 0 {
                write(&writer, std::mem::take(&mut batch)).await;
            }
        });
        let liked = Batcher::new(Liked(database.clone()));
        Self { database, queue, liked }
    }
}

#[async_trait]
impl Likes for MysqlLikes {
    async fn change(
        &self,
        user: UserId,
        what: Post,
        change: LikeChange,
        now: Timestamp,
    ) -> Result<Option<LikeOutcome>, StoreError> {
        let gone = || StoreError::Unavailable { op: OP, source: "the database is closed".into() };
        let (answer, answered) = oneshot::channel();
        let waiting = QueuedChange { change: Change { user, what, change, now }, answer };
        self.queue.send(waiting).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }

    async fn likers(&self, what: Post, page: Page) -> Result<Vec<UserId>, StoreError> {
        let (kind, subject) = what.in_row();
        let sql = "SELECT user_id FROM likes WHERE kind = ? AND target_id = ?
                   ORDER BY liked_ms, user_id LIMIT ? OFFSET ?";
        self.database
            .read("likers", |conn| {
                boxed(async move {
                    let values = (kind, subject, page.size(), page.skipped());
                    all(conn, sql, values, |row| Ok(UserId::new(row.next()?))).await
                })
            })
            .await
    }

    async fn liked(&self, user: UserId, among: &[Post]) -> Result<Vec<Post>, StoreError> {
        if among.is_empty() {
            return Ok(Vec::new());
        }
        self.liked.call((user, among.to_vec())).await
    }

    async fn miscounted(&self) -> Result<u64, StoreError> {
        let found = self.database.look("miscounted likes", |conn| {
            boxed(async move { first(conn, MISCOUNTED_LIKES, (), |row| row.count()).await })
        });
        Ok(found.await?.unwrap_or_default())
    }
}

/// A note or comment, and a user.
type Pair = (Post, UserId);

async fn write(database: &Database, batch: Vec<QueuedChange>) {
    let (changes, answers): (Vec<Change>, Vec<_>) =
        batch.into_iter().map(|waiting| (waiting.change, waiting.answer)).unzip();
    let changes = &*changes;
    let written = database.write(OP, |conn| boxed(async move { change_all(conn, changes).await })).await;
    match written {
        Ok(liked) => {
            for (answer, liked) in answers.into_iter().zip(liked) {
                // A caller that went away sees the outcome in a later read.
                let _ = answer.send(Ok(liked));
            }
        }
        Err(error) => {
            let text = error.to_string();
            for answer in answers {
                let source = text.clone().into();
                let _ = answer.send(Err(StoreError::Unavailable { op: OP, source }));
            }
        }
    }
}

/// Applies changes in sequence. Returns an outcome for each.
async fn change_all(conn: &mut Conn, changes: &[Change]) -> Result<Vec<Option<LikeOutcome>>, MysqlError> {
    let subjects: BTreeSet<Post> = changes.iter().map(|change| change.what).collect();
    let before = locked(conn, &subjects).await?;
    let seen = changes.iter().filter(|change| before.contains_key(&change.what));
    let pairs: BTreeSet<Pair> = seen.map(|change| (change.what, change.user)).collect();
    let had = rows(conn, &pairs).await?;

    let (mut counts, mut has) = (before.clone(), BTreeMap::<Pair, Option<Timestamp>>::new());
    let mut answers = Vec::with_capacity(changes.len());
    for Change { user, what, change, now } in changes {
        let Some(count) = counts.get_mut(what) else {
            answers.push(None);
            continue;
        };
        let pair = (*what, *user);
        let likes_until_now = has.get(&pair).map_or(had.contains(&pair), Option::is_some);
        let likes = change.after(likes_until_now);
        if likes != likes_until_now {
            has.insert(pair, likes.then_some(*now));
            *count = if likes { *count + 1 } else { count.saturating_sub(1) };
        }
        answers.push(Some(LikeOutcome { likes, count: *count }));
    }
    put(conn, &had, &has).await?;
    for (what, count) in &counts {
        if before.get(what) != Some(count) {
            let sql = format!("UPDATE {} SET likes = ? - imported_likes WHERE id = ?", what.table());
            execute(conn, sql, (count, what.in_row().1)).await?;
        }
    }
    Ok(answers)
}

/// Locks the visible notes and comments of `subjects` until the transaction ends. Returns their like counts.
async fn locked(conn: &mut Conn, subjects: &BTreeSet<Post>) -> Result<BTreeMap<Post, u64>, MysqlError> {
    let mut counts = BTreeMap::new();
    for what in subjects.iter().filter(|what| !matches!(what, Post::Review(_))) {
        let sql = format!(
            "SELECT imported_likes + likes FROM {} WHERE id = ? AND status < 2 FOR UPDATE",
            what.table()
        );
        if let Some(count) = first(conn, sql, (what.in_row().1,), |row| row.count()).await? {
            counts.insert(*what, count);
        }
    }
    Ok(counts)
}

/// Returns the existing likes among `pairs`.
async fn rows(conn: &mut Conn, pairs: &BTreeSet<Pair>) -> Result<BTreeSet<Pair>, MysqlError> {
    let mut found = BTreeSet::new();
    let pairs: Vec<Pair> = pairs.iter().copied().collect();
    for some in pairs.chunks(BATCH_MAX) {
        let (places, values) = places(some);
        let sql = format!("SELECT kind, target_id, user_id FROM likes WHERE {places}");
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

/// Writes the changed likes: deletes and inserts rows.
async fn put(
    conn: &mut Conn,
    had: &BTreeSet<Pair>,
    has: &BTreeMap<Pair, Option<Timestamp>>,
) -> Result<(), MysqlError> {
    // A like removed and given again within the batch gets a new time.
    let gone: Vec<Pair> = has.keys().copied().filter(|pair| had.contains(pair)).collect();
    for some in gone.chunks(BATCH_MAX) {
        let (places, values) = places(some);
        execute(conn, format!("DELETE FROM likes WHERE {places}"), values).await?;
    }
    let new = has.iter().filter_map(|((what, user), since)| {
        let (kind, subject) = what.in_row();
        since.map(|at| [kind.into(), subject.into(), user.get().into(), at.as_millis().into()])
    });
    let new: Vec<[Value; 4]> = new.collect();
    multi_row::insert(conn, "INSERT INTO likes (kind, target_id, user_id, liked_ms)", "(?, ?, ?, ?)", &new)
        .await
}

/// Returns the WHERE clause for `pairs` and its values. Padded to a power of two, so that few statements are
/// prepared.
fn places(pairs: &[Pair]) -> (String, Vec<Value>) {
    let length = pairs.len().next_power_of_two();
    let last = pairs.last().copied().into_iter().cycle();
    let filled = pairs.iter().copied().chain(last).take(length);
    let values = filled.flat_map(|(what, user)| {
        let (kind, subject) = what.in_row();
        [Value::from(kind), subject.into(), user.get().into()]
    });
    (vec!["kind = ? AND target_id = ? AND user_id = ?"; length].join(" OR "), values.collect())
}
