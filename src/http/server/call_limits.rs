//! Limits on the size and duration of a request: equal for all calls except uploads, batches of claims,
//! printing and the verification of the audit log.

use std::time::Duration;

use axum::http::Method;

use crate::http::request::extract::FORM_MAX_BYTES;
use crate::mall::operator::printing::{JOB_TIMEOUT, TURN_TIMEOUT};
use crate::mall::writing::pictures;

/// Time limit of a call. Pages give up after 2 s; an earlier error response is better than none.
pub const CALL_TIMEOUT: Duration = Duration::from_millis(1_500);
/// Path of the call that uploads a picture, below the API's prefix.
pub(in crate::http) const UPLOAD_PATH: &str = "/upload/blog";
/// Path of the call that verifies the audit log, below the API's prefix.
pub(in crate::http) const VERIFY_AUDIT_LOG: &str = "/ops/audit/verify";
/// Path of the call that makes a batch of claims, below the API's prefix.
pub(in crate::http) const CLAIM_BATCH: &str = "/voucher-order/seckill/batch";
/// Path of the call that prints a test page, below the API's prefix.
pub(in crate::http) const PRINT_TEST_PAGE: &str = "/ops/printer/test";
/// Bytes of a multipart form around the file itself.
const MULTIPART_OVERHEAD_BYTES: usize = 64 << 10;
/// Time to send a picture over a phone's connection.
const UPLOAD_EXTRA_TIME: Duration = Duration::from_secs(10);
/// A batch of 500 claims waits for two writes of the database and some group commits; a repeat also waits for
/// the run before, four seconds at most.
const BATCH_EXTRA_TIME: Duration = Duration::from_millis(8_500);
/// Verification reads and hashes every entry of the audit log, over any number of years.
const AUDIT_EXTRA_TIME: Duration = Duration::from_secs(60);

/// A job may wait for another one, and printers are slow.
const PRINT_EXTRA_TIME: Duration = TURN_TIMEOUT.saturating_add(JOB_TIMEOUT);

/// Size and time limits of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::http) struct CallLimits {
    /// Maximum size of the body, in bytes.
    pub(in crate::http) body: usize,
    /// Time for the body to arrive, in addition to the usual limit of a call.
    pub(in crate::http) arrival: Duration,
    /// Time for the work, in addition to the usual limit of a call.
    pub(in crate::http) work: Duration,
}

impl CallLimits {
    /// Returns the limits of a page or of a call, by its path below the API's prefix.
    pub(in crate::http) fn of(method: &Method, path: &str) -> Self {
        let usual = Self { body: FORM_MAX_BYTES, arrival: Duration::ZERO, work: Duration::ZERO };
        match (method, path) {
            (&Method::POST, UPLOAD_PATH) => Self {
                body: pictures::UPLOAD_MAX_BYTES + MULTIPART_OVERHEAD_BYTES,
                arrival: UPLOAD_EXTRA_TIME,
                ..usual
            },
            (&Method::POST, CLAIM_BATCH) => Self { work: BATCH_EXTRA_TIME, ..usual },
            (&Method::POST, path) if path == PRINT_TEST_PAGE || is_receipt(path) => {
                Self { work: PRINT_EXTRA_TIME, ..usual }
            }
            (&Method::GET, VERIFY_AUDIT_LOG) => Self { work: AUDIT_EXTRA_TIME, ..usual },
            _ => usual,
        }
    }
}

/// Returns whether a path is that of the call that prints the receipt of an order.
fn is_receipt(path: &str) -> bool {
    path.strip_prefix("/ops/orders/").is_some_and(|rest| rest.ends_with("/print"))
}
