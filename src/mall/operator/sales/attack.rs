//! What the decision log says of an attack: counts of the last minutes, and of other rules.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::time::Duration;

use mallbox_storage::{Attempt, AttemptOutcome, Signal, StoredAttempt, Timestamp, UserId};

use crate::mall::base::judgement_rules::Rules;

/// Slots of the timeline.
const SLOTS: u32 = 30;
/// Span of a slot.
const SLOT: Duration = Duration::from_secs(10);
/// Span of the view.
const SPAN: Duration = Duration::from_secs(300);
/// Addresses listed.
const ADDRESSES_MAX: usize = 10;

/// The attempts at a sale in the last five minutes.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct AttackView {
    /// Number of attempts.
    pub attempts: u64,
    /// Number of attempts that looked automated by the rules in force now.
    pub suspicious: u64,
    /// Score from which an attempt looks automated.
    pub limit: u32,
    /// Whether more attempts were made in this time than were read.
    pub is_cut: bool,
    /// Attempts per outcome, most first.
    pub outcomes: Vec<(AttemptOutcome, u64)>,
    /// Attempts to which rules about a signal gave points, most first.
    pub signals: Vec<(Signal, u64)>,
    /// The addresses with the most attempts, most first.
    pub addresses: Vec<AddressView>,
    /// Slots of ten seconds, oldest first.
    pub timeline: Vec<Slot>,
}

/// Attempts from an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressView {
    /// Keyed hash of the address.
    pub address: u64,
    /// Number of attempts.
    pub attempts: u64,
    /// Number of distinct users.
    pub users: u64,
    /// Number of attempts that got a unit.
    pub accepted: u64,
    /// Number of attempts that looked automated.
    pub suspicious: u64,
}

/// Attempts of ten seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Begin of the slot.
    pub begin: Timestamp,
    /// Number of attempts.
    pub attempts: u64,
    /// Number of attempts that got a unit.
    pub accepted: u64,
    /// Number of attempts that looked automated.
    pub suspicious: u64,
}

/// What the last attempts at a sale would be by other rules.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RulesPreview {
    /// Number of attempts considered.
    pub attempts: u64,
    /// Attempts that look automated: by the rules in force, and by the other rules.
    pub suspicious: [u64; 2],
    /// Of these, attempts that got a unit.
    pub accepted: [u64; 2],
    /// Attempts to which the other rules about a signal give points, most first.
    pub signals: Vec<(Signal, u64)>,
}

impl AttackView {
    /// Counts attempts, given newest first. `is_cut`: whether older ones were not read.
    pub(super) fn of(attempts: &[StoredAttempt], is_cut: bool, rules: &Rules, now: Timestamp) -> Self {
        let begin = now - SPAN;
        let recent = || attempts.iter().map(|stored| &stored.attempt).filter(|attempt| attempt.at > begin);
        let is_suspicious = |attempt: &Attempt| rules.score(&attempt.signals) >= rules.limit();
        let mut timeline: Vec<Slot> = (0..SLOTS)
            .map(|number| Slot { begin: begin + SLOT * number, attempts: 0, accepted: 0, suspicious: 0 })
            .collect();
        let mut addresses: HashMap<u64, (AddressView, HashSet<UserId>)> = HashMap::new();
        let mut view = Self { limit: rules.limit(), ..Self::default() };
        for attempt in recent() {
            let accepted = u64::from(attempt.outcome == AttemptOutcome::Accepted);
            let suspicious = u64::from(is_suspicious(attempt));
            view.attempts += 1;
            view.suspicious += suspicious;
            let place = usize::try_from(attempt.at.since(begin).as_millis() / SLOT.as_millis());
            // An instant ahead of this machine's clock belongs to the last slot.
            let place = place.unwrap_or(usize::MAX).min(timeline.len() - 1);
            let slot = &mut timeline[place];
            slot.attempts += 1;
            slot.accepted += accepted;
            slot.suspicious += suspicious;
            if let Some(address) = attempt.address {
                let (of_address, users) = addresses.entry(address).or_insert_with(|| {
                    (
                        AddressView { address, attempts: 0, users: 0, accepted: 0, suspicious: 0 },
                        HashSet::new(),
                    )
                });
                users.insert(attempt.user);
                of_address.attempts += 1;
                of_address.accepted += accepted;
                of_address.suspicious += suspicious;
            }
        }
        view.is_cut = is_cut && attempts.last().is_some_and(|oldest| oldest.attempt.at > begin);
        view.outcomes = counted(recent().map(|attempt| attempt.outcome));
        view.signals = scoring_signals(recent(), rules);
        view.addresses = addresses
            .into_values()
            .map(|(address, users)| AddressView { users: users.len() as u64, ..address })
            .collect();
        view.addresses.sort_by_key(|address| (Reverse(address.attempts), address.address));
        view.addresses.truncate(ADDRESSES_MAX);
        view.timeline = timeline;
        view
    }
}

impl RulesPreview {
    /// Scores attempts by the rules in force and by others.
    pub(super) fn of(attempts: &[StoredAttempt], rules: &Rules, others: &Rules) -> Self {
        let all = || attempts.iter().map(|stored| &stored.attempt);
        let counts = [rules, others].map(|rules| {
            let suspicious = all().filter(|attempt| rules.score(&attempt.signals) >= rules.limit());
            suspicious.fold((0, 0), |(count, accepted), attempt| {
                (count + 1, accepted + u64::from(attempt.outcome == AttemptOutcome::Accepted))
            })
        });
        Self {
            attempts: attempts.len() as u64,
            suspicious: counts.map(|(count, _)| count),
            accepted: counts.map(|(_, accepted)| accepted),
            signals: scoring_signals(all(), others),
        }
    }
}

/// Counts the attempts to which rules about a signal give points.
fn scoring_signals<'a>(attempts: impl Iterator<Item = &'a Attempt>, rules: &Rules) -> Vec<(Signal, u64)> {
    counted(attempts.flat_map(|attempt| {
        Signal::ALL.into_iter().filter(|signal| rules.points(&attempt.signals, *signal) > 0)
    }))
}

/// Counts equal values, most first.
fn counted<T: Copy + Eq + Hash + Ord>(values: impl Iterator<Item = T>) -> Vec<(T, u64)> {
    let mut counts: HashMap<T, u64> = HashMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let mut counts: Vec<(T, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(value, count)| (Reverse(*count), *value));
    counts
}

#[cfg(test)]
mod tests {
    use mallbox_storage::{Signals, VoucherId};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    fn rules(text: &str) -> Rules {
        Rules::parse(text).unwrap()
    }

    fn attempt(ms_ago: u64, user: u64, address: Option<u64>, outcome: AttemptOutcome) -> StoredAttempt {
        let signals: Signals = [(Signal::AddressUsers, u32::try_from(user).unwrap())].into_iter().collect();
        let attempt = Attempt {
            at: NOW - Duration::from_millis(ms_ago),
            voucher: VoucherId::new(7),
            user: UserId::new(user),
            address,
            device: None,
            outcome,
            score: 0,
            signals,
        };
        StoredAttempt { number: 1_000_000 - ms_ago, attempt }
    }

    #[test]
    fn attempts_of_five_minutes_are_counted_by_time_outcome_and_address() {
        let rules = rules("limit = 10\nrules = [{ signal = 'address-users', at-least = 3, points = 10 }]");
        let attempts = [
            attempt(0, 1, Some(5), AttemptOutcome::Accepted),
            attempt(5, 3, Some(5), AttemptOutcome::Accepted),
            attempt(9_999, 3, Some(5), AttemptOutcome::AlreadyBought),
            attempt(10_001, 4, Some(6), AttemptOutcome::SoldOut),
            attempt(299_999, 5, None, AttemptOutcome::SoldOut),
            attempt(300_000, 6, Some(7), AttemptOutcome::SoldOut),
        ];
        let view = AttackView::of(&attempts, true, &rules, NOW);
        assert_eq!((view.attempts, view.suspicious, view.limit, view.is_cut), (5, 4, 10, false));
        assert_eq!(
            view.outcomes,
            [(AttemptOutcome::Accepted, 2), (AttemptOutcome::SoldOut, 2), (AttemptOutcome::AlreadyBought, 1)]
        );
        assert_eq!(view.signals, [(Signal::AddressUsers, 4)]);
        let of = |address, attempts, users, accepted, suspicious| AddressView {
            address,
            attempts,
            users,
            accepted,
            suspicious,
        };
        assert_eq!(view.addresses, [of(5, 3, 2, 2, 2), of(6, 1, 1, 0, 1)]);
        let counts: Vec<_> =
            view.timeline.iter().map(|slot| (slot.attempts, slot.accepted, slot.suspicious)).collect();
        let mut expected = [(0, 0, 0); 30];
        (expected[0], expected[28], expected[29]) = ((1, 0, 1), (1, 0, 1), (3, 2, 2));
        assert_eq!(counts, expected);
        assert_eq!(view.timeline[0].begin, NOW - SPAN);
        assert!(AttackView::of(&attempts[..5], true, &rules, NOW).is_cut);
        assert!(!AttackView::of(&attempts[..5], false, &rules, NOW).is_cut);
        assert_eq!(AttackView::of(&[], false, &rules, NOW).timeline.len(), 30);
    }

    #[test]
    fn a_preview_compares_two_tables() {
        let strict = rules("limit = 1\nrules = [{ signal = 'address-users', at-least = 2, points = 1 }]");
        let mild = rules("limit = 1\nrules = [{ signal = 'address-users', at-least = 4, points = 1 }]");
        let attempts = [1, 2, 3, 4].map(|user| attempt(user, user, None, AttemptOutcome::Accepted));
        let preview = RulesPreview::of(&attempts, &mild, &strict);
        assert_eq!((preview.attempts, preview.suspicious, preview.accepted), (4, [1, 3], [1, 3]));
        assert_eq!(preview.signals, [(Signal::AddressUsers, 3)]);
        let refused = [attempt(1, 9, None, AttemptOutcome::LooksAutomated)];
        assert_eq!(RulesPreview::of(&refused, &mild, &mild).accepted, [0, 0]);
    }
}
