//! Guarded sales: challenges and passes.

use std::sync::Arc;

use mallbox_storage::{ChallengeKind, Timestamp, UserId, VoucherId};

use super::FlashSales;
use crate::language::Language;
use crate::mall::base::Failure;
use crate::mall::selling::challenge_service::{ChallengeService, WatchedService};
use crate::mall::selling::guard::{Answer, Challenge, GrantedPass, IssuedPass, Visitor};

impl FlashSales {
    /// Adds an external service that gives challenges. Called before the first claim.
    #[must_use]
    pub fn with_challenge_service(self, service: Option<ChallengeService>) -> Self {
        if let Some(service) = service {
            self.inner.guards.use_service(service);
        }
        self
    }

    /// Returns the external service that gives challenges, if the mall has one.
    #[must_use]
    pub fn challenge_service(&self) -> Option<&Arc<WatchedService>> {
        self.inner.guards.service()
    }

    /// Gives a challenge of the wanted kind, or of the preferred kind of the sale.
    ///
    /// # Errors
    /// [`Refusal::UnknownSale`](crate::mall::Refusal::UnknownSale),
    /// [`Refusal::Ended`](crate::mall::Refusal::Ended), [`Refusal::Guard`](crate::mall::Refusal::Guard),
    /// [`Refusal::RateLimited`](crate::mall::Refusal::RateLimited),
    /// [`Refusal::Clock`](crate::mall::Refusal::Clock), [`Refusal::Busy`](crate::mall::Refusal::Busy);
    /// [`Failure::Store`] if the store fails.
    pub async fn challenge(
        &self,
        visitor: Visitor<'_>,
        voucher: VoucherId,
        wanted: Option<ChallengeKind>,
        (language, now): (Language, Timestamp),
    ) -> Result<Challenge, Failure> {
        let known = self.inner.known(voucher, now).await?;
        // Nobody solves a challenge for a claim that is refused.
        self.inner.context.require_sure_clock()?;
        self.inner.guards.challenge(visitor, &known.sale, wanted, (language, now)).await
    }

    /// Issues a pass for the answer to a challenge.
    ///
    /// # Errors
    /// As [`challenge`](Self::challenge).
    pub async fn pass(
        &self,
        visitor: Visitor<'_>,
        voucher: VoucherId,
        solved: (&str, &Answer),
        now: Timestamp,
    ) -> Result<IssuedPass, Failure> {
        let known = self.inner.known(voucher, now).await?;
        self.inner.guards.pass(visitor, &known.sale, solved, now).await
    }

    /// Issues a pass without a challenge, for tests of malls with guarded sales.
    ///
    /// # Errors
    /// [`Refusal::UnknownSale`](crate::mall::Refusal::UnknownSale),
    /// [`Refusal::Ended`](crate::mall::Refusal::Ended), [`Refusal::Guard`](crate::mall::Refusal::Guard);
    /// [`Failure::Store`] if the store fails.
    pub async fn grant_pass(
        &self,
        user: UserId,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<GrantedPass, Failure> {
        let known = self.inner.known(voucher, now).await?;
        self.inner.guards.grant(user, &known.sale, now).await
    }

    /// Returns the answer to a challenge, for tests of malls with guarded sales.
    ///
    /// # Errors
    /// [`Refusal::Guard`](crate::mall::Refusal::Guard) for a challenge of another visitor;
    /// [`Failure::Store`] if the store fails.
    pub async fn challenge_answer(
        &self,
        visitor: Visitor<'_>,
        voucher: VoucherId,
        token: &str,
        now: Timestamp,
    ) -> Result<Answer, Failure> {
        self.inner.guards.answer(visitor, voucher, token, now).await
    }
}
