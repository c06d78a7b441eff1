//! Check of the cash books: Z reports are numbered without gaps, agree with the entries of their sessions,
//! and stand in the audit log with their digests.
//!
//! [`RowCheck`](mallbox_storage::RowCheck) compares sessions with their entries, and entries with orders.

use std::collections::{BTreeMap, BTreeSet};

use mallbox_storage::{
    CASH_REPORT_ACTION, CashReport, CashReportDetail, CashSession, Storage, StoreError, hex, number_of_report,
};

use super::code::Code;
use super::object::{Kind, Object};
use super::report::{Finding, Report};

/// Reports, entries of sessions, and entries of the audit log read at once.
const PAGE: u32 = 500;

/// Digests of the stored reports by number; `None` for an unreadable report.
type Digests = BTreeMap<u64, Option<String>>;

/// Checks all sessions and reports.
pub(super) async fn verify(storage: &Storage, report: &mut Report) -> Result<(), StoreError> {
    let digests = check_reports(storage, report).await?;
    for session in storage.selling.cash.open_sessions().await? {
        let head = head_of(storage, &session).await?;
        check_head(&session, head, Object::new(Kind::CashSession, session.id), report);
    }
    check_audit_log(storage, &digests, report).await
}

async fn check_reports(storage: &Storage, report: &mut Report) -> Result<Digests, StoreError> {
    let mut digests = Digests::new();
    let mut above = None;
    loop {
        let page = storage.selling.cash.reports(above, PAGE).await?;
        if page.is_empty() {
            break;
        }
        for one in page {
            let number = number_of_report(&one);
            if let Some(above) = above {
                missing(report, number.saturating_add(1), above);
            }
            above = Some(number);
            match one {
                Ok(one) => {
                    check_report(storage, &one, report).await?;
                    digests.insert(number, Some(hex(&one.digest())));
                }
                Err(bad) => {
                    let expected = "a report that matches its digest";
                    report.find(Finding::new(Code::CashReport, z_report(number), expected, bad));
                    digests.insert(number, None);
                }
            }
        }
    }
    missing(report, 1, above.unwrap_or(1));
    Ok(digests)
}

/// Reports a gap of the numbers from `first` to below `end`, as one finding: a planted number leaves a gap of
/// any length.
fn missing(report: &mut Report, first: u64, end: u64) {
    let last = end.saturating_sub(1);
    if first <= last {
        let expected =
            if first == last { "a report".to_owned() } else { format!("reports {first} to {last}") };
        report.find(Finding::new(Code::CashReport, z_report(first), expected, "none"));
    }
}

fn z_report(number: u64) -> Object {
    Object::new(Kind::CashReport, number)
}

/// Compares a report with the entries of its session.
async fn check_report(storage: &Storage, one: &CashReport, report: &mut Report) -> Result<(), StoreError> {
    let computed = one.session.expected();
    if computed != one.expected {
        let expected = format!("{computed} cents expected, as its sums say");
        report.find(Finding::new(Code::CashReport, z_report(one.number), expected, one.expected));
    }
    let head = head_of(storage, &one.session).await?;
    check_head(&one.session, head, z_report(one.number), report);
    Ok(())
}

fn check_head(session: &CashSession, found: [u8; 32], object: Object, report: &mut Report) {
    if found != session.head {
        let expected = format!("{} entries with the hash {}", session.totals.count(), hex(&session.head));
        report.find(Finding::new(Code::CashReport, object, expected, hex(&found)));
    }
}

/// Computes the hash of the session's entries: those that the session counts, for a running session gets
/// further ones.
async fn head_of(storage: &Storage, session: &CashSession) -> Result<[u8; 32], StoreError> {
    let (mut head, mut after) = (session.opening_hash(), 0);
    loop {
        let page = match storage.selling.cash.entries(session.id, false, after, PAGE).await {
            // A value that no mall writes: the row check names the row.
            Err(StoreError::Corrupt { .. }) => return Ok(head),
            page => page?,
        };
        let Some(last) = page.last() else { return Ok(head) };
        after = last.number;
        for entry in page.into_iter().filter(|entry| entry.number <= session.totals.count()) {
            head = entry.hash_after(&head);
        }
    }
}

/// Compares the reports with their entries in the audit log. A report written meanwhile is read once more.
async fn check_audit_log(
    storage: &Storage,
    digests: &Digests,
    report: &mut Report,
) -> Result<(), StoreError> {
    let mut logged = BTreeSet::new();
    let mut before = None;
    loop {
        let page = match storage.operator.audit.page(before, PAGE).await {
            // The check of the chain names the entry.
            Err(StoreError::Corrupt { .. }) => return Ok(()),
            page => page?,
        };
        let Some(last) = page.last() else { break };
        before = Some(last.number);
        for entry in page.iter().filter(|entry| entry.action == CASH_REPORT_ACTION) {
            let detail: Option<CashReportDetail> = serde_json::from_str(&entry.detail).ok();
            let Some(CashReportDetail { number, digest }) = detail else { continue };
            let stored = match digests.get(&number) {
                // An unreadable report is a finding already.
                Some(None) => Some(digest.clone()),
                Some(stored) => stored.clone(),
                None => digest_now(storage, number).await?,
            };
            if stored.as_ref() != Some(&digest) {
                let found = stored.unwrap_or_else(|| "no report".to_owned());
                let expected = format!("the digest {digest} of audit entry {}", entry.number);
                report.find(Finding::new(Code::CashReport, z_report(number), expected, found));
            }
            logged.insert(number);
        }
    }
    for number in digests.keys().filter(|number| !logged.contains(number)) {
        report.find(Finding::new(Code::CashReport, z_report(*number), "an entry in the audit log", "none"));
    }
    Ok(())
}

async fn digest_now(storage: &Storage, number: u64) -> Result<Option<String>, StoreError> {
    let newest = storage.selling.cash.reports(number.checked_add(1), 1).await?;
    Ok(newest.into_iter().flatten().find(|one| one.number == number).map(|one| hex(&one.digest())))
}
