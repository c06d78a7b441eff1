//! Users from the operator's side: roles, blocks and lost phone numbers.
//!
//! A block is written before the user's sessions end. A log-in begins the session before checking for a
//! block. In either order one of the two sees the other.
//!
//! Reasons and figures: `src/decisions/0013-blocks-and-roles.md`.

use std::sync::Arc;

use mallbox_storage::{
    Actor, LastOperator, Page, Phone, PhoneOutcome, RightsChange, RightsOutcome, Role, Storage, User,
    UserFilter, UserId,
};
use serde_json::json;

use crate::mall::base::audit::AuditLog;
use crate::mall::base::audited_action::{AuditedAction, By, run_audited, validate_reason};
use crate::mall::base::{Context, Failure, InputError, Random, Refusal};

/// Finds users and changes their rights.
pub struct UserAdmin {
    pub(super) context: Context,
    pub(super) audit: AuditLog,
    random: Arc<Random>,
}

impl UserAdmin {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog, random: Arc<Random>) -> Self {
        Self { context, audit, random }
    }

    /// Returns a page of the matching users, ordered by id.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn list(&self, filter: &UserFilter, page: Page) -> Result<Vec<User>, Failure> {
        Ok(self.context.storage.people.users.list(filter, page).await?)
    }

    /// Returns a user by id.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn get(&self, user: UserId) -> Result<User, Failure> {
        Ok(self.context.storage.people.users.get(user).await?.ok_or(Refusal::NotFound("user"))?)
    }

    /// Returns a user by phone.
    ///
    /// # Errors
    /// [`InputError::Phone`]; [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn by_phone(&self, phone: &str) -> Result<User, Failure> {
        let phone = Phone::parse(phone).ok_or(InputError::Phone)?;
        Ok(self.context.storage.people.users.by_phone(&phone).await?.ok_or(Refusal::NotFound("user"))?)
    }

    /// Grants the operator role to the user with this phone. Creates the user if necessary, so that a new
    /// mall's operator can be named before the first login.
    ///
    /// # Errors
    /// [`InputError::Phone`]; [`Failure::Store`] if the store fails.
    pub async fn grant(&self, phone: &str, by: By) -> Result<User, Failure> {
        let phone = Phone::parse(phone).ok_or(InputError::Phone)?;
        let name = self.random.nick_name();
        let user = self.context.storage.people.users.find_or_create(&phone, &name, by.at).await?;
        self.set_role(user.id, Role::Operator, by).await
    }

    /// Sets a user's role, effective from the user's next request.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::LastOperator`] if an operator would lock the mall out.
    pub async fn set_role(&self, user: UserId, role: Role, by: By) -> Result<User, Failure> {
        let name = match role {
            Role::Customer => "customer",
            Role::Operator => "operator",
        };
        let action = audited("user.role", user, json!({ "role": name }));
        let change = put_rights(self.context.storage.clone(), user, RightsChange::Role(role), by);
        run_audited(&self.audit, by, action, change).await
    }

    /// Blocks a user. On return no session of the user is live, and the user cannot log in. Returns the user
    /// and the number of sessions ended. A repeat replaces the reason and ends sessions left by an earlier
    /// attempt.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::LastOperator`]; [`Refusal::BadValue`] for an empty or too long
    /// reason. After [`Failure::Store`] the user may be blocked with live sessions: call again.
    pub async fn block(&self, user: UserId, reason: &str, by: By) -> Result<(User, u64), Failure> {
        let reason = validate_reason(reason.trim().to_owned())?;
        let action = audited("user.block", user, json!({ "reason": reason }));
        let storage = self.context.storage.clone();
        let change = RightsChange::Block { reason };
        let work = async move {
            // The block comes first: a concurrent login checks for a block after creating its session.
            let blocked = put_rights(storage.clone(), user, change, by).await?;
            Ok((blocked, storage.people.sessions.end_all(user).await?))
        };
        run_audited(&self.audit, by, action, work).await
    }

    /// Gives a user another phone number, for a number that the user has lost. On return no session of the
    /// user is live. Returns the user and the number of sessions ended. A repeat ends sessions left by an
    /// earlier attempt.
    ///
    /// # Errors
    /// [`InputError::Phone`]; [`Refusal::NotFound`]; [`Refusal::PhoneTaken`]; [`Refusal::BadValue`] for an
    /// empty or too long reason. After [`Failure::Store`] the number may be changed with live sessions: call
    /// again.
    pub async fn set_phone(
        &self,
        user: UserId,
        phone: &str,
        reason: &str,
        by: By,
    ) -> Result<(User, u64), Failure> {
        let phone = Phone::parse(phone).ok_or(InputError::Phone)?;
        let reason = validate_reason(reason.trim().to_owned())?;
        let action = audited("user.phone", user, json!({ "reason": reason }));
        let people = self.context.storage.people.clone();
        let work = async move {
            let is = people.users.get(user).await?.filter(|user| user.deleted.is_none());
            let is = is.ok_or(Refusal::NotFound("user"))?;
            match people.users.put_phone(user, &is.phone, &phone, by.at).await? {
                PhoneOutcome::Changed => {}
                PhoneOutcome::Taken => return Err(Refusal::PhoneTaken.into()),
                // Changed by somebody else at the same moment.
                PhoneOutcome::NotFound => return Err(Refusal::Busy.into()),
            }
            // After the change: a concurrent login checks the phone after creating its session.
            let ended = people.sessions.end_all(user).await?;
            Ok((User { phone, ..is }, ended))
        };
        run_audited(&self.audit, by, action, work).await
    }

    /// Unblocks a user. Succeeds for a user who is not blocked.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn unblock(&self, user: UserId, by: By) -> Result<User, Failure> {
        let change = put_rights(self.context.storage.clone(), user, RightsChange::Unblock, by);
        run_audited(&self.audit, by, audited("user.unblock", user, json!({})), change).await
    }
}

pub(super) fn audited(action: &'static str, user: UserId, detail: serde_json::Value) -> AuditedAction {
    AuditedAction { action, subject: format!("user {user}"), detail }
}

async fn put_rights(storage: Storage, user: UserId, change: RightsChange, by: By) -> Result<User, Failure> {
    // The command line can always appoint another operator; over HTTP nobody else could.
    let last = match by.actor {
        Actor::User(_) => LastOperator::Stays,
        Actor::CommandLine => LastOperator::MayGo,
    };
    match storage.people.users.put_rights(user, &change, last, by.at).await? {
        RightsOutcome::Done(user) => Ok(user),
        RightsOutcome::NoSuchUser => Err(Refusal::NotFound("user").into()),
        RightsOutcome::LastOperator => Err(Refusal::LastOperator.into()),
    }
}
