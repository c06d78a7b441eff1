//! The [`SignIns`] port: reads from memory, writes to SQLite first.

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_storage::{
    CreditCause, Day, DaySpan, MakeUpOutcome, Page, SIGN_IN_CREDITS, SignIns, SignedDay, StoreError,
    Timestamp, UserId,
};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::Database;
use super::credits;
use super::errors::closed;
use super::sign_blocks::{self, Put};
use crate::sign_in_index::SignInIndex;

pub(crate) struct EmbeddedSignIns {
    database: Database,
    signed: Arc<SignInIndex>,
}

impl EmbeddedSignIns {
    /// Loads all sign-ins from the database. Blocks.
    pub(crate) fn load(database: Database) -> Result<Self, StoreError> {
        if database.read_blocking("unpacked sign-ins", sign_blocks::are_unpacked)? {
            match database.write_blocking("pack sign-ins", sign_blocks::pack_rows) {
                // On a full disk the rows are read unpacked, and packed at a later start.
                Err(StoreError::Full { .. }) | Ok(()) => {}
                Err(error) => return Err(error),
            }
        }
        let days = database.read_blocking("load sign-ins", sign_blocks::load)?;
        Ok(Self { database, signed: Arc::new(SignInIndex::new(days)) })
    }

    /// Returns the sign-ins in memory, for components that write to the database directly.
    pub(crate) fn signed(&self) -> Arc<SignInIndex> {
        Arc::clone(&self.signed)
    }

    /// Runs a write, and updates memory on the writer's thread: the caller may be gone by then.
    async fn write<T: Send + 'static>(
        &self,
        op: &'static str,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        learn: impl FnOnce(&SignInIndex, &T) + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let signed = Arc::clone(&self.signed);
        self.database.write_then(op, job, move |answer| {
            if let Ok(done) = &answer {
                learn(&signed, done);
            }
            drop(sender.send(answer));
        });
        receiver.await.unwrap_or_else(|_| Err(closed(op)))
    }
}

#[async_trait]
impl SignIns for EmbeddedSignIns {
    async fn sign(&self, user: UserId, day: Day, now: Timestamp) -> Result<bool, StoreError> {
        if self.signed.has(user, day) {
            return Ok(false);
        }
        let job = move |conn: &Connection| {
            let put = sign_blocks::sign(conn, user, day)?;
            if put.is_new {
                credits::add(conn, user, CreditCause::SignIn(day), SIGN_IN_CREDITS, now)?;
            }
            Ok(put)
        };
        let learn = move |signed: &SignInIndex, put: &Put| signed.insert(user, day, put.is_made_up);
        Ok(self.write("sign in", job, learn).await?.is_new)
    }

    async fn make_up(&self, user: UserId, day: Day, most: u32) -> Result<MakeUpOutcome, StoreError> {
        if self.signed.has(user, day) {
            return Ok(MakeUpOutcome::SignedAlready);
        }
        // Counted within the write: of two requests in one commit, the second sees the first.
        let job = move |conn: &Connection| sign_blocks::make_up(conn, user, day, most);
        let learn = move |signed: &SignInIndex, put: &Option<Put>| {
            if let Some(put) = put {
                signed.insert(user, day, put.is_made_up);
            }
        };
        Ok(match self.write("make up a day", job, learn).await? {
            None => MakeUpOutcome::TooMany,
            Some(Put { is_new: true, .. }) => MakeUpOutcome::Done,
            Some(_) => MakeUpOutcome::SignedAlready,
        })
    }

    async fn days(&self, user: UserId, span: DaySpan) -> Result<Vec<SignedDay>, StoreError> {
        Ok(self.signed.days_of(user, span))
    }

    async fn streak(&self, user: UserId, up_to: Day) -> Result<u32, StoreError> {
        Ok(self.signed.streak(user, up_to))
    }

    async fn longest_streak(&self, user: UserId) -> Result<u32, StoreError> {
        Ok(self.signed.longest_streak(user))
    }

    async fn counts(&self, span: DaySpan) -> Result<Vec<u64>, StoreError> {
        Ok(self.signed.counts(span))
    }

    async fn signed_all(&self, span: DaySpan, page: Page) -> Result<(Vec<UserId>, u64), StoreError> {
        Ok(self.signed.signed_all(span, page))
    }
}
