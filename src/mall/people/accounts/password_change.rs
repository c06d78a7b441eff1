//! Setting a password.
//!
//! A token alone sets no password: otherwise its thief would keep the account. The old password proves the
//! user, or the login code with which the session began a short while ago.
//!
//! Reasons and figures: `src/decisions/0041-sessions.md`.

use std::time::Duration;

use mallbox_storage::{Phone, SessionOrigin, Timestamp, User, UserId};

use super::session_tokens::hash_of;
use super::{Accounts, CurrentSession};
use crate::mall::base::detached::detached;
use crate::mall::base::{Failure, InputError, Refusal};
use crate::mall::people::passwords::{Passwords, Priority};

/// Time after a log-in by code in which the session may set a password without the old one.
pub const PASSWORD_AFTER_CODE: Duration = Duration::from_secs(10 * 60);

impl Accounts {
    /// Sets a password, and ends all other sessions of the user. Requires the old password, or a session
    /// begun by a login code less than [`PASSWORD_AFTER_CODE`] ago. Attempts with an old password are
    /// limited per user, apart from the limits of log-ins.
    ///
    /// # Errors
    /// [`InputError::PasswordLength`], [`InputError::PasswordGuessable`]. With `old`:
    /// [`InputError::OldPassword`] if `old` is wrong, [`Refusal::TooManyTries`] after too many attempts.
    /// Without `old`, in another session than one begun by code: [`InputError::Missing`] if a password
    /// exists, otherwise [`Refusal::CodeLoginNeeded`].
    /// [`Refusal::NotFound`] for an unknown user. After [`Failure::Store`] the password may be set with other
    /// sessions still live.
    pub async fn set_password(
        &self,
        session: &CurrentSession,
        old: Option<&str>,
        new: &str,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let (user, token) = (session.user(), session.token);
        let users = &self.context.storage.people.users;
        let is = users.get(user).await?.ok_or(Refusal::NotFound("user"))?;
        Passwords::check_new(new, &[is.phone.as_str(), &is.nick_name]).await?;
        let stored = users.password(user).await?.filter(|stored| Passwords::is_hash(stored));
        match (stored, old.filter(|old| !old.is_empty())) {
            (Some(stored), Some(old)) => {
                self.count_password_change(user, now).await?;
                if !self.passwords.matches(old, Some(stored), Priority::Known).await? {
                    return Err(InputError::OldPassword.into());
                }
            }
            _ if self.is_just_begun_by_code(session, now) => {}
            (Some(_), None) => return Err(InputError::Missing("oldPassword").into()),
            (None, _) => return Err(Refusal::CodeLoginNeeded.into()),
        }
        let hash = self.passwords.hash(new, Priority::Known).await?;
        let people = self.context.storage.people.clone();
        detached(async move {
            if !people.users.put_password(user, &hash, now).await? {
                return Err(Refusal::NotFound("user").into());
            }
            // After the change: log-ins with the old password that began before check again.
            people.sessions.end_others(user, token).await?;
            Ok(())
        })
        .await
    }

    /// Checks and hashes a new password of `user`, for the command line.
    ///
    /// # Errors
    /// [`InputError::PasswordLength`], [`InputError::PasswordGuessable`]; [`Refusal::Busy`] if no slot
    /// becomes free in time.
    pub async fn hash_password(&self, new: &str, user: &User) -> Result<String, Failure> {
        Passwords::check_new(new, &[user.phone.as_str(), &user.nick_name]).await?;
        self.passwords.hash(new, Priority::Known).await
    }

    fn is_just_begun_by_code(&self, session: &CurrentSession, now: Timestamp) -> bool {
        session.live.origin == SessionOrigin::Code && self.age(&session.live, now) < PASSWORD_AFTER_CODE
    }

    /// Returns the stored password of the user with this phone; `None` without a user or a password.
    pub(super) async fn stored_password(&self, phone: &Phone) -> Result<Option<String>, Failure> {
        let users = &self.context.storage.people.users;
        let user = users.by_phone(phone).await?.map_or(UserId::new(0), |user| user.id);
        Ok(users.password(user).await?)
    }

    /// Ends a session begun by a password that was changed during the log-in: the change ended the sessions
    /// that it found, and this one began afterwards. `before` is the stored password at the begin of the
    /// log-in.
    pub(super) async fn end_if_password_changed(
        &self,
        (user, token): (UserId, &str),
        (password, priority): (&str, Priority),
        before: Option<String>,
    ) -> Result<(), Failure> {
        let people = &self.context.storage.people;
        let after = people.users.password(user).await?;
        // A log-in replaces an outdated hash of the same password.
        if after == before || self.passwords.matches(password, after, priority).await? {
            return Ok(());
        }
        people.sessions.end(hash_of(token)).await?;
        Err(InputError::Password.into())
    }
}
