//! Steps on [`Credits`](mallbox_storage::Credits). Orders and sign-ins add lines by their own steps.

use mallbox_storage::{Timestamp, UserId};

use crate::dice::Dice;
use crate::normal::said;
use crate::scene::Scene;
use crate::step::Side;

#[derive(Clone, Debug)]
pub enum CreditStep {
    Lines(UserId, Option<u64>, u32),
    BringAlong(UserId, u32, Timestamp),
    SetLevel(UserId, Option<u8>, Timestamp),
}

impl CreditStep {
    pub fn roll(dice: &mut Dice, scene: &Scene) -> Self {
        let (user, now) = (scene.user(dice), scene.now);
        match dice.below(100) {
            0..50 => {
                let below = dice.pick(&[None, None, Some(0), Some(1), Some(3), Some(u64::MAX)]);
                Self::Lines(user, below, dice.pick(&[0, 1, 2, u32::MAX]))
            }
            50..75 => Self::BringAlong(user, dice.pick(&[0, 1, 1_000, u32::MAX]), now),
            _ => Self::SetLevel(user, dice.pick(&[None, Some(0), Some(9), Some(u8::MAX)]), now),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let credits = &side.storage.people.credits;
        match self {
            Self::Lines(user, below, max) => said(credits.lines(*user, *below, *max).await),
            Self::BringAlong(user, amount, now) => said(credits.bring_along(*user, *amount, *now).await),
            Self::SetLevel(user, level, now) => said(credits.set_level(*user, *level, *now).await),
        }
    }
}
