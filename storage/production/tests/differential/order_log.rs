//! Steps on [`OrderLog`](mallbox_storage::OrderLog), as taken by order workers.

use std::time::Duration;

use mallbox_storage::{
    DeadReason, LoggedClaim, OrderId, OrderLog, PersistOutcome, Timestamp, UserId, VoucherId,
};

use crate::dice::Dice;
use crate::normal::{by_order, log_state, said, without_places};
use crate::orders::REASONS;
use crate::scene::Scene;
use crate::step::Side;

const WORKERS: [&str; 3] = ["worker-1", "worker-2", "面"];

/// Number of claims to use of those a worker has in hand, from the first; `usize::MAX` for all.
type Share = usize;

#[derive(Clone, Debug)]
pub enum OrderLogStep {
    Take(&'static str, usize),
    /// Writes claims to the database and settles them in the log, unless the worker dies in between.
    Persist {
        worker: &'static str,
        share: Share,
        is_settled: bool,
        now: Timestamp,
    },
    Done(&'static str, &'static str),
    PutBack {
        worker: &'static str,
        share: Share,
        is_refused: bool,
    },
    /// Dead-letters claims after repeated refusal by the database.
    DeadLetter {
        worker: &'static str,
        reason: DeadReason,
        now: Timestamp,
    },
    Reclaim(&'static str),
    Find(OrderId),
    OfUser(UserId),
    Count(VoucherId),
    State,
}

impl OrderLogStep {
    pub fn roll(dice: &mut Dice, scene: &Scene) -> Self {
        let (worker, share) = (dice.pick(&WORKERS), dice.pick(&[1, 2, 5, usize::MAX]));
        match dice.below(100) {
            0..30 => Self::Take(worker, max(dice, scene)),
            30..55 => Self::Persist { worker, share, is_settled: dice.chance(85), now: scene.now },
            55..58 => Self::Done(worker, dice.pick(&WORKERS)),
            58..67 => Self::PutBack { worker, share, is_refused: dice.chance(50) },
            67..70 => Self::DeadLetter { worker, reason: dice.pick(&REASONS), now: scene.now },
            70..80 => Self::Reclaim(worker),
            80..85 => Self::Find(scene.order(dice)),
            85..90 => Self::OfUser(scene.user(dice)),
            90..95 => Self::Count(scene.voucher(dice)),
            _ => Self::State,
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let log = side.storage.selling.order_log.clone();
        match self {
            Self::Take(worker, max) => match log.take(worker, *max, Duration::ZERO).await {
                Ok(taken) => {
                    let taken = by_order(taken);
                    side.hands.entry(worker).or_default().extend(&taken);
                    without_places(&taken)
                }
                error => said(error),
            },
            Self::Persist { worker, share, is_settled, now } => {
                let some = in_hand(side, worker, *share);
                let persisted = side.storage.selling.orders.persist(&some, *now).await;
                if !is_settled || persisted.is_err() {
                    return said(persisted);
                }
                let deadlines: Vec<_> = some.iter().zip(persisted.iter().flatten()).collect();
                let deadlines: Vec<_> = deadlines.into_iter().filter_map(deadline).collect();
                let set = said(side.storage.selling.deadlines.set(&deadlines).await);
                let done = done(&*log, worker, &some).await;
                let_go(side, worker, &some);
                format!("{}, {set}, {done}", said(persisted))
            }
            Self::Done(worker, of) if worker == of => "their own".into(),
            // Claims in another worker's hands.
            Self::Done(worker, of) => {
                let done = done(&*log, worker, &in_hand(side, of, usize::MAX)).await;
                format!("{done}, {}", log_state(log.state().await))
            }
            Self::PutBack { worker, share, is_refused } => {
                let some = in_hand(side, worker, *share);
                let back = said(log.put_back(worker, &some, *is_refused).await);
                let_go(side, worker, &some);
                back
            }
            Self::DeadLetter { worker, reason, now } => {
                let mut answers = Vec::new();
                for one in in_hand(side, worker, 1) {
                    answers.push(said(
                        side.storage.selling.orders.insert_dead_letter(&one, *reason, "面", *now).await,
                    ));
                    answers.push(done(&*log, worker, &[one]).await);
                    let_go(side, worker, &[one]);
                }
                answers.join(", ")
            }
            Self::Reclaim(worker) => {
                side.hands.remove(worker);
                said(log.reclaim(worker).await)
            }
            Self::Find(order) => said(log.find(*order).await),
            Self::OfUser(user) => said(log.of_user(*user).await),
            Self::Count(voucher) => said(log.count(*voucher).await),
            Self::State => {
                let pending = log.pending().await.map(|mut claims| {
                    claims.sort_unstable_by_key(|claim| claim.order);
                    claims
                });
                format!("{}, {}", log_state(log.state().await), said(pending))
            }
        }
    }
}

/// Unless claims have an order, both sides hand out equal claims only if they hand out all of them.
fn max(dice: &mut Dice, scene: &Scene) -> usize {
    if scene.is_one_partition { dice.pick(&[0, 1, 2, 5, usize::MAX]) } else { usize::MAX }
}

fn deadline((logged, persisted): (&LoggedClaim, &PersistOutcome)) -> Option<(OrderId, Timestamp)> {
    match persisted {
        PersistOutcome::Written { deadline } => deadline.map(|deadline| (logged.claim.order, deadline)),
        PersistOutcome::Repeat | PersistOutcome::DeadLetter(_) => None,
    }
}

/// Claims in hand, sorted by order, so that both sides agree whatever the log positions are.
fn in_hand(side: &Side, worker: &str, share: Share) -> Vec<LoggedClaim> {
    let hand = by_order(side.hands.get(worker).cloned().unwrap_or_default());
    hand.into_iter().take(share).collect()
}

async fn done(log: &dyn OrderLog, worker: &str, settled: &[LoggedClaim]) -> String {
    let not_in_hand = log.done(worker, settled).await;
    said(not_in_hand.map(|mut orders| {
        orders.sort_unstable();
        orders
    }))
}

fn let_go(side: &mut Side, worker: &str, some: &[LoggedClaim]) {
    if let Some(hand) = side.hands.get_mut(worker) {
        hand.retain(|logged| !some.contains(logged));
    }
}
