//! The subject of a request for the security log: the user, and an act of interest such as a log-in.
//!
//! Extractors and handlers note both while the request's future is polled; `server/front.rs` keeps the notes
//! between polls and reads them with the response. A request that notes nothing pays for copying a small
//! value twice per poll.

use std::cell::Cell;

use mallbox_storage::{Role, UserId};

use crate::mall::people::accounts::PhoneTrace;

/// An act that the security log records, whether it succeeds or fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::http) enum Act {
    /// A login code is requested.
    RequestCode,
    /// A log-in by a code.
    LogInByCode,
    /// A log-in by a password.
    LogInByPassword,
    /// A log-in of staff by a PIN.
    LogInByPin,
    /// A password is set or changed.
    SetPassword,
    /// A second factor is put in force.
    EnrolSecondFactor,
    /// A second factor is given by a code of the app.
    GiveSecondFactor,
    /// A second factor is given by a recovery code.
    UseRecoveryCode,
    /// A second factor is removed.
    RemoveSecondFactor,
    /// Recovery codes are replaced.
    RenewRecoveryCodes,
    /// A user's phone number is changed.
    ChangePhone,
    /// An account is deleted by its user.
    DeleteAccount,
    /// Sessions are ended by their user.
    LogOut,
    /// The operator role is granted.
    GrantRole,
    /// The operator role is revoked.
    RevokeRole,
    /// A user is blocked.
    Block,
    /// A user is unblocked.
    Unblock,
    /// The payment gateway takes money back.
    ReversePayment,
}

impl Act {
    /// Returns the act of giving a user this role.
    pub(in crate::http) fn of_role(role: Role) -> Self {
        match role {
            Role::Operator => Self::GrantRole,
            Role::Customer => Self::RevokeRole,
        }
    }
}

/// The notes of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::http) struct Attempt {
    /// The act, if any.
    pub(in crate::http) act: Option<Act>,
    /// The caller, where known.
    pub(in crate::http) user: Option<UserId>,
    /// The user concerned, if not the caller.
    pub(in crate::http) subject: Option<UserId>,
    /// The phone that the caller named.
    pub(in crate::http) phone: Option<PhoneTrace>,
    /// Whether an operator has logged in.
    pub(in crate::http) is_operator_log_in: bool,
}

thread_local! {
    /// Set while a request's future is polled, like the language.
    static CURRENT: Cell<Attempt> = const { Cell::new(Attempt::NONE) };
}

impl Attempt {
    const NONE: Self = Self { act: None, user: None, subject: None, phone: None, is_operator_log_in: false };

    /// Makes these the notes of the request to be polled on the current thread.
    pub(in crate::http) fn resume(self) {
        CURRENT.set(self);
    }

    /// Takes the notes of the request polled on the current thread.
    pub(in crate::http) fn suspend() -> Self {
        CURRENT.replace(Self::NONE)
    }
}

/// Notes the act of the current request.
pub(in crate::http) fn note_act(act: Act) {
    CURRENT.set(Attempt { act: Some(act), ..CURRENT.get() });
}

/// Notes the caller of the current request.
pub(in crate::http) fn note_user(user: UserId) {
    CURRENT.set(Attempt { user: Some(user), ..CURRENT.get() });
}

/// Notes the user concerned by the current request.
pub(in crate::http) fn note_subject(subject: UserId) {
    CURRENT.set(Attempt { subject: Some(subject), ..CURRENT.get() });
}

/// Notes the phone named by the current request, if well-formed.
pub(in crate::http) fn note_phone(phone: Option<PhoneTrace>) {
    CURRENT.set(Attempt { phone, ..CURRENT.get() });
}

/// Notes the user who has logged in.
pub(in crate::http) fn note_log_in(user: UserId, is_operator: bool) {
    CURRENT.set(Attempt { user: Some(user), is_operator_log_in: is_operator, ..CURRENT.get() });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_last_from_poll_to_poll_and_no_longer() {
        Attempt::default().resume();
        note_act(Act::LogOut);
        let first = Attempt::suspend();
        assert_eq!(Attempt::suspend(), Attempt::default(), "another request begins without notes");
        first.resume();
        note_user(UserId::new(7));
        note_subject(UserId::new(8));
        let notes = Attempt::suspend();
        let want = Attempt {
            act: Some(Act::LogOut),
            user: Some(UserId::new(7)),
            subject: Some(UserId::new(8)),
            ..Attempt::default()
        };
        assert_eq!(notes, want);
    }
}
