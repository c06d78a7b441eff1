//! User accounts and profiles.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Page, Phone, StoreError, Timestamp, UserId};

/// Role of a user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Buys in the mall.
    Customer,
    /// Runs the mall.
    Operator,
}

/// Block that keeps a user out of the mall.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Time of the block.
    pub since: Timestamp,
    /// Reason in an operator's words.
    pub reason: String,
}

/// Change of a user's role or block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RightsChange {
    /// Replaces the user's role.
    Role(Role),
    /// Blocks the user, or replaces reason and time of an existing block.
    Block {
        /// Reason in an operator's words.
        reason: String,
    },
    /// Lifts the block.
    Unblock,
}

impl RightsChange {
    /// Returns the user after the change.
    pub fn of(&self, was: &User, now: Timestamp) -> User {
        let mut is = was.clone();
        match self {
            Self::Role(role) => is.role = *role,
            Self::Block { reason } => is.blocked = Some(Block { since: now, reason: reason.clone() }),
            Self::Unblock => is.blocked = None,
        }
        is
    }
}

/// Policy for changes that would leave the mall without an active operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LastOperator {
    /// Refuse such a change.
    Stays,
    /// Allow the change: the caller has another way in.
    MayGo,
}

/// Outcome of a [`RightsChange`].
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RightsOutcome {
    /// The user after the change.
    Done(User),
    /// The user does not exist.
    NoSuchUser,
    /// Nothing changed: no unblocked operator would have been left.
    LastOperator,
}

/// Outcome of a change of a user's phone.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PhoneOutcome {
    /// The user has the new phone.
    Changed,
    /// Nothing changed: another user has the new phone.
    Taken,
    /// Nothing changed: the user does not exist, or has another phone than expected.
    NotFound,
}

/// Filter of a user list; matches all users by default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UserFilter {
    /// Prefix of the phone number.
    pub phone: String,
    /// Part of the nick name. Case sensitivity depends on the back end.
    pub name: String,
    /// Only users of this role.
    pub role: Option<Role>,
    /// Only blocked users.
    pub blocked: bool,
}

/// A user account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct User {
    /// Id of the user.
    pub id: UserId,
    /// Phone number, used for login.
    pub phone: Phone,
    /// Name shown to others.
    pub nick_name: String,
    /// Path of the avatar, `""` if none.
    pub icon: String,
    /// Role of the user.
    pub role: Role,
    /// Block in force, if any.
    pub blocked: Option<Block>,
    /// Time of registration.
    pub created: Timestamp,
    /// Time of the account's deletion. A deleted user has no phone, name, avatar, block or role.
    pub deleted: Option<Timestamp>,
    /// Time since which the user has a [second factor](crate::SecondFactors) in force.
    pub second_factor: Option<Timestamp>,
}

impl User {
    /// Returns a customer without avatar, as of the registration.
    pub fn new(id: UserId, phone: Phone, nick_name: String, created: Timestamp) -> Self {
        Self {
            id,
            phone,
            nick_name,
            icon: String::new(),
            role: Role::Customer,
            blocked: None,
            created,
            deleted: None,
            second_factor: None,
        }
    }

    /// Returns whether the user is an active operator: not blocked.
    pub fn acts(&self) -> bool {
        self.role == Role::Operator && self.blocked.is_none()
    }

    /// Returns whether the user may hold sessions: neither blocked nor deleted.
    pub fn may_log_in(&self) -> bool {
        self.blocked.is_none() && self.deleted.is_none()
    }
}

/// Profile of a user.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Profile {
    /// City of residence, as entered.
    pub city: String,
    /// Self-introduction, at most 128 characters.
    pub introduce: String,
    /// `false` = male, as in hm-dianping.
    pub gender: bool,
    /// Birthday as `2000-01-31`, if given.
    pub birthday: Option<String>,
    /// Number of credit points: the sum of the user's ledger of [`Credits`](crate::Credits).
    pub credits: u64,
    /// Member level of an import, 0 to 9; 0 without one.
    pub level: u8,
    /// Member level set by an operator, 0 to 9, in place of the imported one.
    #[serde(default)]
    pub set_level: Option<u8>,
}

impl Profile {
    /// Returns the level that the user has whatever the credits: set by an operator, or else imported.
    #[must_use]
    pub fn granted_level(&self) -> u8 {
        self.set_level.unwrap_or(self.level)
    }
}

/// Users in the database.
///
/// - Ids are assigned in order from 1, never reused, and nearly without gaps: each of several concurrent
///   calls for one phone may skip an id. A phone belongs to one user.
/// - Every call is a transaction of its own, durable when the call returns.
/// - A [deleted](crate::PersonalData::delete) user is returned by [`get`](Users::get),
///   [`those`](Users::those), [`card`](Users::card) and [`list`](Users::list); every change treats the user
///   as unknown.
#[async_trait]
pub trait Users: Send + Sync {
    /// Returns the user with this phone, creating an account with `nick_name` if there is none. Concurrent
    /// calls create one account.
    ///
    /// # Errors
    /// Any [`StoreError`]: no account was created, or the response was lost; call again.
    async fn find_or_create(
        &self,
        phone: &Phone,
        nick_name: &str,
        now: Timestamp,
    ) -> Result<User, StoreError>;

    /// Returns a user by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn get(&self, user: UserId) -> Result<Option<User>, StoreError>;

    /// Returns a user by phone.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn by_phone(&self, phone: &Phone) -> Result<Option<User>, StoreError>;

    /// Returns a user's profile; an empty profile for a user who never filled one in, `None` for an unknown
    /// user.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn card(&self, user: UserId) -> Result<Option<Profile>, StoreError>;

    /// Replaces nick name, avatar and profile of a user, except credits and levels: those of `card` are
    /// ignored. Returns `false` for an unknown user.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_card(
        &self,
        user: UserId,
        nick_name: &str,
        icon: &str,
        card: &Profile,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Returns the stored password hash; `None` for an unknown user or no password.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn password(&self, user: UserId) -> Result<Option<String>, StoreError>;

    /// Stores a password hash. Returns `false` for an unknown user.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_password(&self, user: UserId, hash: &str, now: Timestamp) -> Result<bool, StoreError>;

    /// Replaces the password hash `old` by `new` (compare-and-set). Returns `false` if another hash or none
    /// is stored, or for an unknown user.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn replace_password(
        &self,
        user: UserId,
        old: &str,
        new: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Changes role or block of a user, atomically. With [`LastOperator::Stays`], of several operators who
    /// demote or block each other concurrently, one remains.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_rights(
        &self,
        user: UserId,
        change: &RightsChange,
        last: LastOperator,
        now: Timestamp,
    ) -> Result<RightsOutcome, StoreError>;

    /// Replaces the phone `from` of a user by `to` (compare-and-set). The phone `from` is free afterwards. Of
    /// concurrent calls and registrations for one phone, one gets it. A deleted user gets none.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_phone(
        &self,
        user: UserId,
        from: &Phone,
        to: &Phone,
        now: Timestamp,
    ) -> Result<PhoneOutcome, StoreError>;

    /// Returns the users with these ids, in the order of `users`; unknown ids are left out.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn those(&self, users: &[UserId]) -> Result<Vec<User>, StoreError>;

    /// Returns a page of the users that match `filter`, by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn list(&self, filter: &UserFilter, page: Page) -> Result<Vec<User>, StoreError>;
}
