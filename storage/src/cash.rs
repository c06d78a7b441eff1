//! The port of cash sessions and Z reports.
//!
//! Reasons: `src/decisions/0089-cash-sessions.md`.

use async_trait::async_trait;

use crate::{
    CashEntry, CashLimit, CashReport, CashSession, CashSessionId, Cents, NewCashEntry, OrderId, StoreError,
    StoredCashReport, TillName, Timestamp, Transition, TransitionOutcome, UserId,
};

/// The till at which cash changes hands, and the user there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CashDrawer {
    /// The till.
    pub till: TillName,
    /// The user at the till.
    pub by: UserId,
}

/// Outcome of [`CashSessions::open`].
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OpenCashOutcome {
    /// The session is open.
    Opened(CashSession),
    /// The till has this open session. Nothing changed.
    AlreadyOpen(CashSession),
    /// The maximum number of tills have open sessions. Nothing changed.
    TooManyTills,
}

/// Outcome of [`CashSessions::add`].
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CashAddOutcome {
    /// The session with the entry.
    Added(CashSession),
    /// The same entry was made before with this key. Nothing changed. The session as it is.
    Repeat(CashSession),
    /// The key was used before in this session for another kind, amount or reason. Nothing changed.
    KeyUsed,
    /// The entry is refused. Nothing changed.
    Limit(CashLimit),
    /// The session was closed by the Z report with this number. Nothing changed.
    Closed(u64),
    /// There is no such session.
    Unknown,
}

impl CashAddOutcome {
    /// Returns the outcome for an entry whose key was used for the entry `made` of this session.
    pub fn after(made: &CashEntry, new: &NewCashEntry, session: CashSession) -> Self {
        if new.is_made(made) { Self::Repeat(session) } else { Self::KeyUsed }
    }
}

/// Outcome of [`CashSessions::step`].
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CashStepOutcome {
    /// The outcome of the transition. If done, the entry was made too.
    Stepped(TransitionOutcome),
    /// The till has no open session, and the mall has used cash sessions before. Nothing changed.
    NoSession,
    /// The entry is refused. Nothing changed.
    Limit(CashLimit),
}

/// The count of a drawer that closes a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CashCount {
    /// Cash counted, in cents.
    pub counted: Cents,
    /// Amount that the drawer had to hold when the count was judged.
    pub expected: Cents,
    /// User who closes the session.
    pub by: UserId,
    /// Idempotency key.
    pub request: String,
}

impl CashCount {
    /// Returns the Z report of a session with this count.
    #[must_use]
    pub fn report(&self, number: u64, session: CashSession, closed: Timestamp) -> CashReport {
        let expected = session.expected();
        CashReport { number, session, closed, closed_by: self.by, expected, counted: self.counted }
    }

    /// Returns the outcome for a session that has a report, written under the key `request`.
    pub fn after(&self, request: &[u8], report: CashReport) -> CloseCashOutcome {
        if request == self.request.as_bytes() {
            CloseCashOutcome::Repeat(report)
        } else {
            CloseCashOutcome::ClosedBefore(report.number)
        }
    }
}

/// Outcome of [`CashSessions::close`].
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CloseCashOutcome {
    /// The report, written by this call.
    Closed(CashReport),
    /// The report that an earlier call with the same key wrote.
    Repeat(CashReport),
    /// A call with another key closed the session, by the Z report with this number. Nothing changed.
    ClosedBefore(u64),
    /// The drawer has to hold this other amount now. Nothing changed.
    Changed(Cents),
    /// There is no such session.
    Unknown,
}

/// Cash sessions in the database.
///
/// - A till has at most one open session.
/// - Sums of a session and its entries change in one transaction, and never overflow: see [`CashLimit`].
/// - Z reports are numbered from 1 without a gap, in the order of their transactions. A report, the end of
///   its session and an entry of the [audit log](crate::Audit) with the report's digest are one transaction.
/// - No call changes or removes a report or an entry, and the database itself refuses such changes as far as
///   possible.
/// - Every call is durable when it returns.
#[async_trait]
pub trait CashSessions: Send + Sync {
    /// Opens a session with `float` cents in the drawer, unless `tills_max` tills have open sessions.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn open(
        &self,
        drawer: &CashDrawer,
        float: Cents,
        tills_max: u32,
        now: Timestamp,
    ) -> Result<OpenCashOutcome, StoreError>;

    /// Returns the open sessions, by till.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn open_sessions(&self) -> Result<Vec<CashSession>, StoreError>;

    /// Returns up to `max` entries of a session with a number above `after`, by number; with `moves_only`
    /// without sales and refunds.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn entries(
        &self,
        session: CashSessionId,
        moves_only: bool,
        after: u64,
        max: u32,
    ) -> Result<Vec<CashEntry>, StoreError>;

    /// Adds an entry without an order to an open session. Idempotent by the entry's key.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn add(
        &self,
        session: CashSessionId,
        entry: &NewCashEntry,
        now: Timestamp,
    ) -> Result<CashAddOutcome, StoreError>;

    /// Performs a transition as [`Orders::step`](crate::Orders::step) does, for an order paid or refunded in
    /// cash, and makes the entry in the open session of the till, in one transaction. Without any session of
    /// the mall so far, makes no entry. [`Transition::Pay`] makes a sale, any other transition a refund, each
    /// of the order's price.
    ///
    /// # Errors
    /// As [`Orders::step`](crate::Orders::step).
    async fn step(
        &self,
        order: OrderId,
        step: Transition,
        drawer: &CashDrawer,
        now: Timestamp,
    ) -> Result<CashStepOutcome, StoreError>;

    /// Closes a session with a Z report. Of concurrent calls, exactly one closes the session.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again with the same key.
    async fn close(
        &self,
        session: CashSessionId,
        count: &CashCount,
        now: Timestamp,
    ) -> Result<CloseCashOutcome, StoreError>;

    /// Returns up to `max` Z reports, newest first; only reports numbered below `before`, if given. A report
    /// that does not match its digest is in its place.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn reports(&self, before: Option<u64>, max: u32) -> Result<Vec<StoredCashReport>, StoreError>;
}
