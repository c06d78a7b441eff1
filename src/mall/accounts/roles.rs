//! What the operator does with people.

use mallbox_storage::{Page, Phone, Role, Timestamp, User, UserId};

use super::Accounts;
use crate::mall::{Failure, Mistake, Refusal};

impl Accounts {
    /// What a user may do, as the record has it now; a customer's rights for no user.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn role(&self, user: UserId) -> Result<Role, Failure> {
        Ok(self.context.storage.users.get(user).await?.map_or(Role::Customer, |user| user.role))
    }

    /// Makes the user with this phone an operator. A phone that nobody has becomes a user first, so that a new
    /// mall's operator can be named before their first login.
    ///
    /// # Errors
    /// [`Mistake::Phone`].
    pub async fn grant(&self, phone: &str, now: Timestamp) -> Result<User, Failure> {
        let phone = Phone::parse(phone).ok_or(Mistake::Phone)?;
        let users = &self.context.storage.users;
        let user = users.find_or_create(&phone, &self.random.nick_name(), now).await?;
        users.put_role(user.id, Role::Operator, now).await?;
        Ok(User { role: Role::Operator, ..user })
    }

    /// Takes the operator's role from the user with this phone. Works at their next request.
    ///
    /// # Errors
    /// [`Mistake::Phone`]; [`Refusal::NotFound`] if nobody has it.
    pub async fn revoke(&self, phone: &str, now: Timestamp) -> Result<User, Failure> {
        let phone = Phone::parse(phone).ok_or(Mistake::Phone)?;
        let users = &self.context.storage.users;
        let user = users.by_phone(&phone).await?.ok_or(Refusal::NotFound("user"))?;
        users.put_role(user.id, Role::Customer, now).await?;
        Ok(User { role: Role::Customer, ..user })
    }

    /// All users by id, or those of one role.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn list(&self, role: Option<Role>, page: Page) -> Result<Vec<User>, Failure> {
        Ok(self.context.storage.users.list(role, page).await?)
    }

    /// Ends every session of a user and answers how many there were.
    ///
    /// # Errors
    /// Only if the store is in trouble: some may then still be live.
    pub async fn end_sessions(&self, user: UserId) -> Result<u64, Failure> {
        Ok(self.context.storage.sessions.end_all(user).await?)
    }
}
