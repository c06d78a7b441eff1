//! Limits on password attempts, before the hash.
//!
//! Reasons and figures: `src/decisions/0040-limits-of-log-ins.md`.

use std::net::IpAddr;
use std::time::Duration;

use mallbox_storage::{Limit, Phone, RateLimitOutcome, Requester, Timestamp, UserId, hex};

use super::Accounts;
use crate::mall::base::Failure;
use crate::mall::people::passwords::Priority;

/// Password attempts per phone and network, and changes per user: a burst of five, then one more every two
/// minutes.
///
/// Correct passwords count too. A limit on wrong passwords alone would be checked before the hash and counted
/// after it, and a burst of concurrent attempts would slip through.
const PASSWORD_ATTEMPTS: Limit = Limit { count: 5, per: Duration::from_secs(600) };

impl Accounts {
    /// Counts a log-in by password. Returns the priority of the hash.
    ///
    /// A network known to the phone has one counter, which no other network touches. Others also count
    /// against a limit per network, over all phones, and against a limit per phone. The phone's limit comes
    /// last, so that one network cannot use it up.
    pub(super) async fn count_password_attempt(
        &self,
        phone: &Phone,
        requester: Requester,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<Priority, Failure> {
        let settings = &self.context.settings;
        let (network, phone_number) = (hex(&requester.0), phone.as_str());
        let own = format!("password:{phone_number}:{network}");
        if self.context.storage.people.codes.is_known(phone, requester, now).await? {
            self.count_attempt(&own, Some(PASSWORD_ATTEMPTS), now).await?;
            return Ok(Priority::Known);
        }
        let of_network = format!("passwords:{network}");
        let limit = settings.password_limit_of_address;
        let limit = limit.map(|limit| settings.shared_networks.limit_of(limit, address));
        let counted = self.count_attempt(&of_network, limit, now).await;
        counted.inspect_err(|_| self.warnings.of_address(address))?;
        self.count_attempt(&own, Some(PASSWORD_ATTEMPTS), now).await?;
        let of_phone = format!("password:{phone_number}");
        self.count_attempt(&of_phone, settings.password_limit_of_phone, now).await?;
        Ok(Priority::Stranger)
    }

    /// Counts an attempt to change a password. Log-ins have other counters, so strangers cannot keep a user
    /// from changing a password.
    pub(super) async fn count_password_change(&self, user: UserId, now: Timestamp) -> Result<(), Failure> {
        self.count_attempt(&format!("password-change:{user}"), Some(PASSWORD_ATTEMPTS), now).await
    }

    async fn count_attempt(&self, key: &str, limit: Option<Limit>, now: Timestamp) -> Result<(), Failure> {
        let Some(limit) = limit else { return Ok(()) };
        match self.context.storage.base.rate_limits.pass(key, limit, now).await? {
            RateLimitOutcome::Allowed => Ok(()),
            RateLimitOutcome::Refused { retry_after } => Err(self.too_many_tries(retry_after)),
        }
    }
}
