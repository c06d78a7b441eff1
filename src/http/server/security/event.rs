//! The kinds of security events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::request::attempt::Act;

/// Kind of a security event, named alike in the log, in the metrics and in the API.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::http) enum SecurityEvent {
    LoginCodeSucceeded,
    LoginCodeFailed,
    LoginPasswordSucceeded,
    LoginPasswordFailed,
    OperatorLogin,
    StaffLoginSucceeded,
    StaffLoginFailed,
    CodeRequested,
    CodeRefused,
    PasswordChanged,
    PasswordChangeFailed,
    SecondFactorSucceeded,
    SecondFactorFailed,
    SecondFactorEnrolled,
    SecondFactorRemoved,
    RecoveryCodeUsed,
    RecoveryCodesRenewed,
    PhoneChanged,
    AccountDeleted,
    SessionEnded,
    RoleGranted,
    RoleRevoked,
    UserBlocked,
    UserUnblocked,
    Unauthenticated,
    Forbidden,
    RateLimited,
    WrongHost,
    CrossSite,
    MalformedRequest,
    ConnectionRefused,
    ConnectionRefusedInTotal,
    CallbackForged,
    CallbackContradicted,
    PaymentReversed,
}

/// All kinds in the order of the enum, with name, and text of the log line.
pub(super) const EVENTS: [(SecurityEvent, &str, &str); 35] = [
    (SecurityEvent::LoginCodeSucceeded, "login_code_succeeded", "logged in by code"),
    (SecurityEvent::LoginCodeFailed, "login_code_failed", "log-in by code failed"),
    (SecurityEvent::LoginPasswordSucceeded, "login_password_succeeded", "logged in by password"),
    (SecurityEvent::LoginPasswordFailed, "login_password_failed", "log-in by password failed"),
    (SecurityEvent::OperatorLogin, "operator_login", "an operator logged in"),
    (SecurityEvent::StaffLoginSucceeded, "staff_login_succeeded", "staff logged in by PIN"),
    (SecurityEvent::StaffLoginFailed, "staff_login_failed", "log-in of staff by PIN failed"),
    (SecurityEvent::CodeRequested, "code_requested", "sent a login code"),
    (SecurityEvent::CodeRefused, "code_refused", "refused to send a login code"),
    (SecurityEvent::PasswordChanged, "password_changed", "a user set a password"),
    (SecurityEvent::PasswordChangeFailed, "password_change_failed", "wrong current password"),
    (SecurityEvent::SecondFactorSucceeded, "second_factor_succeeded", "gave the second factor"),
    (SecurityEvent::SecondFactorFailed, "second_factor_failed", "wrong code of the second factor"),
    (SecurityEvent::SecondFactorEnrolled, "second_factor_enrolled", "a user set up a second factor"),
    (SecurityEvent::SecondFactorRemoved, "second_factor_removed", "removed a second factor"),
    (SecurityEvent::RecoveryCodeUsed, "recovery_code_used", "gave a recovery code as the second factor"),
    (SecurityEvent::RecoveryCodesRenewed, "recovery_codes_renewed", "a user renewed the recovery codes"),
    (SecurityEvent::PhoneChanged, "phone_changed", "changed a phone number"),
    (SecurityEvent::AccountDeleted, "account_deleted", "a user deleted the account"),
    (SecurityEvent::SessionEnded, "session_ended", "a user logged out"),
    (SecurityEvent::RoleGranted, "role_granted", "granted the operator role"),
    (SecurityEvent::RoleRevoked, "role_revoked", "revoked the operator role"),
    (SecurityEvent::UserBlocked, "user_blocked", "blocked a user"),
    (SecurityEvent::UserUnblocked, "user_unblocked", "unblocked a user"),
    (SecurityEvent::Unauthenticated, "unauthenticated", "refused a call without a valid session"),
    (SecurityEvent::Forbidden, "forbidden", "refused a call without the required role"),
    (SecurityEvent::RateLimited, "rate_limited", "refused a call above a rate limit"),
    (SecurityEvent::WrongHost, "wrong_host", "refused a call for another host"),
    (SecurityEvent::CrossSite, "cross_site", "refused a call of another site"),
    (SecurityEvent::MalformedRequest, "malformed_request", "refused a malformed call"),
    (SecurityEvent::ConnectionRefused, "connection_refused", "refused a connection: too many of the address"),
    (
        SecurityEvent::ConnectionRefusedInTotal,
        "connection_refused_in_total",
        "refused a connection: too many are open",
    ),
    (
        SecurityEvent::CallbackForged,
        "callback_forged",
        "refused a payment callback without a valid signature",
    ),
    (
        SecurityEvent::CallbackContradicted,
        "callback_contradicted",
        "refused a payment callback with another amount",
    ),
    (SecurityEvent::PaymentReversed, "payment_reversed", "the payment gateway took money back"),
];

impl SecurityEvent {
    /// Returns the event of a completed request with this act and code; `""` is the code of a success.
    pub(super) fn of(act: Option<Act>, code: &str) -> Option<Self> {
        let event = match code {
            "" => return act.map(Self::of_success),
            "CODE_WRONG" | "NO_CODE" => Self::LoginCodeFailed,
            "PASSWORD_WRONG" | "CODE_LOGIN_NEEDED" | "FRESH_LOGIN_NEEDED"
                if matches!(act, Some(Act::SetPassword | Act::EnrolSecondFactor)) =>
            {
                Self::PasswordChangeFailed
            }
            "PASSWORD_WRONG" => Self::LoginPasswordFailed,
            "PIN_WRONG" | "KIOSK_UNKNOWN" => Self::StaffLoginFailed,
            "BLOCKED" if act == Some(Act::LogInByPassword) => Self::LoginPasswordFailed,
            "BLOCKED" => Self::LoginCodeFailed,
            "CODE_TOO_SOON" | "CODES_SPENT" => Self::CodeRefused,
            "NOT_LOGGED_IN" | "GATEWAY_TOKEN_INVALID" => Self::Unauthenticated,
            "SECOND_FACTOR_WRONG" | "SECOND_FACTOR_USED" => Self::SecondFactorFailed,
            "FORBIDDEN" | "SECOND_FACTOR_REQUIRED" | "SECOND_FACTOR_ENROLMENT_REQUIRED" => Self::Forbidden,
            "RATE_LIMITED" => Self::RateLimited,
            "BAD_HOST" | "UNKNOWN_HOST" => Self::WrongHost,
            "CROSS_SITE" => Self::CrossSite,
            "BAD_REQUEST" | "METHOD_NOT_ALLOWED" | "TOO_LARGE" => Self::MalformedRequest,
            "BAD_SIGNATURE" => Self::CallbackForged,
            "PAYMENT_DIFFERS" => Self::CallbackContradicted,
            _ => return None,
        };
        Some(event)
    }

    fn of_success(act: Act) -> Self {
        match act {
            Act::RequestCode => Self::CodeRequested,
            Act::LogInByCode => Self::LoginCodeSucceeded,
            Act::LogInByPassword => Self::LoginPasswordSucceeded,
            Act::LogInByPin => Self::StaffLoginSucceeded,
            Act::SetPassword => Self::PasswordChanged,
            Act::EnrolSecondFactor => Self::SecondFactorEnrolled,
            Act::GiveSecondFactor => Self::SecondFactorSucceeded,
            Act::UseRecoveryCode => Self::RecoveryCodeUsed,
            Act::RemoveSecondFactor => Self::SecondFactorRemoved,
            Act::RenewRecoveryCodes => Self::RecoveryCodesRenewed,
            Act::ChangePhone => Self::PhoneChanged,
            Act::DeleteAccount => Self::AccountDeleted,
            Act::LogOut => Self::SessionEnded,
            Act::GrantRole => Self::RoleGranted,
            Act::RevokeRole => Self::RoleRevoked,
            Act::Block => Self::UserBlocked,
            Act::Unblock => Self::UserUnblocked,
            Act::ReversePayment => Self::PaymentReversed,
        }
    }

    /// Returns the name in the log, in the metrics and in the API.
    pub(in crate::http) fn name(self) -> &'static str {
        EVENTS[self as usize].1
    }

    /// Returns the text of the log line.
    pub(super) fn text(self) -> &'static str {
        EVENTS[self as usize].2
    }

    /// Returns whether something was refused or lost; such lines have the level `WARN`.
    pub(super) fn is_refusal(self) -> bool {
        match self {
            Self::LoginCodeFailed
            | Self::LoginPasswordFailed
            | Self::StaffLoginFailed
            | Self::CodeRefused
            | Self::PasswordChangeFailed
            | Self::SecondFactorFailed
            | Self::Unauthenticated
            | Self::Forbidden
            | Self::RateLimited
            | Self::WrongHost
            | Self::CrossSite
            | Self::MalformedRequest
            | Self::ConnectionRefused
            | Self::ConnectionRefusedInTotal
            | Self::CallbackForged
            | Self::CallbackContradicted
            | Self::PaymentReversed => true,
            Self::LoginCodeSucceeded
            | Self::LoginPasswordSucceeded
            | Self::OperatorLogin
            | Self::StaffLoginSucceeded
            | Self::CodeRequested
            | Self::PasswordChanged
            | Self::SecondFactorSucceeded
            | Self::SecondFactorEnrolled
            | Self::SecondFactorRemoved
            | Self::RecoveryCodeUsed
            | Self::RecoveryCodesRenewed
            | Self::PhoneChanged
            | Self::AccountDeleted
            | Self::SessionEnded
            | Self::RoleGranted
            | Self::RoleRevoked
            | Self::UserBlocked
            | Self::UserUnblocked => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::http::response::messages::is_code;

    #[test]
    fn kinds_stand_where_their_number_says_and_have_one_name_everywhere() {
        for (at, (event, name, _)) in EVENTS.iter().enumerate() {
            assert_eq!(*event as usize, at);
            assert_eq!(json!(event), json!(name));
        }
    }

    #[test]
    fn a_refusal_is_an_event_by_its_code_and_a_success_by_its_act() {
        use SecurityEvent as E;
        for (act, code, want) in [
            (None, "", None),
            (None, "SOLD_OUT", None),
            (None, "NOT_LOGGED_IN", Some(E::Unauthenticated)),
            (None, "FORBIDDEN", Some(E::Forbidden)),
            (None, "UNKNOWN_HOST", Some(E::WrongHost)),
            (None, "BAD_HOST", Some(E::WrongHost)),
            (None, "CROSS_SITE", Some(E::CrossSite)),
            (None, "BAD_REQUEST", Some(E::MalformedRequest)),
            (None, "METHOD_NOT_ALLOWED", Some(E::MalformedRequest)),
            (None, "TOO_LARGE", Some(E::MalformedRequest)),
            (None, "OUT_OF_RANGE", None),
            (None, "BAD_SIGNATURE", Some(E::CallbackForged)),
            (None, "PAYMENT_DIFFERS", Some(E::CallbackContradicted)),
            (Some(Act::ReversePayment), "", Some(E::PaymentReversed)),
            (Some(Act::RequestCode), "", Some(E::CodeRequested)),
            (Some(Act::RequestCode), "CODE_TOO_SOON", Some(E::CodeRefused)),
            (Some(Act::RequestCode), "CODES_SPENT", Some(E::CodeRefused)),
            (Some(Act::RequestCode), "UNAVAILABLE", None),
            (Some(Act::LogInByCode), "", Some(E::LoginCodeSucceeded)),
            (Some(Act::LogInByCode), "CODE_WRONG", Some(E::LoginCodeFailed)),
            (Some(Act::LogInByCode), "NO_CODE", Some(E::LoginCodeFailed)),
            (Some(Act::LogInByCode), "BLOCKED", Some(E::LoginCodeFailed)),
            (Some(Act::LogInByPassword), "", Some(E::LoginPasswordSucceeded)),
            (Some(Act::LogInByPassword), "PASSWORD_WRONG", Some(E::LoginPasswordFailed)),
            (Some(Act::LogInByPassword), "BLOCKED", Some(E::LoginPasswordFailed)),
            (Some(Act::LogInByPassword), "RATE_LIMITED", Some(E::RateLimited)),
            (Some(Act::LogInByPin), "", Some(E::StaffLoginSucceeded)),
            (Some(Act::LogInByPin), "PIN_WRONG", Some(E::StaffLoginFailed)),
            (Some(Act::LogInByPin), "KIOSK_UNKNOWN", Some(E::StaffLoginFailed)),
            (Some(Act::LogInByPin), "RATE_LIMITED", Some(E::RateLimited)),
            (Some(Act::SetPassword), "", Some(E::PasswordChanged)),
            (Some(Act::SetPassword), "PASSWORD_WRONG", Some(E::PasswordChangeFailed)),
            (Some(Act::SetPassword), "CODE_LOGIN_NEEDED", Some(E::PasswordChangeFailed)),
            (Some(Act::EnrolSecondFactor), "", Some(E::SecondFactorEnrolled)),
            (Some(Act::EnrolSecondFactor), "PASSWORD_WRONG", Some(E::PasswordChangeFailed)),
            (Some(Act::GiveSecondFactor), "", Some(E::SecondFactorSucceeded)),
            (Some(Act::GiveSecondFactor), "SECOND_FACTOR_WRONG", Some(E::SecondFactorFailed)),
            (Some(Act::GiveSecondFactor), "SECOND_FACTOR_USED", Some(E::SecondFactorFailed)),
            (Some(Act::GiveSecondFactor), "NOT_LOGGED_IN", Some(E::Unauthenticated)),
            (Some(Act::UseRecoveryCode), "", Some(E::RecoveryCodeUsed)),
            (Some(Act::RemoveSecondFactor), "", Some(E::SecondFactorRemoved)),
            (Some(Act::RemoveSecondFactor), "SECOND_FACTOR_STAYS", None),
            (Some(Act::RenewRecoveryCodes), "", Some(E::RecoveryCodesRenewed)),
            (None, "SECOND_FACTOR_REQUIRED", Some(E::Forbidden)),
            (None, "SECOND_FACTOR_ENROLMENT_REQUIRED", Some(E::Forbidden)),
            (Some(Act::ChangePhone), "", Some(E::PhoneChanged)),
            (Some(Act::ChangePhone), "CODE_WRONG", Some(E::LoginCodeFailed)),
            (Some(Act::ChangePhone), "PHONE_TAKEN", None),
            (Some(Act::DeleteAccount), "", Some(E::AccountDeleted)),
            (Some(Act::GrantRole), "NOT_FOUND", None),
        ] {
            assert!(code.is_empty() || is_code(code), "{code} is no code of the API");
            assert_eq!(SecurityEvent::of(act, code), want, "{act:?} {code}");
        }
    }
}
