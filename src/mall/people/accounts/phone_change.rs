//! Change of a user's phone number, by the user.
//!
//! Reasons and figures: `src/decisions/0041-sessions.md`.

use mallbox_storage::{CheckOutcome, Phone, PhoneOutcome, Timestamp};

use super::{Accounts, CurrentSession};
use crate::mall::base::detached::detached;
use crate::mall::base::{Failure, InputError, Refusal};

impl Accounts {
    /// Changes the caller's phone number, and ends all other sessions of the user. `old_code` is a login code
    /// sent to the present number, `code` one sent to `phone`. Right codes are consumed, whatever happens
    /// afterwards; without a right code for `phone` the call does not reveal whether a user has the number.
    ///
    /// # Errors
    /// [`InputError::Phone`]; [`InputError::Missing`]; [`InputError::OutOfRange`] for the present number;
    /// [`InputError::Code`] or [`InputError::NoCode`] of either code; [`Refusal::PhoneTaken`]. After
    /// [`Failure::Store`] the number may be changed with other sessions still live.
    pub async fn change_phone(
        &self,
        session: &CurrentSession,
        old_code: &str,
        (phone, code): (&str, &str),
        now: Timestamp,
    ) -> Result<(), Failure> {
        let to = Phone::parse(phone).ok_or(InputError::Phone)?;
        for (name, code) in [("oldCode", old_code), ("code", code)] {
            if code.is_empty() {
                return Err(InputError::Missing(name).into());
            }
        }
        let (user, token) = (session.user(), session.token);
        let people = self.context.storage.people.clone();
        let from = people.users.get(user).await?.ok_or(Refusal::NotFound("user"))?.phone;
        if from == to {
            return Err(InputError::OutOfRange("new phone").into());
        }
        self.use_code(&from, old_code, now).await?;
        self.use_code(&to, code, now).await?;
        detached(async move {
            match people.users.put_phone(user, &from, &to, now).await? {
                PhoneOutcome::Changed => {}
                PhoneOutcome::Taken => return Err(Refusal::PhoneTaken.into()),
                // Changed elsewhere a moment ago: the code proves a number that is no longer the user's.
                PhoneOutcome::NotFound => return Err(InputError::NoCode.into()),
            }
            people.sessions.end_others(user, token).await?;
            Ok(())
        })
        .await
    }

    async fn use_code(&self, phone: &Phone, code: &str, now: Timestamp) -> Result<(), Failure> {
        let hash = self.codes.hash(phone, code).await?;
        let sessions = &self.context.storage.people.sessions;
        match sessions.check_code(phone, &hash, &self.context.settings.codes, now).await? {
            CheckOutcome::Right => Ok(()),
            CheckOutcome::Wrong => Err(InputError::Code.into()),
            CheckOutcome::NoCode => Err(InputError::NoCode.into()),
        }
    }
}
