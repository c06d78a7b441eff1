//! The [`SignIns`] port: the record, and before it a bitmap a day for what is asked of everybody.
//!
//! What is asked of one user is asked of the record: their days are neighbours there, and cost less than a bit of each of
//! many bitmaps that would have to be read first. What is asked of all users is a `BITCOUNT` or `BITOP` here.
//!
//! - A sign-in is in the record first, and then noted in the day's bits, whether or not the day has been read from the record.
//! - A sign-in whose answer was lost, or that could not be noted, is in doubt: it is asked about in the background until both have
//!   answered, and then noted.
//! - A day that was not read is read when somebody asks for it, and added to what was noted: bits are never taken away, so
//!   it makes no difference which of the two comes first.
//! - Then it carries the id of the server that has it, by which a server that may have lost something is told from it, as in
//!   [`known_server`](super::known_server); and for an hour alone, which is how long a sign-in can be missed whose process
//!   died before it was noted. It also bounds what Redis holds: days that nobody asks for are gone.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use super::keys::Keys;
use super::link::{Link, Repeat};
use super::script::{COUNT_SIGNS, LOAD_SIGNS, NOTE_SIGN, SIGNED_ALL};
use super::{KEPT_LONGER, millis};
use crate::production::{FAR, SignRows};
use crate::{Day, DaySpan, MakeUp, Page, SignIns, SignedDay, StoreError, UserId};

/// How long a day that was read from the record counts as read.
pub const SIGNS_KEPT: Duration = Duration::from_secs(60 * 60);
/// How long a look at everybody may take. Days go on being read behind it, for the next one.
const PATIENCE: Duration = Duration::from_millis(1_300);
/// Sign-ins in doubt that are remembered; figures miss further ones until their day is read again.
const IN_DOUBT_MAX: usize = 16_384;
/// How often those in doubt are asked about.
const ASK_EVERY: Duration = Duration::from_millis(500);

pub(super) struct RedisSignIns {
    everybody: Arc<Everybody>,
    rows: Arc<dyn SignRows>,
}

/// The days' bits.
struct Everybody {
    link: Link,
    keys: Keys,
    rows: Arc<dyn SignRows>,
    /// Held by the one who reads days: one after the other, since each is a large look at the record.
    reading: Mutex<()>,
    in_doubt: parking_lot::Mutex<InDoubt>,
}

/// Sign-ins of which the database may have taken more than is noted.
#[derive(Default)]
struct InDoubt {
    sign_ins: HashSet<InDoubtSignIn>,
    /// Whether a task asks about them.
    is_asked: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct InDoubtSignIn {
    user: UserId,
    day: Day,
    is_made_up: bool,
}

impl RedisSignIns {
    pub(super) fn new(link: Link, keys: Keys, rows: Arc<dyn SignRows>) -> Self {
        let (reading, in_doubt) = (Mutex::default(), parking_lot::Mutex::default());
        let everybody = Everybody { link, keys, rows: Arc::clone(&rows), reading, in_doubt };
        Self { everybody: Arc::new(everybody), rows }
    }
}

impl Everybody {
    async fn note(&self, op: &'static str, user: UserId, day: Day) -> Result<(), StoreError> {
        if user.get() >= FAR {
            return Ok(());
        }
        let [bits, _] = self.keys.signs(day);
        let call = NOTE_SIGN.on([bits]).arg(user.get()).arg(millis(SIGNS_KEPT + KEPT_LONGER));
        self.link.run::<u64>(op, Repeat::Safe, call).await.map(drop)
    }

    /// Asks about a sign-in in the background, until it is known and noted.
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

    /// Asks about those in doubt. Returns whether none is left, after which nobody asks.
    async fn ask_about_all(&self) -> bool {
        let all: Vec<_> = self.in_doubt.lock().sign_ins.iter().copied().collect();
        for sign_in in all {
            if let Err(error) = self.resolve(sign_in).await {
                tracing::debug!(%error, "sign-ins are in doubt");
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
        let InDoubtSignIn { user, day, is_made_up } = sign_in;
        // A repeat waits for the first attempt's transaction, if that is still open. How many days are made up is limited, so
        // that one is not repeated.
        let is_signed = if is_made_up {
            let only = DaySpan::new(day, day).map(|span| self.rows.days(user, span));
            match only {
                Some(days) => !days.await?.is_empty(),
                None => false,
            }
        } else {
            self.rows.sign(user, day).await?;
            true
        };
        if is_signed { self.note(OP, user, day).await } else { Ok(()) }
    }

    /// Counts of these days, `None` for one that has to be read first; and which server says so.
    async fn count(
        &self,
        op: &'static str,
        days: impl Iterator<Item = Day>,
    ) -> Result<(String, Vec<Option<u64>>), StoreError> {
        let call = COUNT_SIGNS.on(days.flat_map(|day| self.keys.signs(day)));
        let (server, counts): (String, Vec<i64>) = self.link.run(op, Repeat::Safe, call).await?;
        Ok((server, counts.into_iter().map(|count| u64::try_from(count).ok()).collect()))
    }

    /// Counts of these days, all of which have been read when it answers.
    async fn counts(self: &Arc<Self>, op: &'static str, span: DaySpan) -> Result<Vec<u64>, StoreError> {
        loop {
            let (_, counts) = self.count(op, span.days()).await?;
            if let Some(counts) = counts.iter().copied().collect() {
                return Ok(counts);
            }
            // A task of its own: whoever asked may have lost patience, and will ask again.
            let (all, days) = (Arc::clone(self), span);
            let reading = self.link.runtime().spawn(async move { all.read(op, days).await });
            reading.await.map_err(|error| StoreError::Unavailable { op, source: error.into() })??;
        }
    }

    /// Reads the days of a span that have not been.
    async fn read(&self, op: &'static str, span: DaySpan) -> Result<(), StoreError> {
        let _one = self.reading.lock().await;
        // Perhaps it was done while this one waited. The server is asked before the record: what is noted there from now
        // on stays there, as long as it is the same.
        let (server, counts) = self.count(op, span.days()).await?;
        let missing = span.days().zip(counts).filter(|(_, count)| count.is_none());
        for (day, _) in missing {
            let users = self.rows.bits(day).await?;
            let [bits, loaded] = self.keys.signs(day);
            let call = LOAD_SIGNS.on([bits, loaded, self.keys.signs_in_hand()]).arg(&server).arg(users);
            let call = call.arg(millis(SIGNS_KEPT)).arg(millis(SIGNS_KEPT + KEPT_LONGER));
            let _: u64 = self.link.run(op, Repeat::Safe, call).await?;
        }
        Ok(())
    }

    /// The bits of those who signed on every day of a span.
    async fn signed_all(self: &Arc<Self>, op: &'static str, span: DaySpan) -> Result<Vec<u8>, StoreError> {
        loop {
            self.counts(op, span).await?;
            let keys = span.days().flat_map(|day| self.keys.signs(day));
            let call = SIGNED_ALL.on(std::iter::once(self.keys.signs_in_hand()).chain(keys));
            // Nothing, if an hour has ended or another server has taken its place since.
            if let Some(bits) = self.link.run(op, Repeat::Safe, call).await? {
                return Ok(bits);
            }
        }
    }
}

async fn ask_until_known(everybody: Weak<Everybody>) {
    loop {
        sleep(ASK_EVERY).await;
        let Some(everybody) = everybody.upgrade() else { return };
        if everybody.ask_about_all().await {
            return;
        }
    }
}

/// What is in doubt until it is [settled](Self::settled): also if whoever asked goes away in between.
struct Doubt<'a> {
    everybody: &'a Arc<Everybody>,
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
    let late = || StoreError::Unavailable { op, source: "the days are being read from the record".into() };
    timeout(PATIENCE, work).await.unwrap_or_else(|_| Err(late()))
}

/// The users of these bits, the highest of each byte first.
fn users(bits: &[u8]) -> impl Iterator<Item = UserId> {
    let first_of = (0..).step_by(8).map(UserId::new);
    bits.iter().zip(first_of).flat_map(|(byte, first)| {
        let is_set = move |place: &u64| byte & (0x80 >> place) != 0;
        (0..8).filter(is_set).map(move |place| UserId::new(first.get() + place))
    })
}

#[async_trait]
impl SignIns for RedisSignIns {
    async fn sign(&self, user: UserId, day: Day) -> Result<bool, StoreError> {
        let sign_in = InDoubtSignIn { user, day, is_made_up: false };
        let doubt = Doubt { everybody: &self.everybody, sign_in: Some(sign_in) };
        let is_new = self.rows.sign(user, day).await?;
        self.everybody.note("sign in", user, day).await?;
        doubt.settled();
        Ok(is_new)
    }

    async fn make_up(&self, user: UserId, day: Day, most: u32) -> Result<MakeUp, StoreError> {
        let sign_in = InDoubtSignIn { user, day, is_made_up: true };
        let doubt = Doubt { everybody: &self.everybody, sign_in: Some(sign_in) };
        let done = self.rows.make_up(user, day, most).await?;
        if done != MakeUp::TooMany {
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
