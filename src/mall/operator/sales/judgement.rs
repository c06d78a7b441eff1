//! Judgement of claims, from the operator's side: modes of sales, rules, and the decision log.

use mallbox_storage::{Judgement, Signal, StoredAttempt, Timestamp, VoucherId};
use serde_json::json;

use super::SaleAdmin;
use super::attack::{AttackView, RulesPreview};
use crate::mall::base::audited_action::{AuditedAction, By, run_audited};
use crate::mall::base::judgement_rules::Rules;
use crate::mall::base::{Failure, Refusal};

/// Attempts read for a view of an attack or a preview of rules.
const VIEWED_MAX: u32 = 10_000;

/// An attempt with the points of its signals by the rules in force.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttemptView {
    /// The attempt.
    pub stored: StoredAttempt,
    /// Signals with value and points.
    pub signals: Vec<(Signal, u32, u32)>,
}

/// The rules in force, as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RulesView {
    /// The table.
    pub text: String,
    /// Whether this is the default.
    pub is_default: bool,
}

impl RulesView {
    fn new(text: Option<String>) -> Self {
        let is_default = text.is_none();
        Self { text: text.unwrap_or_else(|| Rules::DEFAULT_TEXT.to_owned()), is_default }
    }
}

impl SaleAdmin {
    /// Attempts per page of the decision log.
    pub const ATTEMPTS_PAGE: u32 = 100;

    /// Returns the judgement of a sale; `None` if its claims are not judged.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn judgement(&self, voucher: VoucherId) -> Result<Option<Judgement>, Failure> {
        Ok(self.record(voucher).await?.judgement)
    }

    /// Sets or removes the judgement of a sale. A repeat succeeds. Returns the judgement.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]. After [`Failure::Store`] a repeat stores the judgement.
    pub async fn put_judgement(
        &self,
        by: By,
        voucher: VoucherId,
        judgement: Option<Judgement>,
    ) -> Result<Option<Judgement>, Failure> {
        let (change, vouchers) = (("sale.judgement", json!({ "judgement": judgement })), self.vouchers());
        let store = async move { vouchers.put_judgement(voucher, judgement, by.at).await };
        Ok(self.put_setting(by, voucher, change, store).await?.judgement)
    }

    /// Returns what the decision log says of the last five minutes of a sale.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Busy`] or [`Failure::Store`] if the store fails.
    pub async fn attack(&self, voucher: VoucherId, now: Timestamp) -> Result<AttackView, Failure> {
        self.record(voucher).await?;
        let rules = self.context.judgement_rules(now).await?;
        let attempts = self.last_attempts(voucher).await?;
        Ok(AttackView::of(&attempts, attempts.len() >= VIEWED_MAX as usize, &rules, now))
    }

    /// Returns the number of attempts that this process could not log.
    #[must_use]
    pub fn lost_attempts(&self) -> u64 {
        self.sales.lost_attempts()
    }

    /// Returns a page of the decision log of a sale: attempts with numbers below `before`, newest first.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Busy`] or [`Failure::Store`] if the store fails.
    pub async fn attempts(
        &self,
        voucher: VoucherId,
        before: Option<u64>,
        now: Timestamp,
    ) -> Result<Vec<AttemptView>, Failure> {
        self.record(voucher).await?;
        let rules = self.context.judgement_rules(now).await?;
        self.write_log().await;
        let attempts = &self.context.storage.selling.attempts;
        let page = attempts.of_sale(voucher, before, Self::ATTEMPTS_PAGE).await?;
        let view = |stored: StoredAttempt| {
            let signals = stored.attempt.signals;
            let with_points = |(signal, value)| (signal, value, rules.points(&signals, signal));
            AttemptView { stored, signals: signals.iter().map(with_points).collect() }
        };
        Ok(page.into_iter().map(view).collect())
    }

    /// Returns what the last attempts at a sale would be by other rules.
    ///
    /// # Errors
    /// [`Refusal::BadRules`]; [`Refusal::NotFound`]; [`Refusal::Busy`] or [`Failure::Store`] if the store
    /// fails.
    pub async fn preview_rules(
        &self,
        voucher: VoucherId,
        text: &str,
        now: Timestamp,
    ) -> Result<RulesPreview, Failure> {
        let others = Rules::parse(text).map_err(Refusal::BadRules)?;
        self.record(voucher).await?;
        let rules = self.context.judgement_rules(now).await?;
        Ok(RulesPreview::of(&self.last_attempts(voucher).await?, &rules, &others))
    }

    /// Returns the rules in force.
    ///
    /// # Errors
    /// [`Refusal::Busy`] or [`Failure::Store`] if the store fails.
    pub async fn judgement_rules(&self, now: Timestamp) -> Result<RulesView, Failure> {
        Ok(RulesView::new(self.context.judgement_rules_text(now).await?))
    }

    /// Replaces the rules. An empty text restores the default. A repeat succeeds.
    ///
    /// # Errors
    /// [`Refusal::BadRules`]; after [`Failure::Store`] a repeat stores the rules.
    pub async fn put_judgement_rules(&self, by: By, text: String) -> Result<RulesView, Failure> {
        let text = (!text.trim().is_empty()).then_some(text);
        if let Some(text) = &text {
            Rules::parse(text).map_err(Refusal::BadRules)?;
        }
        let action = AuditedAction {
            action: "judgement.rules",
            subject: "judgement".to_owned(),
            detail: json!({ "rules": text }),
        };
        let context = self.context.clone();
        run_audited(&self.audit, by, action, async move {
            context.set_judgement_rules(text.as_deref().unwrap_or_default()).await?;
            Ok(RulesView::new(text))
        })
        .await
    }

    async fn last_attempts(&self, voucher: VoucherId) -> Result<Vec<StoredAttempt>, Failure> {
        self.write_log().await;
        Ok(self.context.storage.selling.attempts.of_sale(voucher, None, VIEWED_MAX).await?)
    }

    /// Writes attempts that wait in this process, so that operators see the last moment.
    async fn write_log(&self) {
        if let Err(error) = self.sales.store_attempts().await {
            tracing::warn!(%error, "could not write attempts to the decision log; they are lost");
        }
    }
}
