//! Cash sessions of tills: opening, X reports, cash paid in and out, and closing with a Z report.
//!
//! Reasons: `src/decisions/0089-cash-sessions.md`.

use std::collections::BTreeMap;
use std::sync::Arc;

use mallbox_storage::{
    CASH_MAX, CASH_MOVES_MAX, CashAddOutcome, CashCount, CashDrawer, CashEntry, CashKind, CashReport,
    CashSession, CashSessionId, CashSessions, Cents, CloseCashOutcome, NewCashEntry, OpenCashOutcome,
    StoreError, TillName, UserId, number_of_report,
};
use serde_json::json;

use crate::mall::base::audited_action::validate_reason;
use crate::mall::base::idempotency_key::check_idempotency_key;
use crate::mall::base::{
    AuditLog, AuditedAction, By, CashRefusal, Context, Failure, Refusal, clean_text, run_audited,
};

/// Maximum number of tills with open sessions: a counter, and a few kiosks or market stalls.
const TILLS_MAX: u32 = 8;

/// Nicknames of users, and names of staff.
pub type Names = BTreeMap<UserId, String>;

/// An X report: a running session. Reading it changes nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct XReport {
    /// The session.
    pub session: CashSession,
    /// Cash paid in and out, oldest first.
    pub moves: Vec<CashEntry>,
    /// Names of all users in the report. A deleted user has an empty name.
    pub names: Names,
}

/// A Z report with what is read beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ZReport {
    /// The report as it was written.
    pub report: CashReport,
    /// Cash paid in and out, oldest first.
    pub moves: Vec<CashEntry>,
    /// Names of all users in the report, as they are now. A deleted user has an empty name.
    pub names: Names,
}

/// A page of Z reports.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ZReportPage {
    /// The reports, newest first.
    pub reports: Vec<ZReport>,
    /// Numbers of reports of the page that do not match their digests.
    pub unreadable: Vec<u64>,
    /// Number below which the next page begins; `None` at the end.
    pub next_before: Option<u64>,
}

/// Cash to be paid in or out, as typed by a person.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CashMove {
    /// Whether the cash goes into the drawer.
    pub is_in: bool,
    /// Amount in cents, 1 or more.
    pub amount: i64,
    /// Why: 1 to 200 characters.
    pub reason: String,
    /// Idempotency key.
    pub request: String,
}

/// The count of a drawer, as typed by a person.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DrawerCount {
    /// Cash counted, in cents.
    pub counted: i64,
    /// What the drawer had to hold when the person saw the difference, in cents.
    pub expected: i64,
    /// Idempotency key.
    pub request: String,
}

/// The service for cash sessions. Cheap to clone.
#[derive(Clone)]
pub struct CashAdmin {
    context: Context,
    audit: AuditLog,
}

impl CashAdmin {
    /// Z reports per page.
    pub const PAGE: u32 = 20;

    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog) -> Self {
        Self { context, audit }
    }

    /// Opens the session of a till, with `float` cents in the drawer; without a name, of the till `1`.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for an invalid name or amount; [`Refusal::Cash`] if the till has an open
    /// session, or too many tills have one; [`Failure::Store`] if the store fails: the session may be open.
    pub async fn open(&self, by: By, till: Option<&str>, float: i64) -> Result<XReport, Failure> {
        let (drawer, float) = (drawer(by, till)?, amount(float, 0, "float")?);
        let action = AuditedAction {
            action: "cash.open",
            subject: format!("till {}", drawer.till),
            detail: json!({ "float": float }),
        };
        let cash = self.cash();
        let session = run_audited(&self.audit, by, action, async move {
            match cash.open(&drawer, float, TILLS_MAX, by.at).await? {
                OpenCashOutcome::Opened(session) => Ok(session),
                OpenCashOutcome::AlreadyOpen(_) => Err(Refusal::Cash(CashRefusal::SessionOpen).into()),
                OpenCashOutcome::TooManyTills => Err(Refusal::Cash(CashRefusal::TillsFull(TILLS_MAX)).into()),
            }
        })
        .await?;
        self.x_of(session).await
    }

    /// Returns the X reports of all open sessions, by till.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn running(&self) -> Result<Vec<XReport>, Failure> {
        let mut reports = Vec::new();
        for session in self.cash().open_sessions().await? {
            reports.push(self.x_of(session).await?);
        }
        Ok(reports)
    }

    /// Returns the X report of an open session.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no open session has the id; [`Failure::Store`] if the store fails.
    pub async fn x(&self, session: CashSessionId) -> Result<XReport, Failure> {
        let open = self.cash().open_sessions().await?;
        let session = open.into_iter().find(|one| one.id == session);
        self.x_of(session.ok_or(Refusal::NotFound("cash session"))?).await
    }

    /// Pays cash in or out. A repeat with the same key changes nothing. Returns the session after the call,
    /// and whether the call is a repeat.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for an invalid amount, reason or key; [`Refusal::Cash`] if the session is
    /// closed, the drawer holds less, or the key was used for another amount or reason;
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails: call again with the same key.
    pub async fn pay_in_or_out(
        &self,
        by: By,
        session: CashSessionId,
        cash_move: CashMove,
    ) -> Result<(XReport, bool), Failure> {
        let CashMove { is_in, amount: cents, reason, request } = cash_move;
        let entry = NewCashEntry {
            kind: if is_in { CashKind::PaidIn } else { CashKind::PaidOut },
            amount: amount(cents, 1, "cash amount")?,
            order: None,
            reason: validate_reason(clean_text::line(&reason))?,
            by: by.user()?,
            request: Some(check_idempotency_key(request)?),
        };
        let action = AuditedAction {
            action: if is_in { "cash.in" } else { "cash.out" },
            subject: format!("cash session {session}"),
            detail: json!({ "amount": entry.amount, "reason": entry.reason }),
        };
        let cash = self.cash();
        let (session, is_repeat) = run_audited(&self.audit, by, action, async move {
            match cash.add(session, &entry, by.at).await? {
                CashAddOutcome::Added(session) => Ok((session, false)),
                CashAddOutcome::Repeat(session) => Ok((session, true)),
                CashAddOutcome::KeyUsed => Err(Refusal::Cash(CashRefusal::KeyUsed).into()),
                CashAddOutcome::Limit(limit) => Err(Refusal::Cash(limit.into()).into()),
                CashAddOutcome::Closed(number) => Err(Refusal::Cash(CashRefusal::Closed(number)).into()),
                CashAddOutcome::Unknown => Err(Refusal::NotFound("cash session").into()),
            }
        })
        .await?;
        Ok((self.x_of(session).await?, is_repeat))
    }

    /// Closes a session with a Z report. A repeat with the same key returns the report again. Returns whether
    /// the call is a repeat.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for an invalid amount or key; [`Refusal::Cash`] if another call closed the
    /// session, or the drawer has to hold another amount by now; [`Refusal::NotFound`]; [`Failure::Store`] if
    /// the store fails: call again with the same key.
    pub async fn close(
        &self,
        by: By,
        session: CashSessionId,
        count: DrawerCount,
    ) -> Result<(ZReport, bool), Failure> {
        let count = CashCount {
            counted: amount(count.counted, 0, "counted")?,
            expected: amount(count.expected, 0, "expected")?,
            by: by.user()?,
            request: check_idempotency_key(count.request)?,
        };
        let action = AuditedAction {
            action: "cash.close",
            subject: format!("cash session {session}"),
            detail: json!({ "counted": count.counted, "expected": count.expected }),
        };
        let cash = self.cash();
        let (report, is_repeat) = run_audited(&self.audit, by, action, async move {
            let refused = match cash.close(session, &count, by.at).await? {
                CloseCashOutcome::Closed(report) => return Ok((report, false)),
                CloseCashOutcome::Repeat(report) => return Ok((report, true)),
                CloseCashOutcome::ClosedBefore(number) => Refusal::Cash(CashRefusal::Closed(number)),
                CloseCashOutcome::Changed(expected) => Refusal::Cash(CashRefusal::Changed(expected)),
                CloseCashOutcome::Unknown => Refusal::NotFound("cash session"),
            };
            Err(refused.into())
        })
        .await?;
        Ok((self.z_of(report).await?, is_repeat))
    }

    /// Returns a page of Z reports, newest first: those below `before`, if given.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn reports(&self, before: Option<u64>) -> Result<ZReportPage, Failure> {
        let mut page = ZReportPage::default();
        let reports = self.cash().reports(before, Self::PAGE).await?;
        let is_full = reports.len() as u64 == u64::from(Self::PAGE);
        page.next_before = reports.last().map(number_of_report).filter(|_| is_full);
        for report in reports {
            match report {
                Ok(report) => page.reports.push(self.z_of(report).await?),
                Err(bad) => page.unreadable.push(bad.number),
            }
        }
        Ok(page)
    }

    /// Returns a Z report.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails or the report was changed.
    pub async fn report(&self, number: u64) -> Result<ZReport, Failure> {
        let newest = self.cash().reports(number.checked_add(1), 1).await?;
        match newest.into_iter().next() {
            Some(Ok(report)) if report.number == number => self.z_of(report).await,
            Some(Err(bad)) if bad.number == number => {
                Err(StoreError::Corrupt { op: "Z report", key: bad.to_string() }.into())
            }
            _ => Err(Refusal::NotFound("Z report").into()),
        }
    }

    fn cash(&self) -> Arc<dyn CashSessions> {
        Arc::clone(&self.context.storage.selling.cash)
    }

    async fn x_of(&self, session: CashSession) -> Result<XReport, Failure> {
        let mut moves = self.moves(session.id).await?;
        // Entries made since the session was read: the sums are without them.
        moves.retain(|entry| entry.number <= session.totals.count());
        let names = self.names(&moves, [session.opened_by]).await?;
        Ok(XReport { session, moves, names })
    }

    async fn z_of(&self, report: CashReport) -> Result<ZReport, Failure> {
        let moves = self.moves(report.session.id).await?;
        let names = self.names(&moves, [report.session.opened_by, report.closed_by]).await?;
        Ok(ZReport { report, moves, names })
    }

    async fn moves(&self, session: CashSessionId) -> Result<Vec<CashEntry>, StoreError> {
        let max = u32::try_from(CASH_MOVES_MAX).unwrap_or(u32::MAX);
        self.cash().entries(session, true, 0, max).await
    }

    async fn names<const N: usize>(
        &self,
        moves: &[CashEntry],
        others: [UserId; N],
    ) -> Result<Names, Failure> {
        let mut users: Vec<UserId> = moves.iter().map(|entry| entry.by).chain(others).collect();
        users.sort_unstable();
        users.dedup();
        let (accounts, staff): (Vec<_>, Vec<_>) = users.into_iter().partition(|user| user.is_account());
        let found = self.context.storage.people.users.those(&accounts).await?;
        let mut names: Names = found.into_iter().map(|user| (user.id, user.nick_name)).collect();
        if !staff.is_empty() {
            let list = self.context.staff().await?;
            names.extend(staff.into_iter().filter_map(|user| Some((user, list.name(user)?.to_owned()))));
        }
        Ok(names)
    }
}

/// Returns the drawer of a till; without a name, of the till `1`.
pub(super) fn drawer(by: By, till: Option<&str>) -> Result<CashDrawer, Failure> {
    let till = till.map_or_else(|| Some(TillName::default()), TillName::parse);
    Ok(CashDrawer { till: till.ok_or(Refusal::BadValue("till"))?, by: by.user()? })
}

fn amount(cents: i64, min: i64, name: &'static str) -> Result<Cents, Refusal> {
    let is_fit = (min..=CASH_MAX.get()).contains(&cents);
    is_fit.then(|| Cents::new(cents)).ok_or(Refusal::BadValue(name))
}
