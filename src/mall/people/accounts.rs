//! Accounts: login codes, passwords, sessions, public profiles and roles.

mod attempts;
mod client;
mod code_hash;
mod codes;
mod confirmation;
mod names;
mod operator_log_in;
mod password_change;
mod phone_change;
mod profiles;
mod requesters;
mod second_factor;
mod session_tokens;
mod sessions;
mod totp;
mod warnings;

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{Phone, Requester, Role, SessionOrigin, Timestamp, User, UserId};

use super::passwords::{Passwords, Priority};
use super::sms::{Inbox, SmsRetries, SmsSender};
use crate::mall::base::caches::PublicProfile;
use crate::mall::base::{Context, Failure, InputError, Random, SharedContext};

use self::code_hash::CodeHasher;
use self::requesters::RequesterHasher;
use self::session_tokens::BegunSession;
use self::totp::FactorSecrets;
use self::warnings::LimitWarnings;

pub use self::client::Client;
pub use self::code_hash::{CodeKey, PhoneTrace};
pub use self::operator_log_in::LoggedIn;
pub use self::password_change::PASSWORD_AFTER_CODE;
pub use self::profiles::{FullProfile, ProfileEdit};
pub use self::second_factor::{Confirmed, Enrolment, FactorOverview, FactorProof, FactorState, Raised};
pub use self::session_tokens::{CurrentSession, OwnSession};
pub(in crate::mall::people) use self::session_tokens::{staff_session_key, staff_token};

/// The credential of a login.
#[derive(Clone, Copy)]
pub enum Credential<'a> {
    /// The one-time code sent by SMS.
    Code(SentCode<'a>),
    /// The password that the user has set.
    Password(&'a str),
}

/// A one-time code sent by SMS to a phone.
#[derive(Clone, Copy)]
pub struct SentCode<'a> {
    /// The code.
    pub code: &'a str,
    /// The ticket of the request, with which the code is used from any network; `None` for a code used from
    /// the network that requested the code.
    pub ticket: Option<&'a str>,
}

impl<'a> SentCode<'a> {
    /// Returns a code used from the network that requested the code.
    #[must_use]
    pub fn without_ticket(code: &'a str) -> Self {
        Self { code, ticket: None }
    }

    /// Returns whether the code was made at a counter, by its length.
    fn is_of_counter(self) -> bool {
        self.code.len() == Random::COUNTER_CODE_DIGITS as usize
    }
}

/// The public part of a user: id, name and picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicUser {
    /// The user's id.
    pub id: UserId,
    /// The display name.
    pub nick_name: String,
    /// Path of the profile picture, `""` if none.
    pub icon: String,
    /// Whether the account is deleted; name and picture are then empty.
    pub is_deleted: bool,
}

impl From<User> for PublicUser {
    fn from(user: User) -> Self {
        let is_deleted = user.deleted.is_some();
        Self { id: user.id, nick_name: user.nick_name, icon: user.icon, is_deleted }
    }
}

impl PublicUser {
    /// Returns the public part of a cached profile.
    pub(in crate::mall) fn from_copy(user: UserId, person: &PublicProfile) -> Self {
        let PublicProfile { nick_name, icon, is_deleted, .. } = person;
        Self { id: user, nick_name: nick_name.clone(), icon: icon.clone(), is_deleted: *is_deleted }
    }

    /// Loads the given users, in the order of `users`. Unknown ids are left out.
    pub(in crate::mall) async fn of(context: &Context, users: &[UserId]) -> Result<Vec<Self>, Failure> {
        let users = context.storage.people.users.those(users).await?;
        Ok(users.into_iter().map(Self::from).collect())
    }
}

/// The service for logins, sessions, passwords and profiles.
pub struct Accounts {
    context: Context,
    random: Arc<Random>,
    codes: CodeHasher,
    requesters: RequesterHasher,
    factors: FactorSecrets,
    warnings: LimitWarnings,
    passwords: Passwords,
    sms: SmsRetries,
    inbox: Option<Arc<Inbox>>,
}

impl Accounts {
    /// Creates the service. `inbox` is the source of `GET /demo/inbox`; if given, `sms` must send to `inbox`
    /// as well.
    #[must_use]
    pub fn new(
        context: Context,
        random: Arc<Random>,
        sms: Arc<dyn SmsSender>,
        inbox: Option<Arc<Inbox>>,
    ) -> Self {
        Self {
            codes: CodeHasher::new(context.clone(), CodeKey::default()),
            requesters: RequesterHasher::new(context.clone()),
            factors: FactorSecrets::new(context.clone()),
            warnings: LimitWarnings::default(),
            passwords: Passwords::new(random.clone(), context.settings.memory.hashes()),
            sms: SmsRetries::new(sms, Arc::clone(&context.clock)),
            context,
            random,
            inbox,
        }
    }

    /// Chooses where the key of login codes is kept; default: in the database.
    #[must_use]
    pub fn with_code_key(self, place: CodeKey) -> Self {
        Self { codes: CodeHasher::new(self.context.clone(), place), ..self }
    }

    /// Returns the hasher, for those who hash other secrets: all hashes together stay within the memory
    /// budget.
    #[must_use]
    pub fn passwords(&self) -> Passwords {
        self.passwords.clone()
    }

    /// Begins a session and returns its token.
    ///
    /// With a correct code, an unknown phone becomes a new user. A correct code is consumed, whatever happens
    /// afterwards. A phone without a user or without a password is refused like a wrong password, after the
    /// same time. `client` is kept with the session, for the user's list of sessions.
    ///
    /// # Errors
    /// [`InputError::Phone`], [`InputError::Code`], [`InputError::NoCode`], [`InputError::Password`];
    /// [`Refusal::TooManyTries`](crate::mall::Refusal::TooManyTries) after too many attempts;
    /// [`Refusal::Blocked`](crate::mall::Refusal::Blocked).
    pub async fn log_in(
        &self,
        phone: &str,
        proof: Credential<'_>,
        client: Client,
        now: Timestamp,
    ) -> Result<String, Failure> {
        Ok(self.begin_log_in(phone, proof, client, now).await?.token)
    }

    /// Does the work of [`log_in`](Self::log_in). Returns the user as read after the session had begun.
    async fn begin_log_in(
        &self,
        phone: &str,
        proof: Credential<'_>,
        client: Client,
        now: Timestamp,
    ) -> Result<BegunSession, Failure> {
        let phone = Phone::parse(phone).ok_or(InputError::Phone)?;
        let requester = self.requesters.of(client.address).await?;
        let from = (requester, client);
        let begun = match proof {
            Credential::Code(sent) => self.begin_by_code(&phone, sent, from, now).await?,
            Credential::Password(password) => self.begin_by_password(&phone, password, from, now).await?,
        };
        // At a kiosk of the shop: no network of this customer.
        if !matches!(proof, Credential::Code(sent) if sent.is_of_counter()) {
            self.remember(&phone, requester, now).await;
        }
        Ok(begun)
    }

    async fn begin_by_code(
        &self,
        phone: &Phone,
        sent: SentCode<'_>,
        (requester, client): (Requester, Client),
        now: Timestamp,
    ) -> Result<BegunSession, Failure> {
        let is_of_counter = sent.is_of_counter();
        let origin = if is_of_counter { SessionOrigin::Other } else { SessionOrigin::Code };
        let user = self.user_by_code(phone, sent, requester, now).await?;
        let ttl = self.context.settings.session_ttl;
        let begun = self.begin((&user, phone), ttl, (origin, client), now).await?;
        if is_of_counter && begun.user.role == Role::Operator {
            // An operator since the code was made.
            self.log_out(&begun.token).await?;
            return Err(InputError::NoCode.into());
        }
        Ok(begun)
    }

    async fn begin_by_password(
        &self,
        phone: &Phone,
        password: &str,
        (requester, client): (Requester, Client),
        now: Timestamp,
    ) -> Result<BegunSession, Failure> {
        let priority = self.count_password_attempt(phone, requester, client.address, now).await?;
        let before = self.stored_password(phone).await?;
        let user = self.user_by_password(phone, password, priority, now).await?;
        let ttl = self.context.settings.session_ttl;
        let begun = self.begin((&user, phone), ttl, (SessionOrigin::Password, client), now).await?;
        self.end_if_password_changed((user.id, &begun.token), (password, priority), before).await?;
        Ok(begun)
    }

    /// Begins a session without a credential, for the users of a fixture: in place of a log-in by code. An
    /// unknown phone becomes a new user.
    ///
    /// # Errors
    /// [`InputError::Phone`]; [`Refusal::Blocked`](crate::mall::Refusal::Blocked).
    pub async fn let_in(
        &self,
        phone: &str,
        ttl: Duration,
        now: Timestamp,
    ) -> Result<(UserId, String), Failure> {
        let phone = Phone::parse(phone).ok_or(InputError::Phone)?;
        let user = self.user_of(&phone, now).await?;
        let origin = (SessionOrigin::Code, Client::default());
        let token = self.begin((&user, &phone), ttl, origin, now).await?.token;
        Ok((user.id, token))
    }

    async fn user_by_password(
        &self,
        phone: &Phone,
        password: &str,
        priority: Priority,
        now: Timestamp,
    ) -> Result<User, Failure> {
        let user = self.context.storage.people.users.by_phone(phone).await?;
        let id = user.as_ref().map_or(UserId::new(0), |user| user.id);
        // Ids start at 1, so id 0 has no password. The look-up takes the same time for unknown phones as for
        // users.
        let stored = self.context.storage.people.users.password(id).await?;
        let right = self.passwords.matches(password, stored.clone(), priority).await?;
        let user = user.filter(|_| right).ok_or(InputError::Password)?;
        if let Some(old) = stored.filter(|stored| Passwords::is_outdated(stored)) {
            let new = self.passwords.hash(password, priority).await?;
            // Compare-and-set: a password changed a moment ago is newer and stays.
            self.context.storage.people.users.replace_password(id, &old, &new, now).await?;
        }
        Ok(user)
    }

    /// Returns a user's current role from the database. Unknown and blocked users get [`Role::Customer`].
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn role(&self, user: UserId) -> Result<Role, Failure> {
        let user = self.context.storage.people.users.get(user).await?;
        Ok(user.filter(|user| user.blocked.is_none()).map_or(Role::Customer, |user| user.role))
    }

    /// Returns the public part of a user, from the cache; `None` for an unknown user.
    ///
    /// # Errors
    /// [`Refusal::Busy`](crate::mall::Refusal::Busy) if the read is rejected by load shedding;
    /// [`Failure::Store`] if the store fails.
    pub async fn brief(&self, user: UserId, now: Timestamp) -> Result<Option<PublicUser>, Failure> {
        let person = self.context.copies.people.shared(user, now).await?;
        Ok(person.map(|person| PublicUser::from_copy(user, &person)))
    }

    /// Returns the user with this phone, and creates the user if there is none.
    async fn user_of(&self, phone: &Phone, now: Timestamp) -> Result<User, Failure> {
        let SharedContext { storage, copies, .. } = &*self.context;
        let user = storage.people.users.find_or_create(phone, &self.random.nick_name(), now).await?;
        if user.created == now {
            // An earlier read of this id may have left a negative cache entry.
            copies.people.changed(&[user.id]).await;
        }
        Ok(user)
    }

    /// Returns the last code sent to a phone; `None` if there is none, or if this mall has no inbox.
    ///
    /// # Errors
    /// [`InputError::Phone`].
    pub fn inbox(&self, phone: &str) -> Result<Option<String>, Failure> {
        let phone = Phone::parse(phone).ok_or(InputError::Phone)?;
        Ok(self.inbox.as_ref().and_then(|inbox| inbox.last(&phone)))
    }
}
