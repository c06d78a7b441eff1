//! Inboxes of feeds: a sorted set and a hash per reader.
//!
//! Inboxes are spread over as many partitions as sales are. A note reaches a thousand inboxes with sixteen
//! calls, and a cluster spreads the inboxes over all nodes.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::FeedEntry;
use mallbox_storage::backend::{INBOX_MAX_ENTRIES, INBOX_TTL, Inbox, Inboxes};
use mallbox_storage::{NoteId, PARTITIONS, StoreError, Timestamp, UserId};

use super::keys::Keys;
use super::link::{Idempotence, Link};
use super::script::{BEGIN_INBOX, FILL_INBOX, PUSH_TO_INBOXES, READ_INBOX};
use crate::random::random;
use crate::spans::{EXPIRY_GRACE, millis};

/// Time limit of filling an inbox. A later fill is void.
const FILLS_FOR: Duration = Duration::from_secs(10);

pub(super) struct RedisInboxes {
    pub(super) link: Link,
    pub(super) keys: Keys,
}

/// Returns the member of a note: Redis sorts members with equal scores as text, and inboxes are read from the
/// end.
fn member(note: NoteId) -> String {
    format!("{:020}", u64::MAX - note.get())
}

fn entry(op: &'static str, member: &str, written: &str) -> Result<FeedEntry, StoreError> {
    let unreadable = || StoreError::Corrupt { op, key: format!("note {member:?} of {written:?}") };
    let note = member.parse::<u64>().map_err(|_| unreadable())?;
    Ok(FeedEntry { note: NoteId::new(u64::MAX - note), written: instant(op, written)? })
}

/// Parses a score as an instant.
fn instant(op: &'static str, text: &str) -> Result<Timestamp, StoreError> {
    let score: f64 =
        text.parse().map_err(|_| StoreError::Corrupt { op, key: format!("instant {text:?}") })?;
    #[expect(clippy::cast_possible_truncation, reason = "whole milliseconds; the end of time stays the end")]
    Ok(Timestamp::from_millis(score as i64))
}

#[async_trait]
impl Inboxes for RedisInboxes {
    async fn read(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
        now: Timestamp,
    ) -> Result<Option<Inbox>, StoreError> {
        const OP: &str = "feeds.page";
        let call = READ_INBOX.on(self.keys.inbox(reader));
        let call = call.arg(from.as_millis()).arg(most).arg(now.as_millis());
        let (is_live, floor, notes): (bool, String, Vec<String>) =
            self.link.run(OP, Idempotence::Safe, call).await?;
        if !is_live {
            return Ok(None);
        }
        let (pairs, _) = notes.as_chunks::<2>();
        let entries = pairs.iter().map(|[member, written]| entry(OP, member, written));
        let floor = Some(floor).filter(|floor| !floor.is_empty());
        Ok(Some(Inbox {
            entries: entries.collect::<Result<_, _>>()?,
            floor: floor.map(|floor| instant(OP, &floor)).transpose()?,
        }))
    }

    async fn begin(&self, reader: UserId, now: Timestamp) -> Result<u64, StoreError> {
        let filling = random();
        let call = BEGIN_INBOX.on(self.keys.inbox(reader));
        let call = call.arg(filling).arg(now.as_millis()).arg(millis(FILLS_FOR));
        self.link.run::<u64>("feeds.begin", Idempotence::Safe, call).await?;
        Ok(filling)
    }

    async fn fill(
        &self,
        reader: UserId,
        filling: u64,
        inbox: &Inbox,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let floor = inbox.floor.map(|floor| floor.as_millis().to_string()).unwrap_or_default();
        let mut call = FILL_INBOX.on(self.keys.inbox(reader)).arg(filling);
        call = call
            .arg((now + INBOX_TTL).as_millis())
            .arg(floor)
            .arg(INBOX_MAX_ENTRIES)
            .arg(millis(INBOX_TTL + EXPIRY_GRACE));
        for entry in &inbox.entries {
            call = call.arg(entry.written.as_millis()).arg(member(entry.note));
        }
        self.link.run::<u64>("feeds.fill", Idempotence::Safe, call).await.map(drop)
    }

    async fn push(&self, entry: FeedEntry, readers: &[UserId], now: Timestamp) -> Result<(), StoreError> {
        let mut places: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for reader in readers {
            places.entry(reader.get() % PARTITIONS).or_default().extend(self.keys.inbox(*reader));
        }
        let calls = places.into_values().map(|keys| {
            let call = PUSH_TO_INBOXES.on(keys).arg(entry.written.as_millis()).arg(member(entry.note));
            call.arg(now.as_millis()).arg(INBOX_MAX_ENTRIES)
        });
        let pushed: Result<Vec<u64>, StoreError> =
            self.link.run_all("feeds.push", Idempotence::Safe, calls).await.into_iter().collect();
        pushed.map(drop)
    }

    async fn drop(&self, readers: &[UserId]) -> Result<(), StoreError> {
        let removals: Vec<redis::Cmd> = readers
            .iter()
            .map(|reader| {
                let mut command = redis::cmd("DEL");
                command.arg(&self.keys.inbox(*reader));
                command
            })
            .collect();
        self.link.query_all::<u64>("feeds.drop", &removals).await.map(drop)
    }
}
