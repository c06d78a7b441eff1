//! Staff: log-in by PIN at a trusted kiosk, and the list of people.
//!
//! Reasons and figures: `src/decisions/0088-staff.md`.

mod pins;
mod register;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{Actor, Limit, NewSession, RateLimitOutcome, Timestamp};
use serde_json::json;

use super::Passwords;
use super::accounts::{Client, CurrentSession, staff_session_key, staff_token};
use crate::mall::base::kiosk_keys::Kiosk;
use crate::mall::base::staff_list::{StaffMember, WrongPins};
use crate::mall::base::{AuditLog, Context, Failure, Random, Refusal, StaffRefusal};

pub use self::pins::{NewPin, Pin, StaffKey};
pub use self::register::StaffRegister;

/// Attempts with a PIN per kiosk, right ones included: nobody types faster.
const ATTEMPTS_OF_KIOSK: Limit = Limit { count: 10, per: Duration::from_secs(60) };
/// Attempts with a PIN at all kiosks of the mall: 100 people log in six times an hour.
const ATTEMPTS_OF_MALL: Limit = Limit { count: 600, per: Duration::from_secs(3_600) };
/// Setting with the wrong PINs by the number of the kiosk.
const WRONG_PINS: &str = "staff.wrong-pins";

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
    /// Creates the service. `key` is mixed into the stored PINs and kept outside of the database.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog, random: Arc<Random>, key: StaffKey) -> Self {
        let passwords = Passwords::new(Arc::clone(&random));
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
        self.count("staff-pins", ATTEMPTS_OF_MALL, now).await?;
        let turn = self.register.turn().await?;
        let attempt = self.log_in_held(&kiosk, &pin, client, now).await;
        turn.leave().await;
        attempt
    }

    async fn log_in_held(
        &self,
        kiosk: &Kiosk,
        pin: &Pin,
        client: Client,
        now: Timestamp,
    ) -> Result<StaffLogIn, Failure> {
        let mut wrong = self.wrong_pins().await?;
        let so_far = wrong.get(&kiosk.id).copied();
        let retry_after = WrongPins::wait(so_far, now);
        if !retry_after.is_zero() {
            return Err(Refusal::TooManyTries { retry_after }.into());
        }
        let hash = self.register.hash(pin).await?;
        let Some(member) = self.context.staff().await?.of_pin(&hash).cloned() else {
            let counted = WrongPins::one_more(so_far, now);
            wrong.retain(|_, wrong| !wrong.is_forgiven(now));
            wrong.insert(kiosk.id, counted);
            let text = serde_json::to_string(&wrong).unwrap_or_default();
            self.context.storage.base.upkeep.put_setting(WRONG_PINS, &text).await?;
            if !WrongPins::wait(Some(counted), now).is_zero() {
                tracing::warn!(kiosk = kiosk.id, name = %kiosk.name, "too many wrong PINs at a kiosk");
            }
            return Err(StaffRefusal::WrongPin.into());
        };
        let token = self.begin(&member, client, now).await?;
        match self.audit_log_in(&member, kiosk, now).await {
            Ok(()) => Ok(StaffLogIn { token, member }),
            Err(failure) => {
                self.context.storage.people.sessions.end(staff_session_key(&token)).await?;
                Err(failure)
            }
        }
    }

    async fn begin(&self, member: &StaffMember, client: Client, now: Timestamp) -> Result<String, Failure> {
        let token = staff_token(&self.random);
        let Client { address, browser } = client;
        let ttl = self.context.settings.staff_session_ttl;
        let session = NewSession { address, browser, ..NewSession::of(member.user(), ttl) };
        self.context.storage.people.sessions.begin(staff_session_key(&token), &session, now).await?;
        Ok(token)
    }

    async fn audit_log_in(&self, member: &StaffMember, kiosk: &Kiosk, now: Timestamp) -> Result<(), Failure> {
        let detail = json!({ "name": member.name, "kiosk": kiosk.name });
        let subject = format!("staff {}", member.id);
        let actor = Actor::User(member.user());
        self.audit.begin(actor, "staff.log-in", subject, detail, now).await?.finish(Ok(())).await
    }

    /// Returns the person of a session; `None` for a session of any other user, and for a person removed
    /// since. Reads the database.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn member(&self, session: &CurrentSession) -> Result<Option<StaffMember>, Failure> {
        if session.user().staff_number().is_none() {
            return Ok(None);
        }
        Ok(self.context.staff().await?.member(session.user()).cloned())
    }

    async fn wrong_pins(&self) -> Result<BTreeMap<u32, WrongPins>, Failure> {
        let text = self.context.storage.base.upkeep.setting(WRONG_PINS).await?;
        let read = text.map_or_else(|| Ok(BTreeMap::new()), |text| serde_json::from_str(&text));
        read.map_err(|error| Failure::Bug(format!("the wrong PINs are unknown to this version: {error}")))
    }

    async fn count(&self, key: &str, limit: Limit, now: Timestamp) -> Result<(), Failure> {
        match self.context.storage.base.rate_limits.pass(key, limit, now).await? {
            RateLimitOutcome::Allowed => Ok(()),
            RateLimitOutcome::Refused { retry_after } => Err(Refusal::TooManyTries { retry_after }.into()),
        }
    }
}
