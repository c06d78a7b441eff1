//! Who visits, as numbers that say of nobody who they are.

use async_trait::async_trait;

use crate::{Day, DaySpan, ShopId, StoreError};

/// Days that are kept, today among them.
pub const VISITS_KEPT: i32 = 400;

/// What was visited.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Visited {
    /// Anything in the mall.
    Mall,
    /// A shop, or something about it. No shop has the number 0.
    Shop(ShopId),
}

/// A visitor: 64 bits that stand for the same person wherever they are the same, and from which nobody can be found out.
/// Any bits will do; they need not be random.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Visitor(pub u64);

/// What one visitor looked at on one day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Visit {
    /// What.
    pub of: Visited,
    /// When, on the mall's wall.
    pub day: Day,
    /// Who.
    pub visitor: Visitor,
    /// How often.
    pub views: u64,
}

/// What is mixed into the bits of strangers, so that they are other bits on another day.
pub type Salt = [u8; 16];

/// Visits of a day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VisitsOfDay {
    /// Which.
    pub day: Day,
    /// How many different visitors (UV).
    pub visitors: u64,
    /// How often they looked (PV).
    pub views: u64,
}

/// Visits of some days.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VisitCounts {
    /// Each of the days, first to last.
    pub days: Vec<VisitsOfDay>,
    /// How many different visitors there were on all of them together: who came on two of them is one.
    pub visitors: u64,
}

/// How many visitors there are, and how often they look.
///
/// - Visits are told in batches, about one a second. Which day it is on the mall's wall is the caller's to say.
/// - Visitors are estimated, from some kilobytes a day however many they are: to within 2.5 % in 99 of 100 cases (three
///   standard errors of 0.81 %), and to within one of a few. Views are counted exactly.
/// - A repeat of a visit changes no visitors and adds its views.
/// - What is answered is as durable as the back end, with one exception: on servers visits are in Redis alone, and lost with
///   it. Whoever gathers visits before they tell of them loses what they have gathered when they die.
/// - Days are kept for [`VISITS_KEPT`] days: older ones, by the `today` of each call, are as if nobody had come.
/// - Cost: in a directory some 0.1 ms for each of the things visited in a batch, on the thread that writes the record, between
///   what others wait for; on servers one round trip a batch.
#[async_trait]
pub trait Visitors: Send + Sync {
    /// Takes visits down.
    ///
    /// # Errors
    /// [`StoreError`]: some of them may be taken down and some not. A repeat would count views twice: better leave it.
    async fn note(&self, visits: &[Visit], today: Day) -> Result<(), StoreError>;

    /// How many there were on the days of a span.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn count(&self, of: Visited, span: DaySpan, today: Day) -> Result<VisitCounts, StoreError>;

    /// The salt of a day: what was offered for it first. Never on a disk of ours: a directory has it in memory, and so
    /// another one after a restart; on servers all instances have the same from Redis. Forgotten some days later.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn salt(&self, day: Day, offered: Salt) -> Result<Salt, StoreError>;
}

/// Whether visits of this day are kept.
pub(crate) fn is_kept(day: Day, today: Day) -> bool {
    today.number() - day.number() < VISITS_KEPT
}
