//! Steps on state shared by instances: deadlines, rate limits, locks and sequences.

use std::time::Duration;

use mallbox_storage::{Limit, LockEntry, LockOwner, OrderId, Timestamp};

use crate::dice::Dice;
use crate::normal::{self, said};
use crate::scene::{Scene, minutes};
use crate::step::Side;

const LOCKS: [&str; 4] = ["", "shop:1", "shop:2", "锁 {a}"];
const SEQUENCES: [&str; 2] = ["order", "guest"];
const DAYS: [u64; 5] = [0, 1, 2, 1_785, u64::MAX];
const KEYS: [&str; 5] = ["", "claim:1", "claim:2", "claim:1 ", "面{}*\r\n"];

#[derive(Clone, Debug)]
pub enum SharedStep {
    SetDeadlines(Vec<(OrderId, Timestamp)>),
    ClearDeadline(OrderId),
    Due(Timestamp, usize),
    Next,
    Pass(&'static str, Limit, Timestamp),
    Enter(&'static str, LockEntry, Duration),
    Renew(&'static str, LockOwner, Duration),
    Leave(&'static str, LockEntry),
    Number(&'static str, u64),
    CloseCounter(&'static str, u64),
}

impl SharedStep {
    pub fn roll(dice: &mut Dice, scene: &Scene) -> Self {
        let entry = LockEntry {
            owner: LockOwner::new(dice.pick(&[0, 1, 2, u128::MAX])),
            number: dice.pick(&[0, 1, u64::MAX]),
        };
        // Leases run in real time: a lease expires at once, or not during the run.
        let lease = dice.pick(&[Duration::ZERO, minutes(60), minutes(600)]);
        match dice.below(100) {
            0..15 => {
                let count = dice.below(5);
                Self::SetDeadlines((0..count).map(|_| (scene.order(dice), scene.instant(dice))).collect())
            }
            15..20 => Self::ClearDeadline(scene.order(dice)),
            20..30 => Self::Due(scene.instant(dice), dice.pick(&[0, 1, 2, 100, usize::MAX])),
            30..35 => Self::Next,
            35..60 => Self::Pass(dice.pick(&KEYS), limit(dice), scene.now),
            60..75 => Self::Enter(dice.pick(&LOCKS), entry, lease),
            75..80 => Self::Renew(dice.pick(&LOCKS), entry.owner, lease),
            80..92 => Self::Leave(dice.pick(&LOCKS), entry),
            92..98 => Self::Number(dice.pick(&SEQUENCES), dice.pick(&DAYS)),
            _ => Self::CloseCounter(dice.pick(&SEQUENCES), dice.pick(&DAYS)),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let (deadlines, locks) = (&side.storage.selling.deadlines, &side.storage.base.locks);
        match self {
            Self::SetDeadlines(some) => said(deadlines.set(some).await),
            Self::ClearDeadline(order) => said(deadlines.clear(&[*order]).await),
            Self::Due(now, max) => said(deadlines.due(*now, *max).await),
            Self::Next => format!("{}, {}", said(deadlines.next().await), said(deadlines.count().await)),
            Self::Pass(key, limit, now) => said(side.storage.base.rate_limits.pass(key, *limit, *now).await),
            Self::Enter(name, entry, lease) => {
                let greatest = side.tokens.entry(name).or_default();
                said(locks.enter(name, *entry, *lease).await.map(|it| normal::lock_answer(it, greatest)))
            }
            Self::Renew(name, owner, lease) => said(locks.renew(name, *owner, *lease).await),
            Self::Leave(name, entry) => said(locks.leave(name, *entry).await),
            Self::Number(name, day) => {
                let given = side.storage.base.sequences.next(name, *day).await;
                let highest = side.storage.base.sequences.high_water(name, *day).await;
                let water = highest.map(|it| normal::high_water(it, given.as_ref().ok().copied()));
                format!("{}, {}", said(water), said(given))
            }
            Self::CloseCounter(name, day) => said(side.storage.base.sequences.close(name, *day).await),
        }
    }
}

fn limit(dice: &mut Dice) -> Limit {
    let spans = [
        Duration::ZERO,
        Duration::from_millis(1),
        Duration::from_secs(7),
        minutes(1),
        minutes(60 * 24),
        minutes(60 * 24 * 100),
    ];
    Limit { count: dice.pick(&[1, 2, 3, 5, 1_000]), per: dice.pick(&spans) }
}
