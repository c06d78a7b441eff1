//! The [`SignIns`] port: the database, plus one Redis bitmap per day for queries over all users.
//!
//! Queries about one user go to the database. A user's days are neighbours there, and cost less than a bit
//! from each of many bitmaps that would have to be loaded first. Queries about all users are a `BITCOUNT` or
//! `BITOP` in Redis.
//!
//! - A sign-in is stored in the database first, and then noted in the day's bitmap, whether or not the day is
//!   loaded.
//! - A sign-in with a lost reply, or without a note in the bitmap, is in doubt. A background task queries the
//!   database until both servers have replied, and then notes the sign-in.
//! - A day is loaded from the database on demand, and merged with the bits noted so far. Bits are never
//!   cleared, so the order of loading and noting makes no difference.
//! - A loaded day carries the replication id of its server, to detect a server that may have lost writes, as
//!   in [`restored_server`](super::restored_server). A load counts for only an hour. That bounds how long a
//!   sign-in is missed if its process died before the note. It also bounds the memory in Redis, because days
//!   without queries expire.
//!
//! Reasons and figures: `storage/decisions/0009-sign-ins-as-bits.md`.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{Day, DaySpan, MakeUpOutcome, Page, SignIns, SignedDay, StoreError, Timestamp, UserId};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use super::keys::Keys;
use super::link::{Idempotence, Link};
use super::script::{COUNT_SIGNS, LOAD_SIGNS, NOTE_SIGN, SIGNED_ALL};
use crate::spans::{EXPIRY_GRACE, millis};
use crate::{BITMAP_USERS_MAX, SignRows};

/// How long a day loaded from the database counts as loaded.
pub const SIGNS_KEPT: Duration = Duration::from_secs(60 * 60);
/// Time limit of a query over all users. Loading continues in the background, for the next query.
const QUERY_TIMEOUT: Duration = Duration::from_millis(1_300);
/// Maximum number of remembered sign-ins in doubt. Queries over all users miss any further sign-in in doubt
/// until its day is loaded again.
const IN_DOUBT_MAX: usize = 16_384;
/// Interval at which sign-ins in doubt are resolved.
const RESOLVE_INTERVAL: Duration = Duration::from_millis(500);

pub(super) struct RedisSignIns {
    everybody: Arc<DayBitmaps>,
    rows: Arc<dyn SignRows>,
}

/// The bitmaps of all users, one per day.
struct DayBitmaps {
    link: Link,
    keys: Keys,
    rows: Arc<dyn SignRows>,
    /// Held while loading days. Days are loaded one after the other, because each is a large read of the
    /// database.
    reading: Mutex<()>,
    in_doubt: parking_lot::Mutex<InDoubt>,
}

/// Sign-ins that may be in the database without a note in the bitmap.
#[derive(Default)]
struct InDoubt {
    sign_ins: HashSet<InDoubtSignIn>,
    /// Whether the resolving task runs.
    is_asked: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct InDoubtSignIn {
    user: UserId,
    day: Day,
    kind: SignInKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum SignInKind {
    /// On the day itself, at this time.
    OnTime(Timestamp),
    MadeUp,
}

impl RedisSignIns {
    pub(super) fn new(link: Link, keys: Keys, rows: Arc<dyn SignRows>) -> Self {
        let (reading, in_doubt) = (Mutex::default(), parking_lot::Mutex::default());
        let everybody = DayBitmaps { link, keys, rows: Arc::clone(&rows), reading, in_doubt };
        Self { everybody: Arc::new(everybody), rows }
    }
}

impl DayBitmaps {
    async fn note(&self, op: &'static str, user: UserId, day: Day) -> Result<(), StoreError> {
        if user.get() >= BITMAP_USERS_MAX {
            return Ok(());
        }
        let [bits, _] = self.keys.signs(day);
        let call = NOTE_SIGN.on([bits]).arg(user.get()).arg(millis(SIGNS_KEPT + EXPIRY_GRACE));
        self.link.run::<u64>(op, Idempotence::Safe, call).await.map(drop)
    }

    /// Marks a sign-in as in doubt. A background task resolves and notes the sign-in.
    fn doubt(self: &Arc<Self>, sign_in: InDoubtSignIn) {
        let mut in_doubt = self.in_doubt.lock();
        if in_doubt.sign_ins.len() >= IN_DOUBT_MAX {
            return;
        }
        in_doubt.sign_ins.insert(sign_in);
        if !std::mem::replace(&mut in_doubt.is_asked, true) {
            self.link.runtime().spawn(ask_until_known(Arc::downgrade(self)));
        }
    }

    /// Resolves the sign-ins in doubt. Returns whether none is left; the background task then ends.
    async fn ask_about_all(&self) -> bool {
        let all: Vec<_> = self.in_doubt.lock().sign_ins.iter().copied().collect();
        for sign_in in all {
            if let Err(error) = self.resolve(sign_in).await {
                tracing::debug!(%error, "could not resolve a sign-in in doubt");
                break;
            }
            self.in_doubt.lock().sign_ins.remove(&sign_in);
        }
        let mut in_doubt = self.in_doubt.lock();
        in_doubt.is_asked = !in_doubt.sign_ins.is_empty();
        !in_doubt.is_asked
    }

    async fn resolve(&self, sign_in: InDoubtSignIn) -> Result<(), StoreError> {
        const OP: &str = "sign-in in doubt";
        let InDoubtSignIn { user, day, kind } = sign_in;
        // A repeated sign-in waits for the first attempt's transaction, if that is still open. Making up a
        // day is limited per month, so the attempt is not repeated.
        let is_signed = match kind {
            SignInKind::OnTime(at) => {
                self.rows.sign(user, day, at).await?;
                true
            }
            SignInKind::MadeUp => match DaySpan::new(day, day).map(|span| self.rows.days(user, span)) {
                Some(days) => !days.await?.is_empty(),
                None => false,
            },
        };
        if is_signed { self.note(OP, user, day).await } else { Ok(()) }
    }

    /// Returns the replication id of the server, and the count of each day; `None` for a day that is not
    /// loaded.
    async fn count(
        &self,
        op: &'static str,
        days: impl Iterator<Item = Day>,
    ) -> Result<(String, Vec<Option<u64>>), StoreError> {
        let call = COUNT_SIGNS.on(days.flat_map(|day| self.keys.signs(day)));
        let (server, counts): (String, Vec<i64>) = self.link.run(op, Idempotence::Safe, call).await?;
        Ok((server, counts.into_iter().map(|count| u64::try_from(count).ok()).collect()))
    }

    /// Returns the count of each day, after loading missing days.
    async fn counts(self: &Arc<Self>, op: &'static str, span: DaySpan) -> Result<Vec<u64>, StoreError> {
        loop {
            let (_, counts) = self.count(op, span.days()).await?;
            if let Some(counts) = counts.iter().copied().collect() {
                return Ok(counts);
            }
            // A separate task, because the caller may time out and call again.
            let (all, days) = (Arc::clone(self), span);
            let reading = self.link.runtime().spawn(async move { all.read(op, days).await });
            reading.await.map_err(|error| StoreError::Unavailable { op, source: error.into() })??;
        }
    }

    /// Loads the missing days of a span.
    async fn read(&self, op: &'static str, span: DaySpan) -> Result<(), StoreError> {
        let _one = self.reading.lock().await;
        // Another task may have loaded the days while this task waited. The server id is read before the
        // database: bits noted from now on stay there, as long as the server stays the same.
        let (server, counts) = self.count(op, span.days()).await?;
        let missing = span.days().zip(counts).filter(|(_, count)| count.is_none());
        for (day, _) in missing {
            let users = self.rows.bits(day).await?;
            let [bits, loaded] = self.keys.signs(day);
            let call = LOAD_SIGNS.on([bits, loaded, self.keys.signs_in_hand()]).arg(&server).arg(users);
            let call = call.arg(millis(SIGNS_KEPT)).arg(millis(SIGNS_KEPT + EXPIRY_GRACE));
            let _: u64 = self.link.run(op, Idempotence::Safe, call).await?;
        }
        Ok(())
    }

    /// Returns the bitmap of users who signed on every day of a span.
    async fn signed_all(self: &Arc<Self>, op: &'static str, span: DaySpan) -> Result<Vec<u8>, StoreError> {
        loop {
            self.counts(op, span).await?;
            let keys = span.days().flat_map(|day| self.keys.signs(day));
            let call = SIGNED_ALL.on(std::iter::once(self.keys.signs_in_hand()).chain(keys));
            // `None` if a day's hour has passed, or another server has taken over since.
            if let Some(bits) = self.link.run(op, Idempotence::Safe, call).await? {
                return Ok(bits);
            }
        }
    }
}

async fn ask_until_known(everybody: Weak<DayBitmaps>) {
    loop {
        sleep(RESOLVE_INTERVAL).await;
        let Some(everybody) = everybody.upgrade() else { return };
        if everybody.ask_about_all().await {
            return;
        }
    }
}

/// A sign-in in doubt until [settled](Self::settled). Drop marks the sign-in as in doubt, also when the
/// caller is cancelled.
struct Doubt<'a> {
    everybody: &'a Arc<DayBitmaps>,
    sign_in: Option<InDoubtSignIn>,
}

impl Doubt<'_> {
    fn settled(mut self) {
        self.sign_in = None;
    }
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        if let Some(sign_in) = self.sign_in {
            self.everybody.doubt(sign_in);
        }
    }
}

async fn patiently<T>(
    op: &'static str,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let late =
        || StoreError::Unavailable { op, source: "the days are being loaded from the database".into() };
    timeout(QUERY_TIMEOUT, work).await.unwrap_or_else(|_| Err(late()))
}

/// Returns the users of a bitmap, the highest bit of each byte first.
fn users(bits: &[u8]) -> impl Iterator<Item = UserId> {
    let first_of = (0..).step_by(8).map(UserId::new);
    bits.iter().zip(first_of).flat_map(|(byte, first)| {
        let is_set = move |place: &u64| byte & (0x80 >> place) != 0;
        (0..8).filter(is_set).map(move |place| UserId::new(first.get() + place))
    })
}

#[async_trait]
impl SignIns for RedisSignIns {
    async fn sign(&self, user: UserId, day: Day, now: Timestamp) -> Result<bool, StoreError> {
        let sign_in = InDoubtSignIn { user, day, kind: SignInKind::OnTime(now) };
        let doubt = Doubt { everybody: &self.everybody, sign_in: Some(sign_in) };
        let is_new = self.rows.sign(user, day, now).await?;
        self.everybody.note("sign in", user, day).await?;
        doubt.settled();
        Ok(is_new)
    }

    async fn make_up(&self, user: UserId, day: Day, most: u32) -> Result<MakeUpOutcome, StoreError> {
        let sign_in = InDoubtSignIn { user, day, kind: SignInKind::MadeUp };
        let doubt = Doubt { everybody: &self.everybody, sign_in: Some(sign_in) };
        let done = self.rows.make_up(user, day, most).await?;
        if done != MakeUpOutcome::TooMany {
            self.everybody.note("make up a day", user, day).await?;
        }
        doubt.settled();
        Ok(done)
    }

    async fn days(&self, user: UserId, span: DaySpan) -> Result<Vec<SignedDay>, StoreError> {
        self.rows.days(user, span).await
    }

    async fn streak(&self, user: UserId, up_to: Day) -> Result<u32, StoreError> {
        self.rows.streak(user, up_to).await
    }

    async fn longest_streak(&self, user: UserId) -> Result<u32, StoreError> {
        self.rows.longest_streak(user).await
    }

    async fn counts(&self, span: DaySpan) -> Result<Vec<u64>, StoreError> {
        const OP: &str = "count sign-ins";
        let both = async { tokio::try_join!(self.everybody.counts(OP, span), self.rows.far(span)) };
        let (mut counts, far) = patiently(OP, both).await?;
        for (day, _) in far {
            let place = usize::try_from(day.number() - span.first().number()).ok();
            if let Some(count) = place.and_then(|place| counts.get_mut(place)) {
                *count += 1;
            }
        }
        Ok(counts)
    }

    async fn signed_all(&self, span: DaySpan, page: Page) -> Result<(Vec<UserId>, u64), StoreError> {
        const OP: &str = "who signed on all days";
        let both = async { tokio::try_join!(self.everybody.signed_all(OP, span), self.rows.far(span)) };
        let (bits, far) = patiently(OP, both).await?;
        let mut days_of = HashMap::<UserId, usize>::new();
        far.into_iter().for_each(|(_, user)| *days_of.entry(user).or_default() += 1);
        let mut far: Vec<UserId> =
            days_of.into_iter().filter(|(_, days)| *days == span.length()).map(|(user, _)| user).collect();
        far.sort_unstable();
        let near: u64 = bits.iter().map(|byte| u64::from(byte.count_ones())).sum();
        let total = near + far.len() as u64;
        let skipped = usize::try_from(page.skipped()).unwrap_or(usize::MAX);
        Ok((users(&bits).chain(far).skip(skipped).take(page.size() as usize).collect(), total))
    }
}
