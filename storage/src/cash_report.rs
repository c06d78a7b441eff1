//! Z reports: the end of a cash session, as one text with a digest.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{CashSession, Cents, Timestamp, UserId, hex};

/// A Z report: a closed session with its count. Never changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CashReport {
    /// Number of the report: 1, 2, 3 and so on, without a gap, for all tills of the mall together.
    pub number: u64,
    /// The session as it was closed.
    pub session: CashSession,
    /// Time of the closing.
    pub closed: Timestamp,
    /// User who closed the session.
    pub closed_by: UserId,
    /// Cash that the drawer had to hold, in cents.
    pub expected: Cents,
    /// Cash counted, in cents.
    pub counted: Cents,
}

/// A report as it was read.
pub type StoredCashReport = Result<CashReport, UnreadableCashReport>;

/// A stored Z report that is unreadable or does not match its digest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("Z report {number} does not match its digest")]
pub struct UnreadableCashReport {
    /// Number of the report.
    pub number: u64,
}

/// Returns the number of a report, readable or not.
#[must_use]
pub fn number_of_report(report: &StoredCashReport) -> u64 {
    report.as_ref().map_or_else(|bad| bad.number, |report| report.number)
}

/// Action of the audit log's entry about a Z report.
pub const CASH_REPORT_ACTION: &str = "cash.report";

/// Detail of the audit log's entry about a Z report.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CashReportDetail {
    /// Number of the report.
    pub number: u64,
    /// Digest of the report, in hexadecimal digits.
    pub digest: String,
}

impl CashReport {
    /// Returns counted − expected, in cents: negative if cash is missing. Ends at the limits of its type.
    #[must_use]
    pub fn difference(&self) -> Cents {
        Cents::new(self.counted.get().saturating_sub(self.expected.get()))
    }

    /// Returns the stored form: a JSON text.
    ///
    /// # Panics
    /// Never: numbers and texts can always be written as JSON.
    #[must_use]
    pub fn body(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts can always be written as JSON")
    }

    /// Returns the digest: SHA-256 over `mallbox cash report 1` and the [stored form](Self::body).
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        digest_of(&self.body())
    }

    /// Reads the stored form. `None` if the form has another number or digest, or is unreadable.
    #[must_use]
    pub fn of_body(number: u64, body: &str, digest: &[u8]) -> Option<Self> {
        let report: Self = serde_json::from_str(body).ok()?;
        (report.number == number && digest_of(body) == digest).then_some(report)
    }

    /// Returns subject and detail of the audit log's entry about this report.
    #[must_use]
    pub fn audit_text(&self) -> (String, String) {
        let detail = CashReportDetail { number: self.number, digest: hex(&self.digest()) };
        let detail = serde_json::json!(detail).to_string();
        (format!("Z report {}", self.number), detail)
    }
}

fn digest_of(body: &str) -> [u8; 32] {
    Sha256::new_with_prefix(b"mallbox cash report 1").chain_update(body).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CashSessionId, CashTotals, TillName};

    fn report() -> CashReport {
        let at = Timestamp::from_millis(1_795_262_400_000);
        let session = CashSession {
            id: CashSessionId::new(7),
            till: TillName::parse("收银台").unwrap(),
            opened: at,
            opened_by: UserId::new(1),
            float: Cents::new(10_000),
            totals: CashTotals::default(),
            first_payment: None,
            last_payment: Some(at),
            head: [0xa5; 32],
        };
        let (expected, counted) = (Cents::new(10_000), Cents::new(9_950));
        CashReport { number: 3, session, closed: at, closed_by: UserId::new(2), expected, counted }
    }

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let report = report();
        assert_eq!(report.difference(), Cents::new(-50));
        assert_eq!(CashReport::of_body(3, &report.body(), &report.digest()), Some(report));
    }

    /// A released form of a report stays readable: the database keeps reports for years.
    #[test]
    fn the_stored_form_and_its_digest_stay() {
        let body = r#"{"number":3,"session":{"id":7,"till":"收银台","opened":1795262400000,"openedBy":1,"float":10000,"totals":{"sales":0,"saleCount":0,"refunds":0,"refundCount":0,"paidIn":0,"paidInCount":0,"paidOut":0,"paidOutCount":0},"firstPayment":null,"lastPayment":1795262400000,"head":"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5"},"closed":1795262400000,"closedBy":2,"expected":10000,"counted":9950}"#;
        assert_eq!(report().body(), body);
        let outside = Sha256::digest(format!("mallbox cash report 1{body}"));
        assert_eq!(report().digest(), outside.as_slice());
    }

    #[test]
    fn a_changed_report_is_unreadable() {
        let report = report();
        let (body, digest) = (report.body(), report.digest());
        assert_eq!(CashReport::of_body(4, &body, &digest), None);
        assert_eq!(CashReport::of_body(3, &body.replace("9950", "9990"), &digest), None);
        assert_eq!(CashReport::of_body(3, &body, &[0; 32]), None);
        assert_eq!(CashReport::of_body(3, "{}", &digest_of("{}")), None);
    }
}
