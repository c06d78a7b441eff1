//! Staff: log-in by PIN at a trusted kiosk, and the list of people.
//!
//! Reasons and figures: `src/decisions/0088-staff.md`.

mod pins;
mod register;

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{Actor, Limit, NewSession, RateLimitOutcome, Timestamp};
use serde_json::json;

use super::Passwords;
use super::accounts::{Client, CurrentSession, staff_session_key, staff_token};
use crate::mall::base::kiosk_keys::Kiosk;
use crate::mall::base::locked_setting::SettingTurn;
use crate::mall::base::staff_list::{StaffList, StaffMember};
use crate::mall::base::{AuditLog, Context, Failure, Random, Refusal, StaffRefusal};

pub use self::pins::{NewPin, Pin, StaffKey};
pub use self::register::StaffRegister;

/// Attempts with a PIN per kiosk, right ones included: nobody types faster.
const ATTEMPTS_OF_KIOSK: Limit = Limit { count: 10, per: Duration::from_secs(60) };
/// Attempts with a PIN at all kiosks of the mall, without those of kiosks that have to wait: 100 people log
/// in six times an hour.
const ATTEMPTS_OF_MALL: Limit = Limit { count: 600, per: Duration::from_secs(3_600) };

/// The service for log-ins of staff.
pub struct Staff {
    context: Context,
    audit: AuditLog,
    random: Arc<Random>,
    register: StaffRegister,
}

/// A person who has logged in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaffLogIn {
    /// The token of the new session.
    pub token: String,
    /// The person.
    pub member: StaffMember,
}

impl Staff {
    /// Creates the service. `key` is mixed into the stored PINs and kept outside of the database; `passwords`
    /// hashes them.
    #[must_use]
    pub fn new(
        context: Context,
        audit: AuditLog,
        random: Arc<Random>,
        (key, passwords): (StaffKey, Passwords),
    ) -> Self {
        let register = StaffRegister::new(context.clone(), passwords, key);
        Self { context, audit, random, register }
    }

    /// Returns the list of people, for the operators' service.
    #[must_use]
    pub fn register(&self) -> &StaffRegister {
        &self.register
    }

    /// Begins a session of the person with this PIN, at the kiosk of the key. Written to the audit log. The
    /// session ends after [`staff_session_ttl`](crate::mall::Settings::staff_session_ttl) without a call.
    ///
    /// One attempt at a time in the whole mall, so that no attempt escapes the wait after a wrong PIN.
    ///
    /// # Errors
    /// [`StaffRefusal::UnknownKiosk`], before anything is counted; [`Refusal::TooManyTries`];
    /// [`Refusal::BadValue`] for a text that no PIN can be; [`StaffRefusal::WrongPin`]. After
    /// [`Failure::Store`] no token is handed out.
    pub async fn log_in(
        &self,
        kiosk_key: Option<&str>,
        pin: &str,
        client: Client,
        now: Timestamp,
    ) -> Result<StaffLogIn, Failure> {
        let kiosk = match kiosk_key {
            Some(key) => self.context.kiosk_of(key, now).await?,
            None => None,
        };
        let kiosk = kiosk.ok_or(StaffRefusal::UnknownKiosk)?;
        let pin = Pin::parse(pin).ok_or(Refusal::BadValue("pin"))?;
        self.count(&format!("staff-pin:{}", kiosk.id), ATTEMPTS_OF_KIOSK, now).await?;
        let turn = self.register.turn().await?;
        let attempt = self.log_in_held(&turn, (&kiosk, &pin), client, now).await;
        turn.leave().await;
        attempt
    }

    async fn log_in_held(
        &self,
        turn: &SettingTurn,
        (kiosk, pin): (&Kiosk, &Pin),
        client: Client,
        now: Timestamp,
    ) -> Result<StaffLogIn, Failure> {
        let attempts = self.register.attempts(kiosk.id, now).await?;
        // After the wait of the kiosk: one that hammers uses up nothing of the others.
        self.count("staff-pins", ATTEMPTS_OF_MALL, now).await?;
        let hash = self.register.hash(pin).await?;
        let mut list = self.context.staff().await?;
        let Some(member) = list.of_pin(&hash).cloned() else {
            if attempts.count_wrong(turn, now).await? {
                tracing::warn!(kiosk = kiosk.id, name = %kiosk.name, "too many wrong PINs at a kiosk");
            }
            return Err(StaffRefusal::WrongPin.into());
        };
        // A session counts only if it began with the PIN or later.
        if list.set_pin_time_back(member.id, now) {
            turn.put(StaffList::SETTING, &list.to_setting()).await?;
        }
        let token = self.begin((&member, kiosk), client, now).await?;
        match self.audit_log_in(&member, kiosk, now).await {
            Ok(()) => Ok(StaffLogIn { token, member }),
            Err(failure) => {
                self.context.storage.people.sessions.end(staff_session_key(&token)).await?;
                Err(failure)
            }
        }
    }

    async fn begin(
        &self,
        (member, kiosk): (&StaffMember, &Kiosk),
        client: Client,
        now: Timestamp,
    ) -> Result<String, Failure> {
        let token = staff_token(&self.random, kiosk.id);
        let Client { address, browser } = client;
        let ttl = self.context.settings.staff_session_ttl;
        let session = NewSession { address, browser, ..NewSession::of(member.user(), ttl) };
        self.context.storage.people.sessions.begin(staff_session_key(&token), &session, now).await?;
        Ok(token)
    }

    async fn audit_log_in(&self, member: &StaffMember, kiosk: &Kiosk, now: Timestamp) -> Result<(), Failure> {
        let detail = json!({ "kiosk": kiosk.name });
        let subject = format!("staff {}", member.id);
        let actor = Actor::User(member.user());
        self.audit.begin(actor, "staff.log-in", subject, detail, now).await?.finish(Ok(())).await
    }

    /// Returns the person of a session; `None` for a session of any other user, for a person removed since,
    /// for a session from before the person's present PIN, and for one of a kiosk removed since. Reads the
    /// database, and the list of kiosks cached for seconds.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails; [`Refusal::Busy`] if the kiosks cannot be read in time.
    pub async fn member(
        &self,
        session: &CurrentSession,
        now: Timestamp,
    ) -> Result<Option<StaffMember>, Failure> {
        let Some(kiosk) = session.kiosk() else { return Ok(None) };
        // Ended sessions are checked once more: an interrupted change may have left some.
        let is_of_pin = |member: &&StaffMember| session.begun().is_some_and(|at| at >= member.pin_since);
        let member = self.context.staff().await?.member(session.user()).filter(is_of_pin).cloned();
        if member.is_some() && !self.context.kiosks(now).await?.has(kiosk) {
            return Ok(None);
        }
        Ok(member)
    }

    async fn count(&self, key: &str, limit: Limit, now: Timestamp) -> Result<(), Failure> {
        match self.context.storage.base.rate_limits.pass(key, limit, now).await? {
            RateLimitOutcome::Allowed => Ok(()),
            RateLimitOutcome::Refused { retry_after } => Err(Refusal::TooManyTries { retry_after }.into()),
        }
    }
}
