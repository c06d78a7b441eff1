//! The [`Visitors`] port: a HyperLogLog and a counter per day for each shop and for the mall. All days of a
//! shop share a slot, for scripts over several days.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::backend::is_kept;
use mallbox_storage::{
    Day, DaySpan, Salt, StoreError, VISITS_RETENTION_DAYS, Visit, VisitCounts, VisitTarget, Visitor,
    Visitors, VisitsOfDay,
};

use super::keys::Keys;
use super::link::{Idempotence, Link};
use super::script::{COUNT_VISITS, Call, DAY_SALT, NOTE_VISITS};
use crate::spans::{EXPIRY_GRACE, millis};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Visitors per script call: Lua's `unpack` accepts some thousands of arguments.
const BATCH_MAX: usize = 1_000;

/// Visits, stored only in Redis.
pub(super) struct RedisVisitors {
    pub(super) link: Link,
    pub(super) keys: Keys,
}

impl RedisVisitors {
    fn calls(&self, (of, day): (VisitTarget, Day), new: &[&Visit], today: Day) -> Vec<Call> {
        let days_left = u32::try_from(day.number() - today.number() + VISITS_RETENTION_DAYS).unwrap_or(0);
        let kept = millis(DAY * days_left + EXPIRY_GRACE);
        let call = |new: &[&Visit]| {
            let views = new.iter().map(|visit| visit.views).fold(0, u64::saturating_add);
            let call = NOTE_VISITS.on(self.keys.visits(of, day)).arg(views).arg(kept);
            new.iter().fold(call, |call, visit| {
                let Visitor(bits) = visit.visitor;
                call.arg(&bits.to_le_bytes()[..])
            })
        };
        new.chunks(BATCH_MAX).map(call).collect()
    }
}

#[async_trait]
impl Visitors for RedisVisitors {
    async fn note(&self, visits: &[Visit], today: Day) -> Result<(), StoreError> {
        let mut by_day = HashMap::<_, Vec<&Visit>>::new();
        for visit in visits.iter().filter(|visit| is_kept(visit.day, today)) {
            by_day.entry((visit.of, visit.day)).or_default().push(visit);
        }
        let calls = by_day.into_iter().flat_map(|(of, new)| self.calls(of, &new, today));
        let answers = self.link.run_all::<u64>("visitors.note", Idempotence::Never, calls).await;
        answers.into_iter().try_for_each(|answer| answer.map(drop))
    }

    async fn count(&self, of: VisitTarget, span: DaySpan, today: Day) -> Result<VisitCounts, StoreError> {
        let kept: Vec<Day> = span.days().filter(|day| is_kept(*day, today)).collect();
        let (visitors, known) = if kept.is_empty() {
            (0, Vec::new())
        } else {
            let call = COUNT_VISITS.on(kept.iter().flat_map(|day| self.keys.visits(of, *day)));
            let counts: Vec<u64> = self.link.run("visitors.count", Idempotence::Safe, call).await?;
            let (all, of_days) = counts.split_first().unwrap_or((&0, &[]));
            (*all, of_days.chunks(2).map(|pair| (pair[0], pair[1])).collect())
        };
        let known: HashMap<Day, (u64, u64)> = kept.into_iter().zip(known).collect();
        let of_day = |day| {
            let (visitors, views) = known.get(&day).copied().unwrap_or_default();
            VisitsOfDay { day, visitors, views }
        };
        Ok(VisitCounts { days: span.days().map(of_day).collect(), visitors })
    }

    async fn salt(&self, day: Day, offered: Salt) -> Result<Salt, StoreError> {
        let call = DAY_SALT.on([self.keys.salt(day)]).arg(&offered[..]).arg(millis(2 * DAY));
        self.link.run("visitors.salt", Idempotence::Safe, call).await
    }
}
