//! People.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Page, Phone, StoreError, Timestamp, UserId};

/// What a user may do beyond a customer's rights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Buys.
    Customer,
    /// Runs the mall.
    Operator,
}

/// That a user may not come in any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Since when.
    pub since: Timestamp,
    /// Why, in an operator's words.
    pub reason: String,
}

/// A change of what a user may do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RightsChange {
    /// Gives a role in place of the one they have.
    Role(Role),
    /// Blocks them, or gives a block another reason and time.
    Block {
        /// Why.
        reason: String,
    },
    /// Lets them in again.
    Unblock,
}

impl RightsChange {
    /// The user as the change makes them.
    pub(crate) fn of(&self, was: &User, now: Timestamp) -> User {
        let mut is = was.clone();
        match self {
            Self::Role(role) => is.role = *role,
            Self::Block { reason } => is.blocked = Some(Block { since: now, reason: reason.clone() }),
            Self::Unblock => is.blocked = None,
        }
        is
    }
}

/// Whether a change may leave the mall without an operator who can come in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LastOperator {
    /// It may not.
    Stays,
    /// It may: whoever asks has another way in.
    MayGo,
}

/// What became of a change of what a user may do.
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RightsAnswer {
    /// This is the user now.
    Done(User),
    /// There is no such user.
    NoSuchUser,
    /// Nothing changed: no operator would have been left who is not blocked.
    LastOperator,
}

/// Which users are looked for; by default all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UserFilter {
    /// Those whose phone number begins so.
    pub phone: String,
    /// Those in whose name this is found. Whether its case counts is the back end's affair.
    pub name: String,
    /// Those of one role.
    pub role: Option<Role>,
    /// Blocked ones alone.
    pub blocked: bool,
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
    /// Whether they are kept out.
    pub blocked: Option<Block>,
    /// Since when.
    pub created: Timestamp,
}

impl User {
    /// Whether this is an operator who can come in.
    pub(crate) fn acts(&self) -> bool {
        self.role == Role::Operator && self.blocked.is_none()
    }
}

/// What a person tells about themselves.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
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
/// - Ids are given in order from 1 and never again, nearly without gaps: of concurrent calls for one phone, each may
///   leave one out. A phone belongs to one user.
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

    /// Changes what a user may do. One step: of several operators who demote or block each other at the same time, one
    /// stays, where [`LastOperator::Stays`].
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn put_rights(
        &self,
        user: UserId,
        change: &RightsChange,
        last: LastOperator,
        now: Timestamp,
    ) -> Result<RightsAnswer, StoreError>;

    /// The users of these ids, in the order in which they are asked for; ids of nobody are left out.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn those(&self, users: &[UserId]) -> Result<Vec<User>, StoreError>;

    /// Those who are looked for, by id.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn list(&self, filter: &UserFilter, page: Page) -> Result<Vec<User>, StoreError>;
}
