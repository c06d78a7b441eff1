//! Signatures: HMAC-SHA-256 over time, method, path and body, separated by line feeds.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::http::Request;

const TOLERANCE_SECONDS: i64 = 300;

/// Returns the seconds since 1970, as a header's value.
#[expect(
    clippy::disallowed_methods,
    reason = "signatures have the machine's time, as other machines know it"
)]
pub(crate) fn now() -> String {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().to_string()
}

/// Returns the value of the signature's header.
pub(crate) fn sign(secret: &str, time: &str, method: &str, path: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{time}\n{method}\n{path}\n{body}").as_bytes());
    let code = mac.finalize().into_bytes();
    code.iter().fold("sha256=".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns whether the mall signed the request a moment ago.
pub(crate) fn is_fresh_and_right(secret: &str, request: &Request) -> bool {
    let (Some(time), Some(code)) =
        (request.header("x-mallbox-timestamp"), request.header("x-mallbox-signature"))
    else {
        return false;
    };
    let age = |sent: i64| now().parse::<i64>().unwrap().abs_diff(sent);
    let is_fresh = time.parse().is_ok_and(|sent| age(sent) <= TOLERANCE_SECONDS.unsigned_abs());
    // A gateway in earnest compares in constant time.
    is_fresh && sign(secret, time, &request.method, &request.path, &request.body) == code
}
