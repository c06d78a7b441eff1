//! Sign-ins in memory: one bitmap of users per day.
//!
//! User ids are dense, so a day takes one bit per user: 46 MiB for a year of a million users.
//!
//! Reasons and figures: `storage/decisions/0009-sign-ins-as-bits.md`.

use std::collections::BTreeMap;

use mallbox_storage::backend::{StreakUpTo, longest_run};
use mallbox_storage::{Day, DaySpan, Page, SignedDay, UserId};
use parking_lot::RwLock;
use roaring::{RoaringBitmap, RoaringTreemap};

/// Sign-ins by day; days without sign-ins are absent.
pub(crate) type Days = BTreeMap<Day, OfDay>;

/// Users with a sign-in on a day.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfDay {
    signed: RoaringTreemap,
    /// The subset of `signed` made up later.
    made_up: RoaringTreemap,
}

impl OfDay {
    /// Adds users by their bits, lowest first; bit 0 is user `first`.
    pub(crate) fn add_bits(&mut self, first: u64, signed: &[u8], made_up: &[u8]) {
        add(&mut self.signed, first, signed);
        add(&mut self.made_up, first, made_up);
    }
}

fn add(users: &mut RoaringTreemap, first: u64, bits: &[u8]) {
    if bits.iter().any(|byte| *byte > 0) {
        #[expect(clippy::cast_possible_truncation, reason = "the number's halves")]
        let (high, low) = ((first >> 32) as u32, first as u32);
        *users |= RoaringTreemap::from_bitmaps([(high, RoaringBitmap::from_lsb0_bytes(low, bits))]);
    }
}

/// All sign-ins. Everything in memory is in the database; a completed write to the database is also in
/// memory.
#[derive(Debug, Default)]
pub(crate) struct SignInIndex {
    days: RwLock<Days>,
}

impl SignInIndex {
    pub(crate) fn new(days: Days) -> Self {
        Self { days: RwLock::new(days) }
    }

    /// Replaces all sign-ins by `days`.
    pub(crate) fn replace(&self, days: Days) {
        *self.days.write() = days;
    }

    pub(crate) fn insert(&self, user: UserId, day: Day, is_made_up: bool) {
        let mut days = self.days.write();
        let of_day = days.entry(day).or_default();
        of_day.signed.insert(user.get());
        if is_made_up {
            of_day.made_up.insert(user.get());
        }
    }

    pub(crate) fn has(&self, user: UserId, day: Day) -> bool {
        self.days.read().get(&day).is_some_and(|of_day| of_day.signed.contains(user.get()))
    }

    pub(crate) fn days_of(&self, user: UserId, span: DaySpan) -> Vec<SignedDay> {
        let user = user.get();
        let days = self.days.read();
        let signed =
            days.range(span.first()..=span.last()).filter(|(_, of_day)| of_day.signed.contains(user));
        let answer = |(day, of_day): (&Day, &OfDay)| SignedDay {
            day: *day,
            is_made_up: of_day.made_up.contains(user),
        };
        signed.map(answer).collect()
    }

    pub(crate) fn streak(&self, user: UserId, up_to: Day) -> u32 {
        let days = self.days.read();
        let mut streak = StreakUpTo::new(up_to);
        for (day, of_day) in days.range(..=up_to).rev() {
            let is_signed = of_day.signed.contains(user.get());
            // The first unsigned day ends the streak, except `up_to` itself.
            if *day != up_to && !is_signed || is_signed && !streak.goes_on(*day) {
                break;
            }
        }
        streak.length()
    }

    pub(crate) fn longest_streak(&self, user: UserId) -> u32 {
        let days = self.days.read();
        longest_run(days.iter().filter(|(_, of_day)| of_day.signed.contains(user.get())).map(|(day, _)| *day))
    }

    pub(crate) fn counts(&self, span: DaySpan) -> Vec<u64> {
        let days = self.days.read();
        span.days().map(|day| days.get(&day).map_or(0, |of_day| of_day.signed.len())).collect()
    }

    pub(crate) fn signed_all(&self, span: DaySpan, page: Page) -> (Vec<UserId>, u64) {
        let all = {
            let days = self.days.read();
            let mut of_days = span.days().map(|day| days.get(&day).map(|of_day| &of_day.signed));
            let mut all = of_days.next().flatten().cloned().unwrap_or_default();
            for of_day in of_days {
                match of_day {
                    Some(of_day) if !all.is_empty() => all &= of_day,
                    _ => return (Vec::new(), 0),
                }
            }
            all
        };
        let first = all.select(page.skipped());
        let mut users = all.iter();
        if let Some(first) = first {
            users.advance_to(first);
        }
        let users = users.take(if first.is_some() { page.size() as usize } else { 0 });
        (users.map(UserId::new).collect(), all.len())
    }
}
