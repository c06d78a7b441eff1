//! Sessions: begin, look-up, lifetime, and the user's own list.
//!
//! A session ends by disuse, which storage decides, and by age, which is decided here: by the role at the
//! begin, so that customers' calls need no look-up of the role. A user who became an operator later is
//! checked by age at each operator's call.
//!
//! Reasons and figures: `src/decisions/0041-sessions.md`.

use std::time::Duration;

use mallbox_storage::{
    LiveSession, NewSession, Phone, Role, SessionOrigin, SessionRecord, Timestamp, TokenHash, User, UserId,
};

use super::session_tokens::{
    BegunSession, CurrentSession, OwnSession, hash_of, is_staff_token, is_token, kiosk_in, public_id,
};
use super::{Accounts, Client};
use crate::mall::base::{FactorRefusal, Failure, InputError, Refusal};

impl Accounts {
    /// Begins a session of the user of a phone, as read before.
    pub(super) async fn begin(
        &self,
        (user, phone): (&User, &Phone),
        ttl: Duration,
        (origin, client): (SessionOrigin, Client),
        now: Timestamp,
    ) -> Result<BegunSession, Failure> {
        let token = self.random.token();
        let people = &self.context.storage.people;
        let Client { address, browser } = client;
        let session =
            NewSession { role: user.role, origin, address, browser, ..NewSession::of(user.id, ttl) };
        people.sessions.begin(hash_of(&token), &session, now).await?;
        // Check only after the session exists: a block, a deletion or a change of the phone that this check
        // misses comes later and ends the session. Nobody has the token yet.
        let refusal = match people.users.get(user.id).await? {
            Some(user) if !user.may_log_in() => Failure::from(Refusal::Blocked),
            Some(user) if user.phone != *phone => InputError::NoCode.into(),
            Some(user) => {
                if user.role != session.role {
                    let session = NewSession { role: user.role, ..session };
                    people.sessions.begin(hash_of(&token), &session, now).await?;
                }
                return Ok(BegunSession { token, user });
            }
            None => Refusal::NotLoggedIn.into(),
        };
        people.sessions.end(hash_of(&token)).await?;
        Err(refusal)
    }

    /// Returns the live session of a token, and extends the session. Returns `None` for a dead, unknown or
    /// malformed token.
    ///
    /// Every request with a token makes this call: one SHA-256 and one look-up, in memory or in Redis.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn session(&self, token: &str, now: Timestamp) -> Result<Option<CurrentSession>, Failure> {
        let settings = &self.context.settings;
        let ttl = if is_staff_token(token) { settings.staff_session_ttl } else { settings.session_ttl };
        // Expiry is judged by elapsed time; the extension follows the clock.
        let ttl = ttl + self.context.doubted();
        self.find(token, ttl, now).await
    }

    /// Returns the live session of a token without extending the session: for pages that poll on their own.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn unextended_session(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<CurrentSession>, Failure> {
        self.find(token, Duration::ZERO, now).await
    }

    async fn find(
        &self,
        token: &str,
        ttl: Duration,
        now: Timestamp,
    ) -> Result<Option<CurrentSession>, Failure> {
        let kiosk = kiosk_in(token);
        let Some(token) = Self::session_of(token) else { return Ok(None) };
        let elapsed = self.context.expiry_now(now);
        let Some(live) = self.context.storage.people.sessions.find(token, ttl, elapsed).await? else {
            return Ok(None);
        };
        let session = CurrentSession { token, live, kiosk };
        if self.is_too_old(&live, live.role, now) {
            self.end_too_old(&session).await;
            return Ok(None);
        }
        Ok(Some(session))
    }

    /// Returns the user of a live session, and extends the session, as [`session`](Self::session) does.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn who(&self, token: &str, now: Timestamp) -> Result<Option<UserId>, Failure> {
        Ok(self.session(token, now).await?.map(|session| session.user()))
    }

    /// Returns the current role of a session's user, from the database; `None` if the user is an operator and
    /// the session too old for one. Such a session is ended. [`Role::Customer`] for unknown and blocked
    /// users, and for an operator in a session begun as a customer by a code of a counter.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn role_in(&self, session: &CurrentSession, now: Timestamp) -> Result<Option<Role>, Failure> {
        let role = self.role(session.user()).await?;
        if role == Role::Operator && session.is_without_proof() {
            return Ok(Some(Role::Customer));
        }
        if self.is_too_old(&session.live, role, now) {
            self.end_too_old(session).await;
            return Ok(None);
        }
        Ok(Some(role))
    }

    /// Returns why a session may not make operators' calls; `None` if it may. The role and the second factor
    /// are read from the database. A session that is too old for an operator is ended, and refused as
    /// [`Refusal::NotLoggedIn`]; so is one begun by a code of a counter.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn operator_refusal(
        &self,
        session: &CurrentSession,
        now: Timestamp,
    ) -> Result<Option<Refusal>, Failure> {
        let user = self.context.storage.people.users.get(session.user()).await?;
        let Some(user) = user.filter(User::acts) else { return Ok(Some(Refusal::Forbidden)) };
        if session.is_without_proof() {
            return Ok(Some(Refusal::NotLoggedIn));
        }
        if self.is_too_old(&session.live, Role::Operator, now) {
            self.end_too_old(session).await;
            return Ok(Some(Refusal::NotLoggedIn));
        }
        Ok(match (user.second_factor, session.live.has_second_factor) {
            (Some(_), true) => None,
            (Some(_), false) => Some(Refusal::SecondFactor(FactorRefusal::Required)),
            (None, _) if self.context.settings.operator_second_factor => {
                Some(Refusal::SecondFactor(FactorRefusal::EnrolmentRequired))
            }
            (None, _) => None,
        })
    }

    fn is_too_old(&self, session: &LiveSession, role: Role, now: Timestamp) -> bool {
        let settings = &self.context.settings;
        let longest = match role {
            // A shift is a working day, too.
            Role::Customer if session.user.staff_number().is_some() => settings.operator_session_max,
            Role::Customer => settings.session_max,
            Role::Operator => settings.operator_session_max,
        };
        longest.is_some_and(|longest| self.age(session, now) >= longest)
    }

    /// Returns the time since the begin; zero for a session of unknown begin, which begins with its next
    /// extension.
    pub(super) fn age(&self, session: &LiveSession, now: Timestamp) -> Duration {
        let now = self.context.expiry_now(now);
        session.created.map_or(Duration::ZERO, |created| now.since(created))
    }

    /// Ends a session that is too old. The session is refused in any case: a store that fails delays only the
    /// removal.
    async fn end_too_old(&self, session: &CurrentSession) {
        if let Err(error) = self.context.storage.people.sessions.end(session.token).await {
            tracing::warn!(%error, "could not end a session that is too old");
        }
    }

    /// Returns the caller's live sessions, newest first.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn own_sessions(
        &self,
        session: &CurrentSession,
        now: Timestamp,
    ) -> Result<Vec<OwnSession>, Failure> {
        let elapsed = self.context.expiry_now(now);
        let mut records = self.context.storage.people.sessions.list(session.user(), elapsed).await?;
        records.retain(|record| !self.is_too_old(&record.session, record.session.role, now));
        let own = |record: SessionRecord| OwnSession {
            id: public_id(record.token),
            is_current: record.token == session.token,
            record,
        };
        Ok(records.into_iter().map(own).collect())
    }

    /// Ends one of the caller's sessions, named by its public id.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if the caller has no such session; [`Failure::Store`] if the store fails: the
    /// session may then still be live.
    pub async fn end_own_session(
        &self,
        session: &CurrentSession,
        id: &str,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let own = self.own_sessions(session, now).await?;
        let named = own.into_iter().find(|own| own.id == id).ok_or(Refusal::NotFound("session"))?;
        Ok(self.context.storage.people.sessions.end(named.record.token).await?)
    }

    /// Ends all sessions of the caller except this one. Returns their number.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails: some of the sessions may then still be live.
    pub async fn end_other_sessions(&self, session: &CurrentSession) -> Result<u64, Failure> {
        Ok(self.context.storage.people.sessions.end_others(session.user(), session.token).await?)
    }

    /// Ends a session. An unknown session is no error.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails: the session may then still be live.
    pub async fn log_out(&self, token: &str) -> Result<(), Failure> {
        if let Some(token) = Self::session_of(token) {
            self.context.storage.people.sessions.end(token).await?;
        }
        Ok(())
    }

    /// Ends the session whose token a log-in carried: the new session takes its place. The log-in counts all
    /// the same if the store fails, and the user's list shows the former session.
    pub async fn end_replaced(&self, token: &str) {
        if let Err(error) = self.log_out(token).await {
            tracing::warn!(%error, "could not end the session that a log-in replaces");
        }
    }

    /// Ends all sessions of the user of this token. A token without a live session changes nothing.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails: some of the sessions may then still be live.
    pub async fn log_out_everywhere(&self, token: &str, now: Timestamp) -> Result<(), Failure> {
        if let Some(session) = self.session(token, now).await? {
            self.context.storage.people.sessions.end_all(session.user()).await?;
        }
        Ok(())
    }

    /// Returns the storage key of a token's session, whether or not the session exists; `None` if the text is
    /// not formed like a token.
    #[must_use]
    pub fn session_of(token: &str) -> Option<TokenHash> {
        is_token(token).then(|| hash_of(token))
    }
}
