//! Check of the cash books: Z reports are numbered without gaps, agree with the entries of their sessions,
//! and stand in the audit log with their digests.
//!
//! [`RowCheck`](mallbox_storage::RowCheck) compares sessions with their entries, and entries with orders.

use std::collections::{BTreeMap, BTreeSet};

use mallbox_storage::{
    CASH_REPORT_ACTION, CashReport, CashReportDetail, CashSession, Storage, StoreError, hex,
};

use super::code::Code;
use super::object::{Kind, Object};
use super::report::{Finding, Report};

/// Reports, entries of sessions, and entries of the audit log read at once.
const PAGE: u32 = 500;

/// Checks all sessions and reports.
pub(super) async fn verify(storage: &Storage, report: &mut Report) -> Result<(), StoreError> {
    let mut digests = BTreeMap::new();
    let mut next = None;
    loop {
        let page = match storage.selling.cash.reports(next, PAGE).await {
            Err(StoreError::Corrupt { key, .. }) => {
                let object = Object::new(Kind::Table, "cash_reports");
                report.find(Finding::new(Code::CashReport, object, "reports that match their digests", key));
                return Ok(());
            }
            page => page?,
        };
        let Some(last) = page.last() else { break };
        let lowest = last.number;
        for one in page {
            let gap = next.map_or(0..0, |next| one.number + 1..next);
            gap.for_each(|number| missing(report, number));
            next = Some(one.number);
            check_report(storage, &one, report).await?;
            digests.insert(one.number, hex(&one.digest()));
        }
        next = Some(lowest);
    }
    (1..next.unwrap_or(1)).for_each(|number| missing(report, number));
    for session in storage.selling.cash.open_sessions().await? {
        let head = head_of(storage, &session).await?;
        check_head(&session, head, Object::new(Kind::CashSession, session.id), report);
    }
    check_audit_log(storage, &digests, report).await
}

fn missing(report: &mut Report, number: u64) {
    report.find(Finding::new(Code::CashReport, z_report(number), "a report", "none"));
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
    let (mut head, mut after) = (CashSession::GENESIS_HASH, 0);
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
    digests: &BTreeMap<u64, String>,
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
                Some(stored) => Some(stored.clone()),
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
    Ok(newest.into_iter().find(|one| one.number == number).map(|one| hex(&one.digest())))
}
