//! Steps on [`Codes`](mallbox_storage::Codes).

use std::time::Duration;

use mallbox_storage::{
    CodeAttempt, CodeHash, CodeRequest, CodeRules, Phone, Requester, TicketHash, Timestamp,
};

use crate::dice::Dice;
use crate::normal::said;
use crate::scene::{Scene, minutes};
use crate::step::Side;

#[derive(Clone, Debug)]
pub enum CodeStep {
    Issue(CodeRequest, CodeRules, Timestamp),
    Check(CodeAttempt, CodeRules, Timestamp),
    IsKnown(Phone, Requester, Timestamp),
    Remember(Phone, Requester, Timestamp),
}

impl CodeStep {
    pub fn roll(dice: &mut Dice, scene: &mut Scene) -> Self {
        let (phone, now) = (scene.phone(dice), scene.now);
        let requester = Requester([dice.pick(&[0, 1, 1, 2, 3]); 16]);
        let code = CodeHash([dice.pick(&[0, 0, 1]); 32]);
        let ticket = dice.pick(&[None, None, Some(1), Some(2)]).map(|ticket| TicketHash([ticket; 32]));
        match dice.below(100) {
            0..40 => {
                let is_operator = dice.below(4) == 0;
                Self::Issue(CodeRequest { phone, requester, code, ticket, is_operator }, rules(dice), now)
            }
            40..80 => Self::Check(CodeAttempt { phone, requester, code, ticket }, rules(dice), now),
            80..90 => Self::IsKnown(phone, requester, now),
            _ => Self::Remember(phone, requester, now),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let codes = &side.storage.people.codes;
        match self {
            Self::Issue(request, rules, now) => said(codes.issue(request, rules, *now).await),
            Self::Check(attempt, rules, now) => said(codes.check(attempt, rules, *now).await),
            Self::IsKnown(phone, requester, now) => said(codes.is_known(phone, *requester, *now).await),
            Self::Remember(phone, requester, now) => said(codes.remember(phone, *requester, *now).await),
        }
    }
}

fn rules(dice: &mut Dice) -> CodeRules {
    CodeRules {
        lives: dice.pick(&[Duration::ZERO, minutes(2), minutes(10), minutes(60 * 48)]),
        gap: dice.pick(&[Duration::ZERO, Duration::ZERO, Duration::from_secs(5), minutes(1)]),
        per_day: dice.pick(&[0, 1, 3, 10]),
        per_day_of_phone: dice.pick(&[0, 2, 5]),
        per_day_of_mall: dice.pick(&[0, 0, 10, 50]),
        tries: dice.pick(&[0, 1, 2, 5]),
        tries_per_hour: dice.pick(&[0, 3, 10]),
    }
}
