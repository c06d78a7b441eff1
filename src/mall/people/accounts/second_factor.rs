//! The second factor of operators: enrolment, codes, recovery codes and removal.
//!
//! A log-in begins a session without the second factor. A right code ends this session and begins another
//! with the second factor, as old as the log-in.
//!
//! Reasons and figures: `src/decisions/0051-second-factor.md`.

use std::time::Duration;

use mallbox_storage::{
    ActiveFactor, Actor, FactorSeed, Limit, NewSession, PeoplePorts, RateLimitOutcome, RecoveryHash, Role,
    Timestamp, TokenHash, UserId,
};
use serde_json::json;

use super::session_tokens::{hash_of, public_id};
use super::totp::{TypedCode, recovery_code};
use super::{Accounts, Client, CurrentSession};
use crate::mall::base::audited_action::{AuditedAction, By, run_audited};
use crate::mall::base::{AuditLog, FactorRefusal, Failure, InputError, Refusal};
use crate::mall::people::passwords::{Passwords, Priority};

/// Time after a log-in in which the session may enrol without the password.
const ENROLMENT_AFTER_LOG_IN: Duration = Duration::from_secs(10 * 60);
/// Time to confirm an enrolment.
const ENROLMENT_TTL: Duration = Duration::from_secs(10 * 60);
/// Recovery codes per user.
const RECOVERY_CODES: usize = 10;
/// Codes per session, right or wrong: counted before the check, so that a burst of concurrent codes does not
/// slip through. One more ends the session.
const CODES_PER_SESSION: Limit = Limit { count: 5, per: Duration::from_secs(24 * 60 * 60) };

/// State of a user's second factor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactorState {
    /// No factor, and no enrolment.
    None,
    /// An enrolment waits for its first code.
    Pending,
    /// A factor is in force.
    Active,
}

/// What a user sees of the own second factor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FactorOverview {
    /// The state.
    pub state: FactorState,
    /// Time since which the factor is in force.
    pub since: Option<Timestamp>,
    /// Number of unused recovery codes.
    pub recovery_codes: u64,
    /// Whether the user's calls as an operator need a factor.
    pub is_required: bool,
    /// Whether this session gave the factor.
    pub is_given: bool,
}

/// An enrolment that waits for its first code. Shown once.
pub struct Enrolment {
    /// The secret in Base32.
    pub secret: String,
    /// The secret as an `otpauth://` URI.
    pub uri: String,
}

/// A factor that was just put in force.
pub struct Confirmed {
    /// Token of the session that replaces the caller's.
    pub token: String,
    /// The recovery codes. Shown once.
    pub recovery_codes: Vec<String>,
}

/// A session with the second factor.
pub struct Raised {
    /// Token of the session that replaces the caller's.
    pub token: String,
    /// The kind of code.
    pub proof: FactorProof,
    /// Number of unused recovery codes.
    pub recovery_codes: u64,
}

/// Kind of an accepted code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactorProof {
    /// A code of the app.
    Totp,
    /// A recovery code, used up by now.
    RecoveryCode,
}

impl FactorProof {
    fn name(self) -> &'static str {
        match self {
            Self::Totp => "totp",
            Self::RecoveryCode => "recovery code",
        }
    }
}

impl Accounts {
    /// Returns what the caller sees of the own second factor.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn second_factor(
        &self,
        session: &CurrentSession,
        now: Timestamp,
    ) -> Result<FactorOverview, Failure> {
        let factor = self.context.storage.people.second_factors.get(session.user()).await?;
        let pending = factor.pending.filter(|pending| self.is_pending(pending.begun, now));
        let state = match (factor.active, pending) {
            (Some(_), _) => FactorState::Active,
            (None, Some(_)) => FactorState::Pending,
            (None, None) => FactorState::None,
        };
        Ok(FactorOverview {
            state,
            since: factor.active.map(|active| active.since),
            recovery_codes: factor.active.map_or(0, |active| active.recovery_codes),
            is_required: self.is_factor_required(session.user()).await?,
            is_given: session.live.has_second_factor,
        })
    }

    /// Begins the enrolment of an operator, and replaces an earlier one. A factor in force stays until the
    /// confirmation; then `code` is a code of this factor. Otherwise the session has to be younger than ten
    /// minutes, or `password` the user's.
    ///
    /// # Errors
    /// [`Refusal::Forbidden`] for customers, [`Refusal::NotLoggedIn`] in a session too old for an operator.
    /// With a factor in force: [`InputError::Missing`] and those of [`raise`](Self::raise). Otherwise:
    /// [`FactorRefusal::FreshLogInNeeded`]; [`InputError::OldPassword`]; [`Refusal::TooManyTries`].
    pub async fn begin_enrolment(
        &self,
        session: &CurrentSession,
        (code, password): (Option<&str>, Option<&str>),
        now: Timestamp,
    ) -> Result<Enrolment, Failure> {
        match self.role_in(session, now).await? {
            Some(Role::Operator) => {}
            Some(Role::Customer) => return Err(Refusal::Forbidden.into()),
            None => return Err(Refusal::NotLoggedIn.into()),
        }
        let user = session.user();
        let people = &self.context.storage.people;
        match people.second_factors.get(user).await?.active {
            Some(active) => {
                self.use_factor_code(session, &active, code.unwrap_or_default(), now).await?;
            }
            None => self.check_enrolment(session, password, now).await?,
        }
        let is = people.users.get(user).await?.ok_or(Refusal::NotLoggedIn)?;
        let seed = FactorSeed(self.random.factor_seed());
        if !people.second_factors.begin(user, seed, now).await? {
            return Err(Refusal::NotLoggedIn.into());
        }
        let secret = self.factors.of(user, seed).await?;
        Ok(Enrolment { secret: secret.text(), uri: secret.uri(is.phone.as_str()) })
    }

    /// Puts the enrolment in force with its first code. Replaces the caller's session by one with the second
    /// factor, and ends all other sessions of the user.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] without an enrolment of the last ten minutes; [`InputError::Missing`];
    /// [`InputError::FactorCode`]; [`Refusal::NotLoggedIn`] for one code too many. After [`Failure::Store`]
    /// the factor may be in force.
    pub async fn confirm_enrolment(
        &self,
        session: &CurrentSession,
        code: &str,
        client: Client,
        now: Timestamp,
    ) -> Result<Confirmed, Failure> {
        let user = session.user();
        let people = self.context.storage.people.clone();
        let pending = people.second_factors.get(user).await?.pending;
        let pending = pending.filter(|pending| self.is_pending(pending.begun, now));
        let seed = pending.ok_or(Refusal::NotFound("enrolment"))?.seed;
        let typed = TypedCode::read(code, user).ok_or(InputError::Missing("code"))?;
        self.count_code_of_session(session, now).await?;
        let TypedCode::Totp(code) = typed else { return Err(InputError::FactorCode.into()) };
        let at = self.context.time_of_phones(now);
        let step = self.factors.of(user, seed).await?.step_of(&code, at).ok_or(InputError::FactorCode)?;
        let (recovery_codes, hashes) = self.make_recovery_codes(user);
        let raising = self.raising(session, client).await?;
        let work = async move {
            if !people.second_factors.confirm(user, seed, step, &hashes, now).await? {
                return Err(Refusal::NotFound("enrolment").into());
            }
            let token = raising.run(&people, seed, now).await?;
            people.sessions.end_others(user, hash_of(&token)).await?;
            Ok(token)
        };
        let token = self.run_audited(user, "user.enrol-second-factor", json!({}), now, work).await?;
        Ok(Confirmed { token, recovery_codes })
    }

    /// Replaces the caller's session by one with the second factor, after a code of the app or a recovery
    /// code. The new session counts from the log-in, and the old one ends.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] without a factor in force; [`InputError::Missing`]; [`InputError::FactorCode`];
    /// [`InputError::FactorCodeUsed`]; [`Refusal::TooManyTries`] for too many codes of the user, other than
    /// recovery codes; [`Refusal::NotLoggedIn`] for one code too many, which ends the session. After
    /// [`Failure::Store`] the code may be used up.
    pub async fn raise(
        &self,
        session: &CurrentSession,
        code: &str,
        client: Client,
        now: Timestamp,
    ) -> Result<Raised, Failure> {
        let user = session.user();
        let active = self.active_factor(user).await?;
        let proof = self.use_factor_code(session, &active, code, now).await?;
        let address = client.address.map(|address| address.to_string());
        let detail = json!({ "address": address, "by": proof.name() });
        let (people, raising) = (self.context.storage.people.clone(), self.raising(session, client).await?);
        let work = async move { raising.run(&people, active.seed, now).await };
        let token = self.run_audited(user, "user.second-factor", detail, now, work).await?;
        let used = u64::from(proof == FactorProof::RecoveryCode);
        Ok(Raised { token, proof, recovery_codes: active.recovery_codes.saturating_sub(used) })
    }

    /// Removes the caller's factor, after a code, and ends all other sessions of the user.
    ///
    /// # Errors
    /// [`FactorRefusal::Stays`] for an operator of a mall that requires a factor; otherwise those of
    /// [`raise`](Self::raise).
    pub async fn remove_second_factor(
        &self,
        session: &CurrentSession,
        code: &str,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let (user, token) = (session.user(), session.token);
        let active = self.active_factor(user).await?;
        if self.is_factor_required(user).await? {
            return Err(Refusal::SecondFactor(FactorRefusal::Stays).into());
        }
        self.use_factor_code(session, &active, code, now).await?;
        let people = self.context.storage.people.clone();
        let work = async move {
            people.second_factors.remove(user).await?;
            people.sessions.end_others(user, token).await?;
            Ok(())
        };
        self.run_audited(user, "user.remove-second-factor", json!({}), now, work).await
    }

    /// Replaces the recovery codes, after a code. Returns the new ones.
    ///
    /// # Errors
    /// Those of [`raise`](Self::raise). After [`Failure::Store`] the former codes may be void.
    pub async fn renew_recovery_codes(
        &self,
        session: &CurrentSession,
        code: &str,
        now: Timestamp,
    ) -> Result<Vec<String>, Failure> {
        let user = session.user();
        let active = self.active_factor(user).await?;
        self.use_factor_code(session, &active, code, now).await?;
        let (codes, hashes) = self.make_recovery_codes(user);
        let people = self.context.storage.people.clone();
        let work = async move {
            // Otherwise removed or replaced a moment ago.
            let is_renewed = people.second_factors.renew_recovery_codes(user, active.seed, &hashes).await?;
            if is_renewed { Ok(()) } else { Err(Refusal::NotFound("second factor").into()) }
        };
        self.run_audited(user, "user.renew-recovery-codes", json!({}), now, work).await?;
        Ok(codes)
    }

    async fn active_factor(&self, user: UserId) -> Result<ActiveFactor, Failure> {
        let factor = self.context.storage.people.second_factors.get(user).await?;
        Ok(factor.active.ok_or(Refusal::NotFound("second factor"))?)
    }

    async fn is_factor_required(&self, user: UserId) -> Result<bool, Failure> {
        Ok(self.context.settings.operator_second_factor && self.role(user).await? == Role::Operator)
    }

    fn is_pending(&self, begun: Timestamp, now: Timestamp) -> bool {
        self.context.expiry_now(now).since(begun) < ENROLMENT_TTL
    }

    /// Checks that the user was here a short while ago: a token alone must not enrol.
    async fn check_enrolment(
        &self,
        session: &CurrentSession,
        password: Option<&str>,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let Some(password) = password.filter(|password| !password.is_empty()) else {
            let is_fresh = self.age(&session.live, now) < ENROLMENT_AFTER_LOG_IN;
            let refusal = Refusal::SecondFactor(FactorRefusal::FreshLogInNeeded);
            return if is_fresh { Ok(()) } else { Err(refusal.into()) };
        };
        self.count_password_change(session.user(), now).await?;
        let stored = self.context.storage.people.users.password(session.user()).await?;
        let stored = stored.filter(|stored| Passwords::is_hash(stored));
        let is_right = self.passwords.matches(password, stored, Priority::Known).await?;
        if is_right { Ok(()) } else { Err(InputError::OldPassword.into()) }
    }

    /// Checks a code of the factor in force, and uses it up.
    async fn use_factor_code(
        &self,
        session: &CurrentSession,
        active: &ActiveFactor,
        code: &str,
        now: Timestamp,
    ) -> Result<FactorProof, Failure> {
        let (user, factors) = (session.user(), &self.context.storage.people.second_factors);
        let typed = TypedCode::read(code, user).ok_or(InputError::Missing("code"))?;
        self.count_code_of_session(session, now).await?;
        match typed {
            TypedCode::Totp(code) => {
                self.count_code_of_user(user, now).await?;
                let secret = self.factors.of(user, active.seed).await?;
                let at = self.context.time_of_phones(now);
                let step = secret.step_of(&code, at).ok_or(InputError::FactorCode)?;
                // Of two uses of a code at once, one is accepted.
                let is_new = factors.accept(user, active.seed, step).await?;
                if is_new { Ok(FactorProof::Totp) } else { Err(InputError::FactorCodeUsed.into()) }
            }
            // 120 bits need no limit: an attacker who spends the user's codes cannot keep the user out.
            TypedCode::Recovery(hash) => {
                let is_right = factors.use_recovery_code(user, hash).await?;
                if is_right { Ok(FactorProof::RecoveryCode) } else { Err(InputError::FactorCode.into()) }
            }
        }
    }

    /// Counts a code against the limit of the session. One too many ends the session.
    async fn count_code_of_session(&self, session: &CurrentSession, now: Timestamp) -> Result<(), Failure> {
        let key = format!("second-factor:{}", public_id(session.token));
        match self.context.storage.base.rate_limits.pass(&key, CODES_PER_SESSION, now).await? {
            RateLimitOutcome::Allowed => Ok(()),
            RateLimitOutcome::Refused { .. } => {
                self.context.storage.people.sessions.end(session.token).await?;
                Err(Refusal::NotLoggedIn.into())
            }
        }
    }

    /// Counts a code against the limit of the user, over all sessions. Only a session of the user, and thus
    /// the first factor, can use up the limit.
    async fn count_code_of_user(&self, user: UserId, now: Timestamp) -> Result<(), Failure> {
        let Some(limit) = self.context.settings.second_factor_limit else { return Ok(()) };
        let key = format!("second-factor-of:{user}");
        match self.context.storage.base.rate_limits.pass(&key, limit, now).await? {
            RateLimitOutcome::Allowed => Ok(()),
            RateLimitOutcome::Refused { retry_after } => {
                self.warnings.of_second_factor();
                Err(Refusal::TooManyTries { retry_after }.into())
            }
        }
    }

    fn make_recovery_codes(&self, user: UserId) -> (Vec<String>, Vec<RecoveryHash>) {
        (0..RECOVERY_CODES).map(|_| recovery_code(&self.random, user)).unzip()
    }

    async fn run_audited<T: Send + 'static>(
        &self,
        user: UserId,
        action: &'static str,
        detail: serde_json::Value,
        now: Timestamp,
        work: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Result<T, Failure> {
        let action = AuditedAction { action, subject: format!("user {user}"), detail };
        let by = By { actor: Actor::User(user), at: now };
        run_audited(&AuditLog::new(self.context.clone()), by, action, work).await
    }

    /// Prepares the session that replaces the caller's.
    async fn raising(&self, session: &CurrentSession, client: Client) -> Result<Raising, Failure> {
        let user = session.user();
        let Client { address, browser } = client;
        let next = NewSession {
            role: self.role(user).await?,
            origin: session.live.origin,
            address,
            browser,
            has_second_factor: true,
            // The lifetime counts from the log-in, as does the time to set a password.
            begun: session.live.created,
            ..NewSession::of(user, self.context.settings.session_ttl)
        };
        let token = self.random.token();
        Ok(Raising { former: session.token, token, next, elapsed_doubt: self.context.doubted() })
    }
}

/// A session about to be replaced by one with the second factor.
struct Raising {
    former: TokenHash,
    token: String,
    next: NewSession,
    /// How far the clock may be ahead of elapsed time.
    elapsed_doubt: Duration,
}

impl Raising {
    /// Begins the new session and ends the former one. Returns the new token.
    async fn run(self, people: &PeoplePorts, seed: FactorSeed, now: Timestamp) -> Result<String, Failure> {
        let Self { former, token, next, elapsed_doubt } = self;
        let raised = hash_of(&token);
        people.sessions.begin(raised, &next, now).await?;
        // Check only after the session exists: whatever ends sessions or removes the factor meanwhile either
        // finds the new session, or is found here.
        let is_live = people.sessions.find(former, Duration::ZERO, now - elapsed_doubt).await?.is_some();
        let active = people.second_factors.get(next.user).await?.active;
        if !is_live || active.is_none_or(|active| active.seed != seed) {
            people.sessions.end(raised).await?;
            return Err(Refusal::NotLoggedIn.into());
        }
        people.sessions.end(former).await?;
        Ok(token)
    }
}
