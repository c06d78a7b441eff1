//! Steps on [`DeadLetters`](mallbox_storage::DeadLetters), as taken by an operator.

use mallbox_storage::{
    DeadLetter, DeadLetterId, DeadState, OrderId, Page, ReplayOutcome, ReserveOutcome, Timestamp,
};

use crate::dice::Dice;
use crate::normal::{self, said};
use crate::orders::{process_outbox, take_in_loose_units};
use crate::scene::Scene;
use crate::step::Side;

/// The position of a dead letter, counted back from the newest; `None` names a letter that does not exist.
type Which = Option<u32>;

#[derive(Clone, Debug)]
pub enum DeadLetterStep {
    Page(Option<DeadState>, Page),
    OfOrder(OrderId),
    Replay(Which, Timestamp),
    Void(Which, Timestamp),
    ReplayUnknown(Timestamp),
}

impl DeadLetterStep {
    pub fn roll(dice: &mut Dice, scene: &Scene) -> Self {
        let states = [None, Some(DeadState::Open), Some(DeadState::Replayed), Some(DeadState::Voided)];
        let which = dice.chance(95).then(|| u32::try_from(dice.below(20)).unwrap_or(0));
        match dice.below(100) {
            0..15 => Self::Page(dice.pick(&states), scene.page(dice)),
            15..25 => Self::OfOrder(scene.order(dice)),
            25..65 => Self::Replay(which, scene.now),
            65..97 => Self::Void(which, scene.now),
            _ => Self::ReplayUnknown(scene.now),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let letters = side.storage.selling.dead_letters.clone();
        match self {
            Self::Page(state, page) => {
                let found = letters.page(*state, *page).await;
                said(found.map(|(letters, total)| (normal::letters(letters), total)))
            }
            Self::OfOrder(order) => said(letters.of_order(*order).await.map(normal::letters)),
            Self::Replay(which, now) => match find(side, *which).await {
                Some(letter) => replay(side, &letter, *now).await,
                None => "no such letter".into(),
            },
            Self::ReplayUnknown(now) => said(letters.replay(DeadLetterId::new(u64::MAX), *now).await),
            Self::Void(which, now) => match find(side, *which).await {
                Some(letter) => void(side, &letter, *now).await,
                None => said(letters.void(DeadLetterId::new(0), *now).await),
            },
        }
    }
}

async fn find(side: &Side, which: Which) -> Option<DeadLetter> {
    let (letters, _) = side.storage.selling.dead_letters.page(None, Page::new(which? + 1, 1)).await.unwrap();
    letters.into_iter().next()
}

async fn replay(side: &mut Side, letter: &DeadLetter, now: Timestamp) -> String {
    let mut answers = vec![process_outbox(side, u32::MAX, true).await];
    answers.push(take_in_loose_units(side, letter.voucher, letter.user, letter.order).await);
    let sales = &side.storage.selling.sales;
    let is_to_reserve = letter.state == DeadState::Open && !letter.holds_unit;
    let mut reserved = ReserveOutcome::Held;
    if is_to_reserve {
        reserved = sales.reserve(letter.voucher, letter.user, letter.order).await.unwrap();
        answers.push(format!("{reserved:?}"));
    }
    if reserved != ReserveOutcome::SoldOut {
        let replayed = side.storage.selling.dead_letters.replay(letter.id, now).await;
        let is_order = matches!(replayed, Ok(ReplayOutcome::Order(_)));
        answers.push(said(replayed));
        if reserved == ReserveOutcome::Taken && !is_order {
            answers.push(said(sales.release(letter.voucher, letter.user, letter.order).await));
        }
    }
    answers.push(said(sales.units(letter.voucher).await));
    answers.join(", ")
}

async fn void(side: &mut Side, letter: &DeadLetter, now: Timestamp) -> String {
    let mut answers = vec![process_outbox(side, u32::MAX, true).await];
    answers.push(take_in_loose_units(side, letter.voucher, letter.user, letter.order).await);
    let voided = side.storage.selling.dead_letters.void(letter.id, now).await;
    answers.push(said(voided.map(normal::voided)));
    if letter.state == DeadState::Open {
        let sales = &side.storage.selling.sales;
        answers.push(said(sales.release(letter.voucher, letter.user, letter.order).await));
        answers.push(said(sales.units(letter.voucher).await));
    }
    answers.join(", ")
}
