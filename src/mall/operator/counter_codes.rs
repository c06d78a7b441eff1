//! Login codes that staff make at a counter: for a customer whose phone gets no message there.
//!
//! Reasons: `src/decisions/0090-counter-codes.md`.

use std::time::Duration;

use mallbox_storage::codes::MACHINE_CODE_TTL;
use mallbox_storage::{Limit, Phone, RateLimitOutcome, Role};
use serde_json::json;

use crate::mall::base::{
    AuditLog, AuditedAction, By, Context, Failure, InputError, Refusal, SharedContext, StaffRefusal,
    run_audited,
};
use crate::mall::people::Accounts;

/// Codes of a person in an hour.
const CODES_OF_SELLER: Limit = Limit { count: 30, per: Duration::from_secs(3_600) };

/// The service for login codes made at a counter.
pub struct CounterCodes {
    context: Context,
    audit: AuditLog,
}

/// A login code, for the customer to type.
#[derive(Clone, PartialEq, Eq)]
pub struct CounterCode {
    /// Twelve digits.
    pub code: String,
    /// Lifetime.
    pub ttl: Duration,
    /// Whether the log-in will make an account: the phone has none.
    pub is_new: bool,
}

impl CounterCodes {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog) -> Self {
        Self { context, audit }
    }

    /// Makes a login code for a phone. Replaces the last one made here or on the machine. Written to the
    /// audit log.
    ///
    /// # Errors
    /// [`StaffRefusal::NoCounterCodes`]; [`InputError::Phone`]; [`Refusal::TooManyTries`] after 30 in an
    /// hour; [`StaffRefusal::CodeOfOperator`].
    pub async fn make(&self, accounts: &Accounts, by: By, phone: &str) -> Result<CounterCode, Failure> {
        let SharedContext { storage, settings, .. } = &*self.context;
        if !settings.counter_codes {
            return Err(StaffRefusal::NoCounterCodes.into());
        }
        let phone = Phone::parse(phone).ok_or(InputError::Phone)?;
        let key = format!("counter-codes:{}", by.user()?);
        if let RateLimitOutcome::Refused { retry_after } =
            storage.base.rate_limits.pass(&key, CODES_OF_SELLER, by.at).await?
        {
            return Err(Refusal::TooManyTries { retry_after }.into());
        }
        let user = storage.people.users.by_phone(&phone).await?;
        if user.as_ref().is_some_and(|user| user.role == Role::Operator) {
            return Err(StaffRefusal::CodeOfOperator.into());
        }
        let (code, request) = accounts.code_of_counter(&phone).await?;
        let trace = accounts.phone_trace(phone.as_str()).await;
        let action = AuditedAction {
            action: "staff.log-in-code",
            subject: user.as_ref().map_or_else(|| "new user".to_owned(), |user| format!("user {}", user.id)),
            detail: json!({ "phone": trace.map(|trace| trace.to_string()) }),
        };
        let (codes, rules) = (storage.people.codes.clone(), settings.codes);
        run_audited(&self.audit, by, action, async move {
            // No limit applies: any outcome but an error is a stored code.
            let _ = codes.issue(&request, &rules, by.at).await?;
            Ok(CounterCode { code, ttl: MACHINE_CODE_TTL, is_new: user.is_none() })
        })
        .await
    }
}
