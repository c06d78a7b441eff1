//! People.

use async_trait::async_trait;

use crate::{Page, Phone, StoreError, Timestamp, UserId};

/// What a user may do beyond a customer's rights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Buys.
    Customer,
    /// Runs the mall.
    Operator,
}

/// A person as the mall knows them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct User {
    /// Who.
    pub id: UserId,
    /// How they log in.
    pub phone: Phone,
    /// The name others see.
    pub nick_name: String,
    /// Path of the picture, `""` if none.
    pub icon: String,
    /// Rights.
    pub role: Role,
    /// Since when.
    pub created: Timestamp,
}

/// What a person tells about themselves.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Card {
    /// City.
    pub city: String,
    /// A few words, at most 128 characters.
    pub introduce: String,
    /// `false` = male, as hm-dianping has it.
    pub gender: bool,
    /// `2000-01-31`, if told.
    pub birthday: Option<String>,
    /// Points.
    pub credits: u64,
    /// Member level, 0 to 9.
    pub level: u8,
}

/// People: the record of users.
///
/// - Ids are given in order from 1 and never again. A phone belongs to one user.
/// - Every call is its own transaction and durable when it answers.
#[async_trait]
pub trait Users: Send + Sync {
    /// The user with this phone, made with this nick name if there is none. Concurrent calls make one.
    ///
    /// # Errors
    /// [`StoreError`]: nobody was made, or the answer was lost; call again.
    async fn find_or_create(
        &self,
        phone: &Phone,
        nick_name: &str,
        now: Timestamp,
    ) -> Result<User, StoreError>;

    /// A user by id.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn get(&self, user: UserId) -> Result<Option<User>, StoreError>;

    /// A user by phone.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn by_phone(&self, phone: &Phone) -> Result<Option<User>, StoreError>;

    /// A user's card; an empty one for a user who has told nothing, `None` for no user.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn card(&self, user: UserId) -> Result<Option<Card>, StoreError>;

    /// Replaces name, picture and card of a user. `false` for no user.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn put_card(
        &self,
        user: UserId,
        nick_name: &str,
        icon: &str,
        card: &Card,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// The stored password hash; `None` for no user or no password.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn password(&self, user: UserId) -> Result<Option<String>, StoreError>;

    /// Stores a password hash. `false` for no user.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn put_password(&self, user: UserId, hash: &str, now: Timestamp) -> Result<bool, StoreError>;

    /// Stores a password hash in the place of this one. `false` if another is stored, or none, or for no user.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn replace_password(
        &self,
        user: UserId,
        old: &str,
        new: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Gives a role. `false` for no user.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn put_role(&self, user: UserId, role: Role, now: Timestamp) -> Result<bool, StoreError>;

    /// All users by id, or those of one role.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn list(&self, role: Option<Role>, page: Page) -> Result<Vec<User>, StoreError>;
}
