//! Log-ins with a client address: those of operators are written to the audit log.

use std::net::IpAddr;

use mallbox_storage::{Actor, Phone, Role, Timestamp, UserId};
use serde_json::json;

use super::session_tokens::BegunSession;
use super::{Accounts, Client, Credential, PhoneTrace};
use crate::mall::base::{AuditLog, Failure};

/// A completed log-in.
#[derive(Clone, Debug)]
pub struct LoggedIn {
    /// The token of the new session.
    pub token: String,
    /// The user of the session.
    pub user: UserId,
    /// Whether the user is an operator.
    pub is_operator: bool,
}

impl Accounts {
    /// Logs in as [`log_in`](Self::log_in). An operator's log-in is written to the audit log, with the
    /// client's address and the kind of the credential.
    ///
    /// # Errors
    /// Those of [`log_in`](Self::log_in). [`Failure::Store`] also if the audit log cannot be written: then
    /// the session is ended, and nobody has its token.
    pub async fn log_in_from(
        &self,
        client: Client,
        phone: &str,
        proof: Credential<'_>,
        now: Timestamp,
    ) -> Result<LoggedIn, Failure> {
        let address = client.address;
        let BegunSession { token, user } = self.begin_log_in(phone, proof, client, now).await?;
        let is_operator = user.role == Role::Operator;
        if is_operator && let Err(failure) = self.audit_log_in(user.id, address, proof, now).await {
            self.log_out(&token).await?;
            return Err(failure);
        }
        Ok(LoggedIn { token, user: user.id, is_operator })
    }

    async fn audit_log_in(
        &self,
        user: UserId,
        address: Option<IpAddr>,
        proof: Credential<'_>,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let by = match proof {
            Credential::Code(_) => "code",
            Credential::Password(_) => "password",
        };
        let detail = json!({ "address": address.map(|address| address.to_string()), "by": by });
        let audit = AuditLog::new(self.context.clone());
        let subject = format!("user {user}");
        audit.begin(Actor::User(user), "user.log-in", subject, detail, now).await?.finish(Ok(())).await
    }

    /// Returns the trace of a phone for logs; `None` for a malformed number, or while the key of login codes
    /// cannot be read.
    pub async fn phone_trace(&self, phone: &str) -> Option<PhoneTrace> {
        self.codes.trace(&Phone::parse(phone)?).await.ok()
    }
}
