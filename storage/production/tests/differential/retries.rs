//! Steps on [`RetryTasks`](mallbox_storage::RetryTasks).

use std::time::Duration;

use mallbox_storage::{
    NewRetryTask, RetryLimits, RetrySettlement, RetryStep, RetryTaskId, SubmitOutcome, Timestamp,
};

use crate::dice::Dice;
use crate::normal::said;
use crate::scene::Scene;
use crate::step::Side;

const KINDS: [&str; 3] = ["refund", "refund", "webhook"];
/// Leases that a side remembers, so that old ones are settled as well.
const LEASES_MAX: usize = 12;

#[derive(Clone, Debug)]
pub enum RetryTaskStep {
    Submit(&'static str, Vec<NewRetryTask>, RetryLimits, Timestamp),
    Lease(&'static str, u32, Timestamp, Timestamp),
    /// Settles remembered leases, by place.
    Settle(&'static str, Vec<(usize, RetryStep)>, Timestamp),
    Replay(RetryTaskId, Timestamp),
    Discard(RetryTaskId),
    Prune(&'static str, Timestamp, u32),
}

fn seconds(dice: &mut Dice) -> Duration {
    Duration::from_secs(dice.pick(&[0, 1, 30, 60, 600]))
}

fn task(dice: &mut Dice, now: Timestamp) -> NewRetryTask {
    NewRetryTask {
        key: dice.pick(&["a", "b", "c", "d", "e", "f", "A", "a "]).to_owned(),
        group: dice.pick(&[None, Some("g"), Some("h")]).map(str::to_owned),
        payload: vec![7; dice.pick(&[0, 1, 40])].into(),
        due: now + seconds(dice),
        lease_until: dice.chance(30).then(|| now + seconds(dice)),
    }
}

fn step(dice: &mut Dice, now: Timestamp) -> RetryStep {
    let error = dice.pick(&["no", "网关\n"]).to_owned();
    match dice.below(10) {
        0..2 => RetryStep::Passed { result: [1, 2].into(), lease_until: now + seconds(dice) },
        2..5 => RetryStep::Retry { due: now + seconds(dice), error },
        5 => RetryStep::Released { due: now + seconds(dice) },
        6..8 => RetryStep::Done,
        _ => RetryStep::Failed { error },
    }
}

impl RetryTaskStep {
    pub fn roll(dice: &mut Dice, scene: &mut Scene) -> Self {
        let (now, kind) = (scene.now, dice.pick(&KINDS));
        let id = RetryTaskId::new(dice.pick(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, u64::MAX]));
        match dice.below(100) {
            0..35 => {
                let number = dice.pick(&[0, 1, 1, 2, 5]);
                let limits = RetryLimits { tasks: dice.pick(&[4, 100]), bytes: dice.pick(&[60, 10_000]) };
                Self::Submit(kind, (0..number).map(|_| task(dice, now)).collect(), limits, now)
            }
            35..60 => Self::Lease(kind, dice.pick(&[0, 1, 2, 9]), now, now + seconds(dice)),
            60..85 => {
                let number = dice.pick(&[1, 1, 2, 3]);
                let settlements = (0..number).map(|_| {
                    let place = usize::try_from(dice.below(LEASES_MAX as u64)).unwrap();
                    (place, step(dice, now))
                });
                Self::Settle(kind, settlements.collect(), now)
            }
            85..93 => Self::Replay(id, now),
            93..97 => Self::Discard(id),
            _ => Self::Prune(kind, now, dice.pick(&[0, 1, 100])),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let tasks = side.storage.base.retry_tasks.clone();
        match self {
            Self::Submit(kind, batch, limits, now) => {
                let submitted = tasks.submit(kind, batch, *limits, *now).await;
                for outcome in submitted.iter().flatten() {
                    if let SubmitOutcome::Stored { lease: Some(lease), .. } = outcome {
                        side.leases.push_front(*lease);
                    }
                }
                side.leases.truncate(LEASES_MAX);
                said(submitted)
            }
            Self::Lease(kind, max, now, until) => {
                let leased = tasks.lease_due(kind, *max, *now, *until).await;
                for task in leased.iter().flatten() {
                    side.leases.push_front(task.lease);
                }
                side.leases.truncate(LEASES_MAX);
                said(leased)
            }
            Self::Settle(kind, settlements, now) => {
                let settlements: Vec<RetrySettlement> = settlements
                    .iter()
                    .filter_map(|(place, step)| {
                        Some(RetrySettlement { lease: *side.leases.get(*place)?, step: step.clone() })
                    })
                    .collect();
                said(tasks.settle(kind, &settlements, *now).await)
            }
            Self::Replay(task, now) => said(tasks.replay(*task, *now).await),
            Self::Discard(task) => said(tasks.discard(*task).await),
            Self::Prune(kind, now, max) => said(tasks.prune(kind, *now, *max).await),
        }
    }
}
