//! The [`Codes`] port: state in memory, every change in the journal.
//!
//! Reasons and figures: `src/decisions/0040-limits-of-log-ins.md`.

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_storage::{
    CheckOutcome, CodeAttempt, CodeRequest, CodeRules, Codes, IssueOutcome, Phone, Requester, StoreError,
    Timestamp,
};
use parking_lot::Mutex;

use super::code_codec::{self, Entry};
use super::code_decisions::CodeState;
use super::journal::{Change, Journal, durable};

/// Login codes and known requesters.
pub(crate) struct EmbeddedCodes {
    journal: Arc<Journal>,
    /// One lock: codes are requested far less often than sessions are checked, and the budget is one number.
    state: Mutex<CodeState>,
}

impl EmbeddedCodes {
    /// Loads all codes from the journal's entries. Forgets the codes of older versions.
    pub(crate) fn load(journal: Arc<Journal>, entries: &[(Vec<u8>, Vec<u8>)]) -> Result<Self, String> {
        let mut state = CodeState::default();
        for (key, value) in entries {
            match code_codec::decode(key, value)? {
                Entry::Slot(phone, requester, slot) => {
                    state.phones.entry(phone).or_default().slots.insert(requester, slot);
                }
                Entry::Ticket(phone, ticket, live) => {
                    state.phones.entry(phone).or_default().tickets.insert(ticket, live);
                }
                Entry::Strangers(phone, strangers) => {
                    state.phones.entry(phone).or_default().strangers = strangers;
                }
                Entry::Known(phone, list) => drop(state.known.insert(phone, list)),
                Entry::Mall(codes) => state.mall = codes,
                Entry::Outdated => journal.change_lazily(Change { key: key.clone(), value: None }),
            }
        }
        Ok(Self { journal, state: Mutex::new(state) })
    }

    /// Removes expired codes, counters and requesters from memory and disk.
    pub(crate) fn sweep(&self, now: Timestamp) {
        for change in self.state.lock().sweep(now) {
            self.journal.change_lazily(change);
        }
    }
}

/// Returns whether an entry of the journal belongs to the codes.
pub(crate) fn owns(key: &[u8]) -> bool {
    code_codec::owns(key)
}

#[async_trait]
impl Codes for EmbeddedCodes {
    async fn issue(
        &self,
        request: &CodeRequest,
        rules: &CodeRules,
        now: Timestamp,
    ) -> Result<IssueOutcome, StoreError> {
        const OP: &str = "codes.issue";
        self.journal.ready(OP)?;
        let (outcome, written) = {
            let mut state = self.state.lock();
            let (outcome, changes) = state.issue(request, rules, now);
            if changes.is_empty() {
                return Ok(outcome);
            }
            (outcome, self.journal.change(changes))
        };
        durable(OP, written).await?;
        Ok(outcome)
    }

    async fn check(
        &self,
        attempt: &CodeAttempt,
        rules: &CodeRules,
        now: Timestamp,
    ) -> Result<CheckOutcome, StoreError> {
        const OP: &str = "codes.check";
        self.journal.ready(OP)?;
        let (outcome, written) = {
            let mut state = self.state.lock();
            let (outcome, changes) = state.check(attempt, rules, now);
            if changes.is_empty() {
                return Ok(outcome);
            }
            (outcome, self.journal.change(changes))
        };
        durable(OP, written).await?;
        Ok(outcome)
    }

    async fn is_known(
        &self,
        phone: &Phone,
        requester: Requester,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        Ok(self.state.lock().is_known(phone, requester, now))
    }

    async fn remember(&self, phone: &Phone, requester: Requester, now: Timestamp) -> Result<(), StoreError> {
        const OP: &str = "codes.remember";
        self.journal.ready(OP)?;
        let written = {
            let mut state = self.state.lock();
            let Some(change) = state.remember(phone, requester, now) else { return Ok(()) };
            self.journal.change([change])
        };
        durable(OP, written).await
    }
}
