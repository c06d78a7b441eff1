//! Login codes: sent within the limits, and checked.
//!
//! Reasons and figures: `src/decisions/0040-limits-of-log-ins.md`.

use std::net::IpAddr;
use std::time::Duration;

use mallbox_storage::{
    CheckOutcome, CodeAttempt, CodeRequest, IssueOutcome, Phone, RateLimitOutcome, Requester, Role,
    TicketHash, Timestamp, User, hex,
};
use sha2::{Digest as _, Sha256};

use super::session_tokens::is_token;
use super::{Accounts, Client, SentCode};
use crate::mall::base::{Failure, InputError, Refusal, whole_seconds};
use crate::mall::people::sms::Sms;

impl Accounts {
    /// Sends a login code to a phone. Only the client's network can use the code.
    ///
    /// A keyed hash of the code is stored before the code is sent. If sending fails, the code still counts
    /// towards the limits: delivery is retried until the code expires, or until the next code of the phone,
    /// available after the usual gap. Succeeds if the gateway does not respond: the code may be on its way.
    ///
    /// # Errors
    /// [`InputError::Phone`]; [`InputError::CodeTooSoon`] or [`InputError::CodesSpent`] with the seconds to
    /// wait; [`Refusal::Busy`] if sending failed.
    pub async fn send_code(&self, phone: &str, client: &Client, now: Timestamp) -> Result<(), Failure> {
        self.send(phone, client.address, None, now).await
    }

    /// Sends a login code to a phone. Returns a ticket, without which nobody can use the code.
    ///
    /// # Errors
    /// As for [`send_code`](Self::send_code).
    pub async fn send_code_for_ticket(
        &self,
        phone: &str,
        client: &Client,
        now: Timestamp,
    ) -> Result<String, Failure> {
        let ticket = self.random.token();
        self.send(phone, client.address, Some(hash_of_ticket(&ticket)), now).await?;
        Ok(ticket)
    }

    async fn send(
        &self,
        phone: &str,
        address: Option<IpAddr>,
        ticket: Option<TicketHash>,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let phone = Phone::parse(phone).ok_or(InputError::Phone)?;
        let requester = self.requesters.of(address).await?;
        self.count_code(&phone, requester, address, now).await?;
        let plain = self.random.code();
        let code = self.codes.hash(&phone, &plain).await?;
        let request = CodeRequest { phone, requester, code, ticket, is_operator: false };
        self.issue(&request, now).await?;
        let expires = now + self.context.settings.codes.lives;
        // Not drawn: the random numbers of a seed stay those of its codes and tokens.
        let key = format!("{}-{}", now.as_millis(), hex(&request.code.0[..8]));
        let sms = Sms { phone: request.phone, code: plain, key };
        // A code in doubt counts as sent: another code would make two.
        self.sms.send(sms, expires).await.map_err(|_| Refusal::Busy.into())
    }

    /// Counts a code against the limit of the client's network, unless the network is known to the phone.
    async fn count_code(
        &self,
        phone: &Phone,
        requester: Requester,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let storage = &self.context.storage;
        let settings = &self.context.settings;
        let Some(limit) = settings.code_limit_of_address else { return Ok(()) };
        if storage.people.codes.is_known(phone, requester, now).await? {
            return Ok(());
        }
        let key = format!("codes:{}", hex(&requester.0));
        let limit = settings.shared_networks.limit_of(limit, address);
        match storage.base.rate_limits.pass(&key, limit, now).await? {
            RateLimitOutcome::Allowed => Ok(()),
            RateLimitOutcome::Refused { retry_after } => {
                self.warnings.of_address(address);
                Err(InputError::CodeTooSoon(whole_seconds(retry_after)).into())
            }
        }
    }

    async fn issue(&self, request: &CodeRequest, now: Timestamp) -> Result<(), Failure> {
        let storage = &self.context.storage;
        let rules = &self.context.settings.codes;
        let mut outcome = storage.people.codes.issue(request, rules, now).await?;
        if matches!(outcome, IssueOutcome::MallSpent { .. }) && self.is_operator(&request.phone).await? {
            let request = CodeRequest { is_operator: true, ..request.clone() };
            outcome = storage.people.codes.issue(&request, rules, now).await?;
        }
        match outcome {
            IssueOutcome::Issued { of_mall } => {
                if rules.budget(false) == Some(of_mall) {
                    self.warnings.of_budget(of_mall, rules.per_day_of_mall);
                }
                Ok(())
            }
            IssueOutcome::TooSoon { retry_after } | IssueOutcome::TooMany { retry_after } => {
                Err(InputError::CodeTooSoon(whole_seconds(retry_after)).into())
            }
            IssueOutcome::PhoneSpent { retry_after } => {
                self.warnings.of_phone();
                Err(InputError::CodesSpent(whole_seconds(retry_after)).into())
            }
            IssueOutcome::MallSpent { retry_after } => {
                self.warnings.of_spent_budget(rules.per_day_of_mall);
                Err(InputError::CodesSpent(whole_seconds(retry_after)).into())
            }
        }
    }

    async fn is_operator(&self, phone: &Phone) -> Result<bool, Failure> {
        let user = self.context.storage.people.users.by_phone(phone).await?;
        Ok(user.is_some_and(|user| user.role == Role::Operator && user.blocked.is_none()))
    }

    /// Makes a login code on the machine of the mall, for the command line. Returns the code, to be shown to
    /// the operator, and the request to store.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn code_of_machine(&self, phone: &Phone) -> Result<(String, CodeRequest), Failure> {
        let plain = self.random.long_code();
        let request = self.unguessable(phone, &plain).await?;
        Ok((plain, request))
    }

    /// Makes a login code for a customer who is at a counter. Returns the code, to be shown to the staff, and
    /// the request to store.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub(in crate::mall) async fn code_of_counter(
        &self,
        phone: &Phone,
    ) -> Result<(String, CodeRequest), Failure> {
        let plain = self.random.counter_code();
        let request = self.unguessable(phone, &plain).await?;
        Ok((plain, request))
    }

    async fn unguessable(&self, phone: &Phone, plain: &str) -> Result<CodeRequest, Failure> {
        let code = self.codes.hash(phone, plain).await?;
        let (phone, requester) = (phone.clone(), Requester::MACHINE);
        Ok(CodeRequest { phone, requester, code, ticket: None, is_operator: true })
    }

    pub(super) async fn user_by_code(
        &self,
        phone: &Phone,
        sent: SentCode<'_>,
        requester: Requester,
        now: Timestamp,
    ) -> Result<User, Failure> {
        self.check_code(phone, sent, requester, now).await?;
        self.user_of(phone, now).await
    }

    /// Checks a code that has to prove the possession of a phone, and consumes the code if it is correct. A
    /// code of a counter proves none.
    pub(super) async fn use_code(
        &self,
        phone: &Phone,
        sent: SentCode<'_>,
        requester: Requester,
        now: Timestamp,
    ) -> Result<(), Failure> {
        if sent.is_of_counter() {
            return Err(InputError::NoCode.into());
        }
        self.check_code(phone, sent, requester, now).await
    }

    async fn check_code(
        &self,
        phone: &Phone,
        SentCode { code, ticket }: SentCode<'_>,
        requester: Requester,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let ticket = match ticket {
            Some(ticket) if !is_token(ticket) => return Err(InputError::NoCode.into()),
            ticket => ticket.map(hash_of_ticket),
        };
        let code = self.codes.hash(phone, code).await?;
        let attempt = CodeAttempt { phone: phone.clone(), requester, code, ticket };
        let rules = &self.context.settings.codes;
        match self.context.storage.people.codes.check(&attempt, rules, now).await? {
            CheckOutcome::Right => Ok(()),
            CheckOutcome::Wrong => Err(InputError::Code.into()),
            CheckOutcome::NoCode => Err(InputError::NoCode.into()),
            CheckOutcome::TooManyTries { retry_after } => Err(self.too_many_tries(retry_after)),
        }
    }

    /// Returns the refusal of an attempt, and tells the operator what helps the user.
    pub(super) fn too_many_tries(&self, retry_after: Duration) -> Failure {
        self.warnings.of_phone();
        Refusal::TooManyTries { retry_after }.into()
    }

    /// Makes the client's network known to the phone, after a log-in. A failure costs the network its own
    /// limits, and is no reason to fail the log-in.
    pub(super) async fn remember(&self, phone: &Phone, requester: Requester, now: Timestamp) {
        if let Err(error) = self.context.storage.people.codes.remember(phone, requester, now).await {
            tracing::warn!(%error, "could not note the address of a log-in");
        }
    }
}

fn hash_of_ticket(ticket: &str) -> TicketHash {
    TicketHash(Sha256::digest(ticket.as_bytes()).into())
}
