//! The stable codes of refusals.

/// All codes. `fixed!` rejects any other code at compile time.
pub(in crate::http) const CODES: &[&str] = &[
    "SOLD_OUT",
    "ALREADY_BOUGHT",
    "LIMIT_REACHED",
    "NOT_OPEN",
    "ENDED",
    "PAUSED",
    "UNKNOWN_SALE",
    "LEVEL_TOO_LOW",
    "ACCOUNT_TOO_NEW",
    "SMS_CODE_NEEDED",
    "PASS_REQUIRED",
    "CHALLENGE_AGAIN",
    "LOOKS_AUTOMATED",
    "NOT_GUARDED",
    "KIND_NOT_ALLOWED",
    "CHALLENGE_FAILED",
    "NO_CHALLENGE_SERVICE",
    "ADMISSION_REQUIRED",
    "CROWDED",
    "NO_WAITING_ROOM",
    "NO_WAITING_LIST",
    "WAITING_LIST_FULL",
    "UNITS_LEFT",
    "TOO_MANY_UNPAID",
    "PAID_ORDERS",
    "ORDER_STANDS",
    "ORDER_NOT_USED",
    "ALREADY_REVIEWED",
    "REVIEW_DIFFERS",
    "REVIEW_FOLDED",
    "OWN_REVIEW",
    "RECEIPT_MISTYPED",
    "PAYMENT_DECLINED",
    "PAY_AT_COUNTER",
    "REFUND_AT_COUNTER",
    "NOT_AT_COUNTER",
    "AMOUNT_DIFFERS",
    "BAD_SIGNATURE",
    "PAYMENT_DIFFERS",
    "BLOCKED",
    "CODE_LOGIN_NEEDED",
    "SECOND_FACTOR_REQUIRED",
    "SECOND_FACTOR_ENROLMENT_REQUIRED",
    "SECOND_FACTOR_STAYS",
    "SECOND_FACTOR_WRONG",
    "SECOND_FACTOR_USED",
    "FRESH_LOGIN_NEEDED",
    "LAST_OPERATOR",
    "UNLIMITED",
    "SALE_IS_ON",
    "SALE_CHANGED",
    "STILL_DEAD",
    "DEAD_LETTER_STANDS",
    "SIGNED_ALREADY",
    "MAKE_UPS_USED",
    "PICTURES_FULL",
    "GATEWAY_TOKEN_INVALID",
    "REQUEST_ID_REUSED",
    "SALE_NOT_GRANTED",
    "UNKNOWN_USER",
    "DUPLICATE_CLAIM",
    "GATEWAY_NAME_TAKEN",
    "GATEWAYS_FULL",
    "SUBSCRIBER_NAME_TAKEN",
    "SUBSCRIBERS_FULL",
    "NO_STREAMS",
    "WEBHOOK_URL",
    "PHONE_INVALID",
    "PHONE_TAKEN",
    "CODE_WRONG",
    "NO_CODE",
    "CODE_TOO_SOON",
    "CODES_SPENT",
    "PASSWORD_WRONG",
    "PASSWORD_GUESSABLE",
    "PASSWORD_LENGTH",
    "MISSING",
    "OUT_OF_RANGE",
    "ONESELF",
    "PICTURE_INVALID",
    "PICTURE_TOO_LARGE",
    "NOT_FOUND",
    "BAD_REQUEST",
    "NOT_LOGGED_IN",
    "FORBIDDEN",
    "METHOD_NOT_ALLOWED",
    "TOO_LARGE",
    "REQUEST_TIMEOUT",
    "BAD_HOST",
    "UNKNOWN_HOST",
    "CROSS_SITE",
    "RATE_LIMITED",
    "NOT_YET",
    "BUSY",
    "UNAVAILABLE",
    "DISK_FULL",
    "INTERNAL",
];

/// Returns whether the code is in [`CODES`]; evaluated at compile time.
pub(in crate::http) const fn is_code(code: &str) -> bool {
    let mut at = 0;
    while at < CODES.len() {
        if is_same(CODES[at].as_bytes(), code.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
