//! Random votes and decisions: an archive that takes random days at random moments changes no outcome, no sum
//! and no line.

use std::collections::BTreeMap;

use mallbox_storage::{ReviewId, ReviewState, UserId, VoteOutcome};

use super::archive::{all_lines, archive, table};
use crate::dice::Dice;
use crate::world::{HOUR, NOON, World};
use crate::writing::reviews::{balanced, demo, shop, text, user};

crate::cases! {
    votes_count_alike_with_and_without_an_archive,
}

/// Votes by user of one review, as plain sets.
#[derive(Default)]
struct Model {
    voters: BTreeMap<UserId, bool>,
    lines: u64,
    is_folded: bool,
}

impl Model {
    fn sum(&self) -> u64 {
        self.voters.values().filter(|up| **up).count() as u64
    }

    fn vote(&mut self, user: UserId, up: bool) -> VoteOutcome {
        if self.is_folded {
            return VoteOutcome::Folded;
        }
        let changed = self.voters.insert(user, up).unwrap_or(false) != up;
        self.lines += u64::from(changed);
        VoteOutcome::Counted { sum: self.sum(), number: self.lines, changed }
    }

    fn fold(&mut self, is_folded: bool) {
        if is_folded && !self.is_folded && self.sum() > 0 {
            self.lines += 1;
        }
        if is_folded {
            self.voters.clear();
        }
        self.is_folded = is_folded;
    }
}

async fn votes_count_alike_with_and_without_an_archive(w: &World) {
    let mut dice = Dice::from_environment("archive");
    let (shop, author) = (shop(w).await, user(w, 1).await);
    let mut reviews: Vec<(ReviewId, Model)> = Vec::new();
    for hours in 0..3 {
        reviews.push((demo(w, shop, author, text(50), hours).await, Model::default()));
    }
    let mut voters = Vec::new();
    for number in 2..8 {
        voters.push(user(w, number).await);
    }
    let mut today = 0_u32;
    for step in 0..400 {
        let place = usize::try_from(dice.below(3)).unwrap();
        // A clock that lags behind by up to two days: lines of a review are not in the order of their days.
        let lag = if dice.chance(10) { dice.below(3) } else { 0 };
        let now = NOON + HOUR * (24 * today.saturating_sub(u32::try_from(lag).unwrap()));
        let (review, model) = &mut reviews[place];
        match dice.below(100) {
            0..78 => {
                let (voter, up) = (dice.pick(&voters), dice.chance(55));
                let outcome = w.storage.writing.votes.vote(*review, voter, up, now).await.unwrap();
                assert_eq!(outcome, model.vote(voter, up), "step {step}");
            }
            78..82 => {
                let is_folded = dice.chance(50);
                let state = ReviewState { is_folded, ..ReviewState::SHOWN };
                let _ = w.storage.writing.reviews.put_state(*review, state, now).await.unwrap();
                model.fold(is_folded);
            }
            82..90 => today += 1,
            _ => {
                let of = u32::try_from(dice.below(u64::from(today) + 1)).unwrap();
                let _ = archive(w, of).await;
                balanced(w).await;
            }
        }
    }
    for day in 0..=today {
        let _ = archive(w, day).await;
    }
    balanced(w).await;
    for (review, model) in &reviews {
        let found = w.storage.writing.reviews.get(*review).await.unwrap().unwrap();
        assert_eq!((found.votes, found.vote_lines), (model.sum(), model.lines));
        let lines = all_lines(w, *review).await;
        assert_eq!(lines.iter().map(|line| line.number).collect::<Vec<_>>(), Vec::from_iter(1..=model.lines));
        assert!(
            lines.windows(2).all(|two| two[1].sum.cast_signed() == two[0].sum.cast_signed() + two[1].change)
        );
        let kept = table(w, *review).await;
        assert_eq!(kept.last(), lines.last(), "the newest line stays");
    }
}
