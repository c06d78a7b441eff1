//! What the command line does for a user who cannot log in: code, password, sessions, second factor.
//!
//! No limit on log-ins applies here. Every action is audited.
//!
//! Reasons and figures: `src/decisions/0040-limits-of-log-ins.md`.

use mallbox_storage::{CodeRequest, UserId};
use serde_json::json;

use super::users::{UserAdmin, audited};
use crate::mall::base::audited_action::{By, run_audited};
use crate::mall::base::{Failure, Refusal};

impl UserAdmin {
    /// Stores a login code that was made on the machine, for the phone of `user`.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails: the code must not be shown.
    pub async fn put_code(&self, user: UserId, request: CodeRequest, by: By) -> Result<(), Failure> {
        let (codes, rules) = (self.context.storage.people.codes.clone(), self.context.settings.codes);
        let work = async move {
            // The machine obeys no limit: any outcome but an error is a stored code.
            let _ = codes.issue(&request, &rules, by.at).await?;
            Ok(())
        };
        run_audited(&self.audit, by, audited("user.code", user, json!({})), work).await
    }

    /// Sets a user's password, as a hash, without the old password, and ends all sessions of the user.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails: the password may be set with sessions
    /// still live.
    pub async fn put_password(&self, user: UserId, hash: String, by: By) -> Result<(), Failure> {
        let people = self.context.storage.people.clone();
        let work = async move {
            if !people.users.put_password(user, &hash, by.at).await? {
                return Err(Refusal::NotFound("user").into());
            }
            people.sessions.end_all(user).await?;
            Ok(())
        };
        run_audited(&self.audit, by, audited("user.password", user, json!({})), work).await
    }

    /// Removes a user's second factor, with its recovery codes, and ends all sessions of the user. Returns
    /// the number of sessions.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] without a second factor; [`Failure::Store`] if the store fails: the factor may
    /// be removed with sessions still live.
    pub async fn remove_second_factor(&self, user: UserId, by: By) -> Result<u64, Failure> {
        let people = self.context.storage.people.clone();
        let work = async move {
            if !people.second_factors.remove(user).await? {
                return Err(Refusal::NotFound("second factor").into());
            }
            // After the removal: a code given meanwhile looks for the factor after its session has begun.
            Ok(people.sessions.end_all(user).await?)
        };
        run_audited(&self.audit, by, audited("user.remove-second-factor", user, json!({})), work).await
    }

    /// Ends all sessions of a user. Returns their number.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails: some sessions may still be live.
    pub async fn end_sessions(&self, user: UserId, by: By) -> Result<u64, Failure> {
        let sessions = self.context.storage.people.sessions.clone();
        let work = async move { Ok(sessions.end_all(user).await?) };
        run_audited(&self.audit, by, audited("user.end-sessions", user, json!({})), work).await
    }
}
