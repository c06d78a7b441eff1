//! Change of a user's phone number, by the user.
//!
//! Reasons and figures: `src/decisions/0041-sessions.md`.

use mallbox_storage::{Phone, PhoneOutcome, Timestamp};

use super::{Accounts, Client, CurrentSession};
use crate::mall::base::detached::detached;
use crate::mall::base::{Failure, InputError, Refusal};

impl Accounts {
    /// Changes the caller's phone number, and ends all other sessions of the user. `old_code` is a login code
    /// sent to the present number, `code` one sent to `phone`, both requested from the network of `client`
    /// without a ticket. Right codes are consumed, whatever happens afterwards; without a right code for
    /// `phone` the call does not reveal whether a user has the number.
    ///
    /// # Errors
    /// [`InputError::Phone`]; [`InputError::Missing`]; [`InputError::OutOfRange`] for the present number;
    /// [`InputError::Code`], [`InputError::NoCode`] or [`Refusal::TooManyTries`] of either code;
    /// [`Refusal::PhoneTaken`]. After [`Failure::Store`] the number may be changed with other sessions still
    /// live.
    pub async fn change_phone(
        &self,
        session: &CurrentSession,
        old_code: &str,
        (phone, code): (&str, &str),
        client: &Client,
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
        let requester = self.requesters.of(client.address).await?;
        self.use_code(&from, (old_code, None), requester, now).await?;
        self.use_code(&to, (code, None), requester, now).await?;
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
}
