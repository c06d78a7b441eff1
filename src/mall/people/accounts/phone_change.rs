//! Change of a user's phone number, by the user.
//!
//! Reasons and figures: `src/decisions/0041-sessions.md`.

use mallbox_storage::{Phone, PhoneOutcome, Requester, Timestamp};

use super::{Accounts, Client, CurrentSession, SentCode};
use crate::mall::base::detached::detached;
use crate::mall::base::{Failure, InputError, Refusal};

impl Accounts {
    /// Changes the caller's phone number, and ends all other sessions of the user. `old` is a login code sent
    /// to the present number, `new` one sent to `phone`. Right codes are consumed, whatever happens
    /// afterwards, `old` before `new`; without a right code for `phone` the call does not reveal whether a
    /// user has the number.
    ///
    /// # Errors
    /// [`InputError::Phone`]; [`InputError::Missing`]; [`InputError::OutOfRange`] for the present number;
    /// [`InputError::OldCode`], [`InputError::NoOldCode`]; [`InputError::Code`], [`InputError::NoCode`];
    /// [`Refusal::TooManyTries`] of either code; [`Refusal::PhoneTaken`]. After [`Failure::Store`] the number
    /// may be changed with other sessions still live.
    pub async fn change_phone(
        &self,
        session: &CurrentSession,
        old: SentCode<'_>,
        (phone, new): (&str, SentCode<'_>),
        client: &Client,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let to = Phone::parse(phone).ok_or(InputError::Phone)?;
        for (name, sent) in [("oldCode", old), ("code", new)] {
            if sent.code.is_empty() {
                return Err(InputError::Missing(name).into());
            }
        }
        let (user, token) = (session.user(), session.token);
        let people = self.context.storage.people.clone();
        let from = people.users.get(user).await?.ok_or(Refusal::NotFound("user"))?.phone;
        if from == to {
            return Err(InputError::OutOfRange("new phone").into());
        }
        let requester = self.requesters.of(client.address).await?;
        self.use_old_code(&from, old, requester, now).await?;
        self.use_code(&to, new, requester, now).await?;
        detached(async move {
            match people.users.put_phone(user, &from, &to, now).await? {
                PhoneOutcome::Changed => {}
                PhoneOutcome::Taken => return Err(Refusal::PhoneTaken.into()),
                // Changed elsewhere a moment ago: the code proves a number that is no longer the user's.
                PhoneOutcome::NotFound => return Err(InputError::NoOldCode.into()),
            }
            people.sessions.end_others(user, token).await?;
            Ok(())
        })
        .await
    }

    /// Checks and consumes the code of the present number. Refusals name that code: callers send two.
    async fn use_old_code(
        &self,
        from: &Phone,
        old: SentCode<'_>,
        requester: Requester,
        now: Timestamp,
    ) -> Result<(), Failure> {
        match self.use_code(from, old, requester, now).await {
            Err(Failure::Refused(Refusal::Mistyped(InputError::Code))) => Err(InputError::OldCode.into()),
            Err(Failure::Refused(Refusal::Mistyped(InputError::NoCode))) => Err(InputError::NoOldCode.into()),
            checked => checked,
        }
    }
}
