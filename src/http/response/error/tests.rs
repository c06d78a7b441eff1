//! Statuses, codes and texts of every failure.

use std::num::NonZeroU8;

use mallbox_storage::{Cents, DeadReason, DeadState, OrderId, ReviewId};

use super::*;
use crate::mall::base::judgement_rules::RulesError;
use crate::mall::base::{
    CashRefusal, ClockRefusal, GuardRefusal, PrinterRefusal, StaffRefusal, SubscriberRefusal, WaitingRefusal,
};

/// Returns status, `Retry-After` and body as received by a client in this language.
fn rendered(error: ApiError, l: Language) -> (u16, Option<String>, serde_json::Value) {
    let response = l.while_spoken(|| error.into_response());
    let wait = response.headers().get(RETRY_AFTER).map(|wait| wait.to_str().unwrap().to_owned());
    let status = response.status().as_u16();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let body = runtime.block_on(axum::body::to_bytes(response.into_body(), 10_000)).unwrap();
    (status, wait, serde_json::from_slice(&body).unwrap())
}

fn store(error: fn(&'static str) -> StoreError) -> ApiError {
    ApiError::from(error("x"))
}

/// Returns every kind of failure.
fn all() -> Vec<(ApiError, u16, &'static str)> {
    let crowded = Refusal::Crowded { retry_after: Duration::from_millis(10) };
    let limited = Refusal::RateLimited { retry_after: Duration::from_millis(1_001) };
    vec![
        (Refusal::SoldOut.into(), 200, "SOLD_OUT"),
        (Refusal::AlreadyBought(OrderId::new(662_319_245_210_910_723)).into(), 200, "ALREADY_BOUGHT"),
        (Refusal::LimitReached(NonZeroU8::MIN).into(), 200, "LIMIT_REACHED"),
        (Refusal::NotOpen.into(), 200, "NOT_OPEN"),
        (Refusal::Ended.into(), 200, "ENDED"),
        (Refusal::Paused.into(), 200, "PAUSED"),
        (Refusal::UnknownSale.into(), 200, "UNKNOWN_SALE"),
        (Refusal::LevelTooLow.into(), 200, "LEVEL_TOO_LOW"),
        (Refusal::AccountTooNew { old_enough_in: Duration::from_secs(61) }.into(), 200, "ACCOUNT_TOO_NEW"),
        (Refusal::SmsCodeNeeded.into(), 200, "SMS_CODE_NEEDED"),
        (Refusal::Guard(GuardRefusal::PassRequired).into(), 200, "PASS_REQUIRED"),
        (Refusal::Guard(GuardRefusal::ChallengeAgain).into(), 200, "CHALLENGE_AGAIN"),
        (Refusal::LooksAutomated.into(), 200, "LOOKS_AUTOMATED"),
        (Refusal::BadRules(RulesError::TooLong).into(), 400, "BAD_REQUEST"),
        (Refusal::Guard(GuardRefusal::NotGuarded).into(), 200, "NOT_GUARDED"),
        (Refusal::Guard(GuardRefusal::KindNotAllowed).into(), 200, "KIND_NOT_ALLOWED"),
        (Refusal::Guard(GuardRefusal::ChallengeFailed).into(), 200, "CHALLENGE_FAILED"),
        (Refusal::Guard(GuardRefusal::ServiceAway).into(), 200, "CHALLENGE_FAILED"),
        (Refusal::Guard(GuardRefusal::NoService).into(), 200, "NO_CHALLENGE_SERVICE"),
        (Refusal::Guard(GuardRefusal::AdmissionRequired).into(), 200, "ADMISSION_REQUIRED"),
        (Refusal::Guard(GuardRefusal::NoRoom).into(), 200, "NO_WAITING_ROOM"),
        (Refusal::WaitingList(WaitingRefusal::NoList).into(), 200, "NO_WAITING_LIST"),
        (Refusal::WaitingList(WaitingRefusal::Full).into(), 200, "WAITING_LIST_FULL"),
        (Refusal::WaitingList(WaitingRefusal::UnitsLeft).into(), 200, "UNITS_LEFT"),
        (Refusal::Guard(GuardRefusal::TooEarly { pass_in: Duration::from_secs(61) }).into(), 200, "NOT_OPEN"),
        (Refusal::NotFound("shop").into(), 200, "NOT_FOUND"),
        (Refusal::NotLoggedIn.into(), 401, "NOT_LOGGED_IN"),
        (Refusal::Forbidden.into(), 403, "FORBIDDEN"),
        (Refusal::SoldInSale.into(), 400, "BAD_REQUEST"),
        (Refusal::SaleIsOn.into(), 200, "SALE_IS_ON"),
        (Refusal::SaleChanged.into(), 200, "SALE_CHANGED"),
        (ApiError::bad_request(BadRequest::Untranslated("\"quoted\"\n".to_owned())), 400, "BAD_REQUEST"),
        (Refusal::Blocked.into(), 200, "BLOCKED"),
        (Refusal::PhoneTaken.into(), 200, "PHONE_TAKEN"),
        (Refusal::CodeLoginNeeded.into(), 200, "CODE_LOGIN_NEEDED"),
        (Refusal::SecondFactor(FactorRefusal::Required).into(), 403, "SECOND_FACTOR_REQUIRED"),
        (
            Refusal::SecondFactor(FactorRefusal::EnrolmentRequired).into(),
            403,
            "SECOND_FACTOR_ENROLMENT_REQUIRED",
        ),
        (Refusal::SecondFactor(FactorRefusal::Stays).into(), 200, "SECOND_FACTOR_STAYS"),
        (Refusal::SecondFactor(FactorRefusal::FreshLogInNeeded).into(), 200, "FRESH_LOGIN_NEEDED"),
        (Refusal::LastOperator.into(), 200, "LAST_OPERATOR"),
        (Refusal::BadValue("add").into(), 400, "BAD_REQUEST"),
        (Refusal::Unlimited.into(), 200, "UNLIMITED"),
        (Refusal::StillDead(DeadReason::Double, String::new()).into(), 200, "STILL_DEAD"),
        (Refusal::StillDead(DeadReason::Oversold, String::new()).into(), 200, "STILL_DEAD"),
        (Refusal::StillDead(DeadReason::IdClash, String::new()).into(), 200, "STILL_DEAD"),
        (Refusal::StillDead(DeadReason::Refused, "words".to_owned()).into(), 200, "STILL_DEAD"),
        (Refusal::DeadLetterStands(DeadState::Replayed).into(), 200, "DEAD_LETTER_STANDS"),
        (Refusal::DeadLetterStands(DeadState::Voided).into(), 200, "DEAD_LETTER_STANDS"),
        (limited.into(), 429, "RATE_LIMITED"),
        (crowded.into(), 429, "CROWDED"),
        (Refusal::NotYet.into(), 503, "NOT_YET"),
        (Refusal::TooManyUnpaid(20).into(), 200, "TOO_MANY_UNPAID"),
        (Refusal::PaidOrders(2).into(), 200, "PAID_ORDERS"),
        (Refusal::OrderStands(4).into(), 200, "ORDER_STANDS"),
        (Refusal::ReceiptMistyped.into(), 200, "RECEIPT_MISTYPED"),
        (Refusal::OrderStands(99).into(), 200, "ORDER_STANDS"),
        (Refusal::OrderNotUsed.into(), 200, "ORDER_NOT_USED"),
        (Refusal::AlreadyReviewed(ReviewId::new(1)).into(), 200, "ALREADY_REVIEWED"),
        (Refusal::ReviewDiffers(ReviewId::new(1)).into(), 200, "REVIEW_DIFFERS"),
        (Refusal::ReviewFolded.into(), 200, "REVIEW_FOLDED"),
        (Refusal::OwnReview.into(), 200, "OWN_REVIEW"),
        (Refusal::SignedAlready.into(), 200, "SIGNED_ALREADY"),
        (Refusal::MakeUpsUsed(3).into(), 200, "MAKE_UPS_USED"),
        (Refusal::PicturesFull(9).into(), 200, "PICTURES_FULL"),
        (Refusal::PictureBytesFull(1 << 20).into(), 200, "PICTURES_FULL"),
        (Refusal::Subscriber(SubscriberRefusal::NameTaken).into(), 200, "SUBSCRIBER_NAME_TAKEN"),
        (Refusal::Subscriber(SubscriberRefusal::TooMany(20)).into(), 200, "SUBSCRIBERS_FULL"),
        (Refusal::Subscriber(SubscriberRefusal::NoStreams).into(), 200, "NO_STREAMS"),
        (Refusal::Subscriber(SubscriberRefusal::Url).into(), 200, "WEBHOOK_URL"),
        (Refusal::ClaimGateway(ClaimGatewayRefusal::TokenInvalid).into(), 401, "GATEWAY_TOKEN_INVALID"),
        (Refusal::ClaimGateway(ClaimGatewayRefusal::ClaimsDiffer).into(), 409, "REQUEST_ID_REUSED"),
        (Refusal::ClaimGateway(ClaimGatewayRefusal::SaleNotNamed).into(), 200, "SALE_NOT_GRANTED"),
        (Refusal::ClaimGateway(ClaimGatewayRefusal::UnknownUser).into(), 200, "UNKNOWN_USER"),
        (Refusal::ClaimGateway(ClaimGatewayRefusal::DuplicateClaim).into(), 200, "DUPLICATE_CLAIM"),
        (Refusal::ClaimGateway(ClaimGatewayRefusal::NameTaken).into(), 200, "GATEWAY_NAME_TAKEN"),
        (Refusal::ClaimGateway(ClaimGatewayRefusal::TooMany(100)).into(), 200, "GATEWAYS_FULL"),
        (Refusal::Staff(StaffRefusal::UnknownKiosk).into(), 200, "KIOSK_UNKNOWN"),
        (Refusal::Staff(StaffRefusal::WrongPin).into(), 200, "PIN_WRONG"),
        (Refusal::Staff(StaffRefusal::PinForm).into(), 200, "PIN_FORM"),
        (Refusal::Staff(StaffRefusal::PinGuessable).into(), 200, "PIN_GUESSABLE"),
        (Refusal::Staff(StaffRefusal::PinTaken).into(), 200, "PIN_TAKEN"),
        (Refusal::Staff(StaffRefusal::NameTaken).into(), 200, "STAFF_NAME_TAKEN"),
        (Refusal::Staff(StaffRefusal::TooMany(100)).into(), 200, "STAFF_FULL"),
        (Refusal::Staff(StaffRefusal::SaleDiffers).into(), 200, "REQUEST_ID_REUSED"),
        (Refusal::Staff(StaffRefusal::NoCounterCodes).into(), 200, "COUNTER_CODES_OFF"),
        (Refusal::Staff(StaffRefusal::CodeOfOperator).into(), 200, "OPERATOR_PHONE"),
        (Refusal::Printer(PrinterRefusal::NoPrinter).into(), 200, "NO_PRINTER"),
        (Refusal::Printer(PrinterRefusal::Busy).into(), 200, "PRINTER_BUSY"),
        (Refusal::Printer(PrinterRefusal::Refused).into(), 200, "PRINTER_REFUSED"),
        (Refusal::Printer(PrinterRefusal::Silent).into(), 200, "PRINTER_SILENT"),
        (Refusal::Printer(PrinterRefusal::Slow).into(), 200, "PRINTER_SLOW"),
        (Refusal::Printer(PrinterRefusal::Closed).into(), 200, "PRINTER_CLOSED"),
        (Refusal::Printer(PrinterRefusal::NoDevice).into(), 200, "PRINTER_MISSING"),
        (Refusal::Printer(PrinterRefusal::NoPermission).into(), 200, "PRINTER_FORBIDDEN"),
        (Refusal::Printer(PrinterRefusal::Full).into(), 200, "PRINTER_FULL"),
        (Refusal::Printer(PrinterRefusal::OutOfPaper).into(), 200, "PRINTER_OUT_OF_PAPER"),
        (Refusal::Printer(PrinterRefusal::CoverOpen).into(), 200, "PRINTER_COVER_OPEN"),
        (Refusal::Printer(PrinterRefusal::Failed).into(), 200, "PRINTER_FAILED"),
        (Refusal::Clock(ClockRefusal::Unsure).into(), 503, "CLOCK_UNSURE"),
        (Refusal::Clock(ClockRefusal::Moved).into(), 200, "CLOCK_MOVED"),
        (Refusal::Clock(ClockRefusal::BeforeRelease).into(), 200, "CLOCK_IMPOSSIBLE"),
        (Refusal::PaymentDeclined.into(), 200, "PAYMENT_DECLINED"),
        (Refusal::PayAtCounter.into(), 200, "PAY_AT_COUNTER"),
        (Refusal::RefundAtCounter.into(), 200, "REFUND_AT_COUNTER"),
        (Refusal::NotAtCounter.into(), 200, "NOT_AT_COUNTER"),
        (Refusal::AmountDiffers(Cents::new(4_705)).into(), 200, "AMOUNT_DIFFERS"),
        (Refusal::Cash(CashRefusal::NoSession).into(), 200, "CASH_NO_SESSION"),
        (Refusal::Cash(CashRefusal::SessionOpen).into(), 200, "CASH_SESSION_OPEN"),
        (Refusal::Cash(CashRefusal::TillsFull(8)).into(), 200, "CASH_TILLS_FULL"),
        (Refusal::Cash(CashRefusal::Short(Cents::new(4_705))).into(), 200, "CASH_SHORT"),
        (Refusal::Cash(CashRefusal::TooMuch).into(), 200, "CASH_TOO_MUCH"),
        (Refusal::Cash(CashRefusal::TooManyMoves(200)).into(), 200, "CASH_MOVES_FULL"),
        (Refusal::Cash(CashRefusal::KeyUsed).into(), 200, "CASH_KEY_USED"),
        (Refusal::Cash(CashRefusal::Changed(Cents::new(4_705))).into(), 200, "CASH_CHANGED"),
        (Refusal::Cash(CashRefusal::Closed(7)).into(), 200, "CASH_SESSION_CLOSED"),
        (Refusal::Callback(CallbackError::Signature).into(), 401, "BAD_SIGNATURE"),
        (Refusal::Callback(CallbackError::Malformed).into(), 400, "BAD_REQUEST"),
        (Refusal::Callback(CallbackError::Unknown).into(), 404, "NOT_FOUND"),
        (Refusal::Callback(CallbackError::Differs).into(), 409, "PAYMENT_DIFFERS"),
        (Refusal::Callback(CallbackError::NotDurable).into(), 503, "BUSY"),
        (Refusal::Busy.into(), 503, "BUSY"),
        (InputError::Phone.into(), 200, "PHONE_INVALID"),
        (InputError::Code.into(), 200, "CODE_WRONG"),
        (InputError::NoCode.into(), 200, "NO_CODE"),
        (InputError::OldCode.into(), 200, "CODE_WRONG"),
        (InputError::NoOldCode.into(), 200, "NO_CODE"),
        (InputError::FactorCode.into(), 200, "SECOND_FACTOR_WRONG"),
        (InputError::FactorCodeUsed.into(), 200, "SECOND_FACTOR_USED"),
        (InputError::Password.into(), 200, "PASSWORD_WRONG"),
        (InputError::OldPassword.into(), 200, "PASSWORD_WRONG"),
        (InputError::PasswordLength.into(), 200, "PASSWORD_LENGTH"),
        (InputError::PasswordGuessable.into(), 200, "PASSWORD_GUESSABLE"),
        (InputError::CodeTooSoon(7).into(), 200, "CODE_TOO_SOON"),
        (InputError::CodesSpent(7_201).into(), 200, "CODES_SPENT"),
        (Refusal::TooManyTries { retry_after: Duration::from_secs(120) }.into(), 429, "RATE_LIMITED"),
        (InputError::Missing("title").into(), 200, "MISSING"),
        (InputError::OutOfRange("stock").into(), 200, "OUT_OF_RANGE"),
        (InputError::NoPicture.into(), 200, "PICTURE_INVALID"),
        (InputError::TooManyPixels(32).into(), 200, "PICTURE_TOO_LARGE"),
        (InputError::Oneself.into(), 200, "ONESELF"),
        (store(|op| StoreError::Unavailable { op, source: "secret".into() }), 503, "UNAVAILABLE"),
        (store(|op| StoreError::Full { op, detail: "secret".into() }), 503, "DISK_FULL"),
        (store(|op| StoreError::Refused { op, source: "secret".into() }), 500, "INTERNAL"),
        (store(|op| StoreError::Corrupt { op, key: "secret".into() }), 500, "INTERNAL"),
        (ApiError::bug("secret"), 500, "INTERNAL"),
        (ApiError::unknown_path(), 404, "NOT_FOUND"),
        (ApiError::wrong_method(), 405, "METHOD_NOT_ALLOWED"),
        (ApiError::too_large(1 << 20), 413, "TOO_LARGE"),
        (ApiError::body_too_slow(), 408, "REQUEST_TIMEOUT"),
        (ApiError::bad_host(), 400, "BAD_HOST"),
        (ApiError::unknown_host("evil.example".to_owned()), 421, "UNKNOWN_HOST"),
        (ApiError::cross_site(), 403, "CROSS_SITE"),
        (ApiError::too_slow(), 503, "BUSY"),
    ]
}

#[test]
fn every_failure_has_its_status_its_code_and_words_in_both_languages() {
    for (error, want_status, code) in all() {
        let (status, wait, body) = rendered(error, Language::Zh);
        assert_eq!((status, &body["code"]), (want_status, &code.into()), "{body}");
        assert!(messages::is_code(code), "{code} is not in CODES");
        assert_eq!(body["success"], false);
        assert!(!body["errorMsg"].as_str().unwrap().is_ascii(), "{body}");
        assert_eq!(wait.is_some(), status == 503 || status == 429, "{body}");
        assert!(!body.to_string().contains("secret"), "{body}");
    }
    for (error, want_status, code) in all() {
        let (status, _, body) = rendered(error, Language::En);
        assert_eq!((status, &body["code"]), (want_status, &code.into()), "{body}");
        assert!(body["errorMsg"].as_str().unwrap().is_ascii(), "{body}");
    }
}

#[test]
fn the_parts_of_a_message_are_those_of_its_body() {
    for language in [Language::Zh, Language::En] {
        for (error, _, code) in all() {
            let parts = error.words(language).into_parts();
            let (_, _, body) = rendered(error, language);
            assert_eq!((parts.0, parts.1.as_str()), (code, body["errorMsg"].as_str().unwrap()));
        }
    }
}

#[test]
fn every_code_is_a_failures() {
    for code in messages::CODES {
        assert!(all().iter().any(|(_, _, of)| of == code), "nothing answers {code}");
    }
}

#[test]
fn already_bought_names_the_order_held() {
    let error = Refusal::AlreadyBought(OrderId::new(662_319_245_210_910_723));
    let (_, _, body) = rendered(error.into(), Language::Zh);
    assert_eq!(body["data"], 662_319_245_210_910_723_u64);
    assert_eq!(body["dataText"], "662319245210910723");
}

#[test]
fn a_refusal_names_the_field_if_two_have_the_same_code() {
    for (mistake, field) in [(InputError::Code, None), (InputError::OldCode, Some("oldCode"))] {
        let (_, _, body) = rendered(mistake.into(), Language::En);
        assert_eq!((&body["code"], body["field"].as_str()), (&"CODE_WRONG".into(), field), "{body}");
    }
}

#[test]
fn retry_after_is_rounded_up() {
    let limited = Refusal::RateLimited { retry_after: Duration::from_millis(1_001) };
    assert_eq!(rendered(limited.into(), Language::Zh).1.as_deref(), Some("2"));
    let limited = Refusal::RateLimited { retry_after: Duration::ZERO };
    assert_eq!(rendered(limited.into(), Language::Zh).1.as_deref(), Some("1"));
}

#[test]
fn a_time_to_wait_is_worded_in_a_fitting_unit() {
    for (seconds, zh, en) in [
        (1, "请1秒后", "in 1 s,"),
        (119, "请119秒后", "in 119 s,"),
        (120, "请2分钟后", "in 2 min,"),
        (121, "请3分钟后", "in 3 min,"),
        (7_199, "请120分钟后", "in 120 min,"),
        (7_201, "请3小时后", "in 3 h,"),
    ] {
        for (language, part) in [(Language::Zh, zh), (Language::En, en)] {
            let (_, _, body) = rendered(InputError::CodesSpent(seconds).into(), language);
            assert!(body["errorMsg"].as_str().unwrap().contains(part), "{body}");
            let tries = Refusal::TooManyTries { retry_after: Duration::from_secs(seconds) };
            let (_, retry_after, body) = rendered(tries.into(), language);
            assert_eq!(retry_after, Some(seconds.to_string()));
            assert!(body["errorMsg"].as_str().unwrap().contains(part), "{body}");
        }
    }
}

#[test]
fn trouble_is_kept_for_the_log_and_not_for_the_client() {
    let response = ApiError::bug("what happened").into_response();
    assert_eq!(response.extensions().get::<InternalCause>().unwrap().0, "what happened");
    assert!(ApiError::from(Refusal::SoldOut).into_response().extensions().get::<InternalCause>().is_none());
}

#[test]
fn a_quoted_value_is_cut_to_a_sentence() {
    let (_, _, body) =
        rendered(ApiError::bad_request(BadRequest::Untranslated("长".repeat(10_000))), Language::Zh);
    assert!(body["errorMsg"].as_str().unwrap().chars().count() < 220);
}
