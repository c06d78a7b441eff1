//! How large a request may be, and how long it may take: the same for all but uploads, and what reads a whole log.

use std::time::Duration;

use axum::http::Method;

use super::extract::LARGEST_FORM;
use super::{ops, upload};
use crate::mall::pictures;

/// What a multipart form has around its file.
const AROUND_A_FILE: usize = 64 << 10;
/// A picture over a phone's connection.
const ARRIVAL_OF_A_FILE: Duration = Duration::from_secs(10);
/// Every entry of the audit log is read and hashed, however many years it holds.
const WORK_ON_A_LOG: Duration = Duration::from_secs(60);

/// What a call may bring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Allowance {
    /// Bytes of its body.
    pub(super) body: usize,
    /// The time for that to arrive, beside what a call may take.
    pub(super) arrival: Duration,
    /// The time for the work, beside what a call may take.
    pub(super) work: Duration,
}

impl Allowance {
    /// Of a call by its path below the API's prefix, or of a page.
    pub(super) fn of(method: &Method, path: &str) -> Self {
        let usual = Self { body: LARGEST_FORM, arrival: Duration::ZERO, work: Duration::ZERO };
        match (method, path) {
            (&Method::POST, upload::PATH) => {
                Self { body: pictures::LARGEST + AROUND_A_FILE, arrival: ARRIVAL_OF_A_FILE, ..usual }
            }
            (&Method::GET, ops::VERIFY_AUDIT_LOG) => Self { work: WORK_ON_A_LOG, ..usual },
            _ => usual,
        }
    }
}
