//! Consistency rules for dead letters.

use mallbox_storage::{DeadReason, DeadState, LetterFacts};

use super::code::Code;
use super::object::{Kind, Object};
use super::report::Finding;

/// Returns the violations found in a dead letter.
pub(super) fn check(letter: &LetterFacts) -> Vec<Finding> {
    let state = DeadState::in_row(letter.state);
    let is_open = state == Some(DeadState::Open);
    let oversold = letter.reason == DeadReason::Oversold.code();
    let rules = [
        (letter.has_user, Code::LetterUser, "an existing user", "none"),
        (letter.has_sale, Code::LetterSale, "an existing sale", "none"),
        (state.is_some(), Code::LetterState, "open, replayed or voided", "another number"),
        (
            DeadReason::from_code(&letter.reason).is_some(),
            Code::LetterState,
            "a known reason",
            &letter.reason,
        ),
        (
            !letter.holds_unit || is_open && !oversold,
            Code::LetterUnit,
            "no unit, once closed or oversold",
            "a unit held",
        ),
        (
            letter.closed.is_some() != is_open,
            Code::LetterInstants,
            "an instant of closing if closed",
            if is_open { "closed while open" } else { "none" },
        ),
        (
            letter.is_order == (state == Some(DeadState::Replayed)),
            Code::LetterOrder,
            "an order if and only if replayed",
            if letter.is_order { "an order" } else { "no order" },
        ),
    ];
    let broken = rules.into_iter().filter(|(holds, ..)| !holds);
    let object = || Object::new(Kind::DeadLetter, letter.id);
    broken.map(|(_, code, expected, found)| Finding::new(code, object(), expected, found)).collect()
}
