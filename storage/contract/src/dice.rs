//! The dice of all test suites.

#[path = "../../../tests/common/dice.rs"]
#[expect(dead_code, reason = "other tests roll more kinds of dice")]
mod rolls;

pub(crate) use rolls::*;
