//! The [`Codes`] port: a script per operation.
//!
//! All keys of codes have one hash tag, since a script compares counters of the phone with the mall's. So one
//! node of a cluster holds all codes; the mall's budget keeps their number small.
//!
//! Reasons and figures: `src/decisions/0040-limits-of-log-ins.md`.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::backend::{
    CODE_DAY, KNOWN_FOR, KNOWN_REQUESTERS_MAX, MACHINE_CODE_TTL, TRIES_HOUR, latest_expiry,
};
use mallbox_storage::{
    CheckOutcome, CodeAttempt, CodeRequest, CodeRules, Codes, IssueOutcome, Phone, Requester, StoreError,
    Timestamp, hex,
};

use super::keys::Keys;
use super::link::{Idempotence, Link};
use super::script::{CHECK_CODE, ISSUE_CODE, REMEMBER_REQUESTER};
use crate::spans::{EXPIRY_GRACE, millis};

/// Login codes and known requesters in Redis.
pub(super) struct RedisCodes {
    pub(super) link: Link,
    pub(super) keys: Keys,
}

impl RedisCodes {
    async fn issue_on_machine(
        &self,
        request: &CodeRequest,
        now: Timestamp,
    ) -> Result<IssueOutcome, StoreError> {
        const OP: &str = "codes.issue";
        let key = self.keys.codes_of(&request.phone, Requester::MACHINE);
        let mut put = redis::cmd("HSET");
        let expires = (now + MACHINE_CODE_TTL).as_millis();
        put.arg(&key).arg("code").arg(hex(&request.code.0)).arg("expires").arg(expires).arg("wrong").arg(0);
        let _: u64 = self.link.query(OP, Idempotence::Safe, &put).await?;
        let mut expire = redis::cmd("PEXPIRE");
        expire.arg(&key).arg(millis(MACHINE_CODE_TTL.saturating_add(EXPIRY_GRACE)));
        let _: u64 = self.link.query(OP, Idempotence::Safe, &expire).await?;
        Ok(IssueOutcome::Issued { of_mall: 0 })
    }
}

#[async_trait]
impl Codes for RedisCodes {
    async fn issue(
        &self,
        request: &CodeRequest,
        rules: &CodeRules,
        now: Timestamp,
    ) -> Result<IssueOutcome, StoreError> {
        const OP: &str = "codes.issue";
        let CodeRequest { phone, requester, code, ticket, is_operator } = request;
        if *requester == Requester::MACHINE {
            return self.issue_on_machine(request, now).await;
        }
        let slot = self.keys.codes_of(phone, *requester);
        let place = ticket.map_or_else(|| slot.clone(), |ticket| self.keys.code_of_ticket(phone, ticket));
        let keys = [slot, place, self.keys.known_requesters(phone), self.keys.code_counters(phone)];
        let counters_last = CODE_DAY.max(rules.lives).max(rules.gap).saturating_add(EXPIRY_GRACE);
        let call = ISSUE_CODE
            .on(keys.into_iter().chain([self.keys.codes_of_mall()]))
            .arg(hex(&code.0))
            .arg(now.as_millis())
            .arg((now + rules.lives).as_millis())
            .arg(hex(&requester.0))
            .arg(millis(rules.gap))
            .arg(rules.per_day)
            .arg(rules.per_day_of_phone)
            .arg(rules.budget(true).unwrap_or(0))
            .arg(rules.budget(false).unwrap_or(0))
            .arg(u8::from(*is_operator))
            .arg(millis(CODE_DAY))
            .arg(millis(KNOWN_FOR))
            .arg(millis(counters_last))
            .arg(millis(rules.lives.saturating_add(EXPIRY_GRACE)));
        let (word, number): (String, u64) = self.link.run(OP, Idempotence::Never, call).await?;
        let retry_after = Duration::from_millis(number);
        match word.as_str() {
            "issued" => Ok(IssueOutcome::Issued { of_mall: u32::try_from(number).unwrap_or(u32::MAX) }),
            "too soon" => Ok(IssueOutcome::TooSoon { retry_after }),
            "too many" => Ok(IssueOutcome::TooMany { retry_after }),
            "phone" => Ok(IssueOutcome::PhoneSpent { retry_after }),
            "mall" => Ok(IssueOutcome::MallSpent { retry_after }),
            _ => Err(StoreError::Corrupt { op: OP, key: word }),
        }
    }

    async fn check(
        &self,
        attempt: &CodeAttempt,
        rules: &CodeRules,
        now: Timestamp,
    ) -> Result<CheckOutcome, StoreError> {
        const OP: &str = "codes.check";
        let CodeAttempt { phone, requester, code, ticket } = attempt;
        let keys = [
            self.keys.codes_of(phone, Requester::MACHINE),
            match ticket {
                Some(ticket) => self.keys.code_of_ticket(phone, *ticket),
                None => self.keys.codes_of(phone, *requester),
            },
            self.keys.known_requesters(phone),
            self.keys.code_counters(phone),
        ];
        let call = CHECK_CODE
            .on(keys)
            .arg(hex(&code.0))
            .arg(now.as_millis())
            .arg(latest_expiry(rules.lives, now).as_millis())
            .arg(latest_expiry(MACHINE_CODE_TTL, now).as_millis())
            .arg(rules.tries)
            .arg(hex(&requester.0))
            .arg(rules.tries_per_hour)
            .arg(millis(TRIES_HOUR))
            .arg(millis(KNOWN_FOR))
            .arg(millis(CODE_DAY.saturating_add(EXPIRY_GRACE)));
        let (word, wait): (String, u64) = self.link.run(OP, Idempotence::Never, call).await?;
        match word.as_str() {
            "right" => Ok(CheckOutcome::Right),
            "wrong" => Ok(CheckOutcome::Wrong),
            "none" => Ok(CheckOutcome::NoCode),
            "too many" => Ok(CheckOutcome::TooManyTries { retry_after: Duration::from_millis(wait) }),
            _ => Err(StoreError::Corrupt { op: OP, key: word }),
        }
    }

    async fn is_known(
        &self,
        phone: &Phone,
        requester: Requester,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut noted = redis::cmd("HGET");
        noted.arg(self.keys.known_requesters(phone)).arg(format!("at:{}", hex(&requester.0)));
        let noted: Option<i64> = self.link.query("codes.is_known", Idempotence::Safe, &noted).await?;
        Ok(noted.is_some_and(|noted| now.since(Timestamp::from_millis(noted)) < KNOWN_FOR))
    }

    async fn remember(&self, phone: &Phone, requester: Requester, now: Timestamp) -> Result<(), StoreError> {
        let call = REMEMBER_REQUESTER
            .on([self.keys.known_requesters(phone)])
            .arg(hex(&requester.0))
            .arg(now.as_millis())
            .arg(KNOWN_REQUESTERS_MAX)
            .arg(millis(KNOWN_FOR))
            .arg(millis(KNOWN_FOR.saturating_add(EXPIRY_GRACE)));
        self.link.run("codes.remember", Idempotence::Safe, call).await
    }
}
