//! Decisions about login codes. Every decision returns the entries to write.

use std::collections::HashMap;

use mallbox_storage::backend::{CODE_DAY, KNOWN_REQUESTERS_MAX, MACHINE_CODE_TTL, REMEMBER_STEP, TRIES_HOUR};
use mallbox_storage::{
    CheckOutcome, CodeAttempt, CodeHash, CodeRequest, CodeRules, IssueOutcome, Phone, Requester, TicketHash,
    Timestamp,
};

use super::code_codec;
use super::code_state::{Count, Known, LiveCode, Slot, Strangers};
use super::journal::Change;

/// Requesters with counters, and live tickets, per phone. Beyond, the oldest is forgotten, except for the
/// machine: with the usual limits a phone has at most 109 requesters, from two days.
const SLOTS_PER_PHONE_MAX: usize = 128;

/// The codes of a phone.
#[derive(Debug, Default)]
pub(super) struct PhoneCodes {
    pub(super) strangers: Strangers,
    pub(super) slots: HashMap<Requester, Slot>,
    pub(super) tickets: HashMap<TicketHash, LiveCode>,
}

/// All codes of the mall.
#[derive(Debug, Default)]
pub(super) struct CodeState {
    pub(super) phones: HashMap<Phone, PhoneCodes>,
    /// Apart from the codes, which a phone has for a day only.
    pub(super) known: HashMap<Phone, Vec<Known>>,
    pub(super) mall: Count,
}

impl PhoneCodes {
    fn refusal(
        &mut self,
        requester: Requester,
        is_known: bool,
        rules: &CodeRules,
        now: Timestamp,
    ) -> Option<IssueOutcome> {
        if let Some(slot) = self.slots.get_mut(&requester) {
            slot.issued = slot.issued.min(now);
            slot.codes.set_back(now);
            let gap = rules.gap.saturating_sub(now.since(slot.issued));
            if !gap.is_zero() {
                return Some(IssueOutcome::TooSoon { retry_after: gap });
            }
            if let Some(retry_after) = slot.codes.rest_if_full(rules.per_day, CODE_DAY, now) {
                return Some(IssueOutcome::TooMany { retry_after });
            }
        }
        self.strangers.codes.set_back(now);
        let full = self.strangers.codes.rest_if_full(rules.per_day_of_phone, CODE_DAY, now);
        full.filter(|_| !is_known).map(|retry_after| IssueOutcome::PhoneSpent { retry_after })
    }

    /// Makes room for a slot of `requester` and for another ticket.
    fn make_room(&mut self, phone: &Phone, requester: Requester, now: Timestamp) -> Vec<Change> {
        let mut changes = Vec::new();
        if self.slots.len() >= SLOTS_PER_PHONE_MAX
            && !self.slots.contains_key(&requester)
            && let others = self.slots.iter().filter(|(key, _)| **key != Requester::MACHINE)
            && let Some(oldest) = others.min_by_key(|(_, slot)| slot.issued).map(|(key, _)| *key)
        {
            self.slots.remove(&oldest);
            changes.push(code_codec::slot_change(phone, oldest, None));
        }
        if self.tickets.len() >= SLOTS_PER_PHONE_MAX {
            let dead = self.tickets.extract_if(|_, live| now >= live.expires);
            changes.extend(dead.map(|(ticket, _)| code_codec::ticket_change(phone, ticket, None)));
        }
        if self.tickets.len() >= SLOTS_PER_PHONE_MAX
            && let Some(oldest) =
                self.tickets.iter().min_by_key(|(_, live)| live.expires).map(|(key, _)| *key)
        {
            self.tickets.remove(&oldest);
            changes.push(code_codec::ticket_change(phone, oldest, None));
        }
        changes
    }

    fn live(&self, attempt: &CodeAttempt) -> Option<LiveCode> {
        match attempt.ticket {
            Some(ticket) => self.tickets.get(&ticket).copied(),
            None => self.slots.get(&attempt.requester).and_then(|slot| slot.live),
        }
    }

    /// Replaces the code that an attempt refers to, or removes the code.
    fn put_live(&mut self, attempt: &CodeAttempt, live: Option<LiveCode>) -> Change {
        match (attempt.ticket, live) {
            (Some(ticket), Some(live)) => drop(self.tickets.insert(ticket, live)),
            (Some(ticket), None) => drop(self.tickets.remove(&ticket)),
            (None, live) => {
                if let Some(slot) = self.slots.get_mut(&attempt.requester) {
                    slot.live = live;
                }
            }
        }
        match attempt.ticket {
            Some(ticket) => code_codec::ticket_change(&attempt.phone, ticket, live.as_ref()),
            None => {
                let slot = self.slots.get(&attempt.requester);
                code_codec::slot_change(&attempt.phone, attempt.requester, slot)
            }
        }
    }

    fn is_empty(&self, now: Timestamp) -> bool {
        self.slots.is_empty()
            && self.tickets.is_empty()
            && self.strangers.codes.is_over(CODE_DAY, now)
            && self.strangers.wrong_tries.is_over(TRIES_HOUR, now)
    }
}

impl CodeState {
    /// Decides about a request. A refusal returns no entries.
    pub(super) fn issue(
        &mut self,
        request: &CodeRequest,
        rules: &CodeRules,
        now: Timestamp,
    ) -> (IssueOutcome, Vec<Change>) {
        let CodeRequest { phone, requester, code, ticket, is_operator } = request;
        if *requester == Requester::MACHINE {
            return self.issue_on_machine(phone, *code, now);
        }
        let is_known = self.is_known(phone, *requester, now);
        let codes = self.phones.get_mut(phone);
        if let Some(refusal) = codes.and_then(|codes| codes.refusal(*requester, is_known, rules, now)) {
            return (refusal, Vec::new());
        }
        self.mall.set_back(now);
        let budget = rules.budget(is_known || *is_operator).unwrap_or(0);
        if let Some(retry_after) = self.mall.rest_if_full(budget, CODE_DAY, now) {
            return (IssueOutcome::MallSpent { retry_after }, Vec::new());
        }
        self.mall.add(CODE_DAY, now);
        let codes = self.phones.entry(phone.clone()).or_default();
        let mut changes = codes.make_room(phone, *requester, now);
        let fresh = LiveCode { code: *code, expires: now + rules.lives, wrong_tries: 0 };
        let slot = codes.slots.entry(*requester).or_insert(Slot {
            issued: now,
            codes: Count::default(),
            live: None,
        });
        slot.issued = now;
        slot.codes.add(CODE_DAY, now);
        match ticket {
            None => slot.live = Some(fresh),
            Some(ticket) => {
                changes.push(code_codec::ticket_change(phone, *ticket, Some(&fresh)));
                codes.tickets.insert(*ticket, fresh);
            }
        }
        changes.push(code_codec::slot_change(phone, *requester, Some(slot)));
        if !is_known {
            codes.strangers.codes.add(CODE_DAY, now);
            changes.push(code_codec::strangers_change(phone, Some(&codes.strangers)));
        }
        changes.push(code_codec::mall_change(self.mall));
        (IssueOutcome::Issued { of_mall: self.mall.number }, changes)
    }

    fn issue_on_machine(
        &mut self,
        phone: &Phone,
        code: CodeHash,
        now: Timestamp,
    ) -> (IssueOutcome, Vec<Change>) {
        let codes = self.phones.entry(phone.clone()).or_default();
        let live = LiveCode { code, expires: now + MACHINE_CODE_TTL, wrong_tries: 0 };
        let slot = Slot { issued: now, codes: Count::default(), live: Some(live) };
        codes.slots.insert(Requester::MACHINE, slot);
        let change = code_codec::slot_change(phone, Requester::MACHINE, Some(&slot));
        (IssueOutcome::Issued { of_mall: 0 }, vec![change])
    }

    /// Decides about an attempt.
    pub(super) fn check(
        &mut self,
        attempt: &CodeAttempt,
        rules: &CodeRules,
        now: Timestamp,
    ) -> (CheckOutcome, Vec<Change>) {
        let CodeAttempt { phone, requester, code, .. } = attempt;
        let Some(codes) = self.phones.get_mut(phone) else { return (CheckOutcome::NoCode, Vec::new()) };
        let of_machine = codes.slots.get(&Requester::MACHINE).and_then(|slot| slot.live);
        if of_machine.is_some_and(|live| live.is_live(MACHINE_CODE_TTL, now) && is_same(live.code, *code)) {
            codes.slots.remove(&Requester::MACHINE);
            return (CheckOutcome::Right, vec![code_codec::slot_change(phone, Requester::MACHINE, None)]);
        }
        let Some(mut live) = codes.live(attempt).filter(|live| live.is_live(rules.lives, now)) else {
            return (CheckOutcome::NoCode, Vec::new());
        };
        let known = self.known.get_mut(phone).and_then(|list| find(list, *requester, now));
        let is_known = known.is_some();
        let tries = known.map_or(&mut codes.strangers.wrong_tries, |known| &mut known.wrong_tries);
        tries.set_back(now);
        if let Some(retry_after) = tries.rest_if_full(rules.tries_per_hour, TRIES_HOUR, now) {
            return (CheckOutcome::TooManyTries { retry_after }, Vec::new());
        }
        if is_same(live.code, *code) {
            return (CheckOutcome::Right, vec![codes.put_live(attempt, None)]);
        }
        tries.add(TRIES_HOUR, now);
        let stays = live.survives(rules.tries);
        let code = codes.put_live(attempt, stays.then_some(live));
        let counter = if is_known {
            code_codec::known_change(phone, self.known.get(phone).map(Vec::as_slice))
        } else {
            code_codec::strangers_change(phone, Some(&codes.strangers))
        };
        (CheckOutcome::Wrong, vec![code, counter])
    }

    pub(super) fn is_known(&self, phone: &Phone, requester: Requester, now: Timestamp) -> bool {
        let list = self.known.get(phone).map(Vec::as_slice).unwrap_or_default();
        list.iter().any(|known| known.requester == requester && known.is_valid(now))
    }

    /// Notes a log-in. Returns the entry to write, or `None` if the requester was noted a moment ago.
    pub(super) fn remember(&mut self, phone: &Phone, requester: Requester, now: Timestamp) -> Option<Change> {
        let list = self.known.entry(phone.clone()).or_default();
        list.retain(|known| known.is_valid(now));
        match list.iter_mut().find(|known| known.requester == requester) {
            Some(known) if known.noted <= now && now.since(known.noted) < REMEMBER_STEP => return None,
            Some(known) => known.noted = now,
            None => {
                if list.len() >= KNOWN_REQUESTERS_MAX {
                    let oldest = (0..list.len()).min_by_key(|at| list[*at].noted).unwrap_or(0);
                    list.swap_remove(oldest);
                }
                list.push(Known { requester, noted: now, wrong_tries: Count::default() });
            }
        }
        Some(code_codec::known_change(phone, Some(list)))
    }

    /// Removes everything that no decision depends on any more. Returns the entries to remove.
    pub(super) fn sweep(&mut self, now: Timestamp) -> Vec<Change> {
        let mut changes = Vec::new();
        self.phones.retain(|phone, codes| {
            codes.slots.retain(|requester, slot| {
                let counts = now.since(slot.issued) < CODE_DAY
                    || !slot.codes.is_over(CODE_DAY, now)
                    || slot.live.is_some_and(|live| now < live.expires);
                if !counts {
                    changes.push(code_codec::slot_change(phone, *requester, None));
                }
                counts
            });
            codes.tickets.retain(|ticket, live| {
                let is_live = now < live.expires;
                if !is_live {
                    changes.push(code_codec::ticket_change(phone, *ticket, None));
                }
                is_live
            });
            let is_empty = codes.is_empty(now);
            if is_empty {
                changes.push(code_codec::strangers_change(phone, None));
            }
            !is_empty
        });
        self.known.retain(|phone, list| {
            list.retain(|known| known.is_valid(now));
            if list.is_empty() {
                changes.push(code_codec::known_change(phone, None));
            }
            !list.is_empty()
        });
        changes
    }
}

fn find(list: &mut [Known], requester: Requester, now: Timestamp) -> Option<&mut Known> {
    list.iter_mut().find(|known| known.requester == requester && known.is_valid(now))
}

/// Compares in constant time.
fn is_same(left: CodeHash, right: CodeHash) -> bool {
    left.0.iter().zip(right.0).fold(0, |unlike, (l, r)| unlike | (l ^ r)) == 0
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mallbox_storage::backend::KNOWN_FOR;

    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
    const FREE: CodeRules = CodeRules {
        lives: Duration::from_secs(120),
        gap: Duration::ZERO,
        per_day: 0,
        per_day_of_phone: 0,
        per_day_of_mall: 0,
        tries: 5,
        tries_per_hour: 0,
    };

    fn request(number: u32, ticket: bool) -> CodeRequest {
        let mut requester = [1; 16];
        requester[..4].copy_from_slice(&number.to_be_bytes());
        let mut hash = [0; 32];
        hash[..4].copy_from_slice(&number.to_be_bytes());
        CodeRequest {
            phone: Phone::parse("13900000001").unwrap(),
            requester: Requester(requester),
            code: CodeHash(hash),
            ticket: ticket.then_some(TicketHash(hash)),
            is_operator: false,
        }
    }

    #[test]
    fn without_limits_a_phone_still_has_a_bounded_number_of_slots() {
        let mut state = CodeState::default();
        let mut written = std::collections::HashSet::new();
        for number in 0..1_000 {
            let (outcome, changes) = state.issue(&request(number, number % 2 == 0), &FREE, NOON);
            assert!(matches!(outcome, IssueOutcome::Issued { .. }));
            for change in changes {
                match change.value {
                    Some(_) => drop(written.insert(change.key)),
                    None => assert!(written.remove(&change.key)),
                }
            }
        }
        let codes = &state.phones[&request(0, false).phone];
        let (slots, tickets) = (codes.slots.len(), codes.tickets.len());
        // A request without a ticket makes room for one as well.
        assert!(slots == SLOTS_PER_PHONE_MAX && tickets + 1 == SLOTS_PER_PHONE_MAX, "{slots} {tickets}");
        // The disk has the same entries, and the counters of phone and mall.
        assert_eq!(written.len(), slots + tickets + 2);
    }

    #[test]
    fn a_flood_of_requests_evicts_no_code_of_the_machine() {
        let mut state = CodeState::default();
        let machine = CodeRequest { requester: Requester::MACHINE, ..request(7_777, false) };
        let _ = state.issue(&machine, &FREE, NOON);
        for number in 0..1_000 {
            let _ = state.issue(&request(number, false), &FREE, NOON + Duration::from_secs(1));
        }
        let CodeRequest { phone, code, .. } = machine;
        let attempt = CodeAttempt { phone, requester: Requester([9; 16]), code, ticket: None };
        assert_eq!(state.check(&attempt, &FREE, NOON).0, CheckOutcome::Right);
    }

    #[test]
    fn after_two_days_a_sweep_leaves_known_requesters_only() {
        let mut state = CodeState::default();
        for number in 0..10 {
            let _ = state.issue(&request(number, number % 2 == 0), &FREE, NOON);
        }
        let asked = request(3, false);
        assert!(state.remember(&asked.phone, asked.requester, NOON).is_some());
        assert!(state.remember(&asked.phone, asked.requester, NOON).is_none(), "noted a moment ago");
        assert!(state.sweep(NOON).is_empty());
        let removed = state.sweep(NOON + 2 * CODE_DAY);
        assert!(state.phones.is_empty() && removed.len() == 10 + 5 + 1, "{}", removed.len());
        assert!(state.is_known(&asked.phone, asked.requester, NOON + 2 * CODE_DAY));
        assert_eq!(state.sweep(NOON + KNOWN_FOR).len(), 1);
        assert!(state.known.is_empty());
    }
}
