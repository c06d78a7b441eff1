//! Confirmation of a step that cannot be undone, by the logged-in user's own credential.

use mallbox_storage::{Timestamp, UserId};

use super::{Accounts, Client, Credential};
use crate::mall::base::{Failure, Refusal};

impl Accounts {
    /// Verifies a credential of a user who is logged in already: a fresh code sent to the user's phone, or
    /// the user's password. Attempts count as those of a login; a correct code is consumed.
    ///
    /// # Errors
    /// [`InputError::Code`](crate::mall::InputError::Code),
    /// [`InputError::NoCode`](crate::mall::InputError::NoCode),
    /// [`InputError::Password`](crate::mall::InputError::Password); [`Refusal::TooManyTries`] after too many
    /// attempts; [`Refusal::NotLoggedIn`] for a deleted user.
    pub async fn confirm(
        &self,
        user: UserId,
        proof: Credential<'_>,
        client: &Client,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let is = self.context.storage.people.users.get(user).await?;
        let is = is.filter(|user| user.deleted.is_none()).ok_or(Refusal::NotLoggedIn)?;
        let requester = self.requesters.of(client.address).await?;
        let proven = match proof {
            Credential::Code(sent) => self.user_by_code(&is.phone, sent, requester, now).await?,
            Credential::Password(password) => {
                let priority = self.count_password_attempt(&is.phone, requester, client.address, now).await?;
                self.user_by_password(&is.phone, password, priority, now).await?
            }
        };
        // The account was deleted meanwhile, and the phone belongs to a new user.
        if proven.id == user { Ok(()) } else { Err(Refusal::NotLoggedIn.into()) }
    }
}
