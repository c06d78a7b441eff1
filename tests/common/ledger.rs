//! What the crowd was answered: the promises that a crash may not break.

use std::collections::BTreeMap;
use std::sync::Arc;

use mallbox_storage::{OrderId, VoucherId};

use super::mall::{Mall, Person};

/// The memory of one sale's crowd.
///
/// What was sent counts as unknown until its answer is here, so a copy of the ledger is true at any instant.
#[derive(Clone)]
pub struct Ledger {
    pub sale: VoucherId,
    pub units: u64,
    pub people: Arc<Vec<Person>>,
    /// What each of them tried in this sale, oldest first. Only the last may be open.
    pub tries: Vec<Vec<Try>>,
    /// Answers that no mall may give, and how many there were.
    pub surprises: Vec<String>,
    pub surprised: u64,
    /// How often the mall was in no state to do it (503), by what it said.
    pub unable: BTreeMap<String, u64>,
    /// Claims that were not answered and turned out to have been taken.
    pub came_to_light: u64,
}

/// One attempt to buy, and what followed.
#[derive(Clone, Copy, Debug)]
pub struct Try {
    pub claim: Claim,
    /// How often the claim was sent without an answer that says what became of it, the last time included.
    pub asked: u32,
    pub step: Option<(Step, Outcome)>,
}

impl Try {
    /// A claim that has just been sent.
    pub fn open() -> Self {
        Self { claim: Claim::Unknown, asked: 1, step: None }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// No answer, or 503: the claim is wholly there or wholly absent.
    Unknown,
    Accepted(OrderId),
    SoldOut,
}

/// What a buyer does with an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Pay,
    Cancel,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// No answer, or 503.
    Unknown,
    Done,
}

/// How many promises there are.
#[derive(Clone, Copy, Default, Debug)]
pub struct Promises {
    pub claims: u64,
    pub payments: u64,
    pub cancellations: u64,
    /// Claims and steps whose answer never came.
    pub unknown: u64,
}

impl std::ops::AddAssign for Promises {
    fn add_assign(&mut self, other: Self) {
        self.claims += other.claims;
        self.payments += other.payments;
        self.cancellations += other.cancellations;
        self.unknown += other.unknown;
    }
}

impl Ledger {
    pub fn new(mall: &Mall, sale: VoucherId) -> Self {
        Self {
            sale,
            units: mall.units,
            people: Arc::clone(&mall.people),
            tries: vec![Vec::new(); mall.people.len()],
            surprises: Vec::new(),
            surprised: 0,
            unable: BTreeMap::new(),
            came_to_light: 0,
        }
    }

    /// Takes note of an answer that should not have been given.
    pub fn surprise(&mut self, what: String) {
        const SHOWN: usize = 10;
        self.surprised += 1;
        if self.surprises.len() < SHOWN {
            self.surprises.push(what);
        }
    }

    /// The orders that somebody was promised, and what was done with them.
    pub fn orders(&self, person: usize) -> impl Iterator<Item = (OrderId, Option<(Step, Outcome)>)> + '_ {
        self.tries[person].iter().filter_map(|attempt| match attempt.claim {
            Claim::Accepted(order) => Some((order, attempt.step)),
            Claim::Unknown | Claim::SoldOut => None,
        })
    }

    pub fn promises(&self) -> Promises {
        let mut promises = Promises::default();
        for attempt in self.tries.iter().flatten() {
            match attempt.claim {
                Claim::Accepted(_) => promises.claims += 1,
                Claim::Unknown => promises.unknown += 1,
                Claim::SoldOut => {}
            }
            match attempt.step {
                Some((Step::Pay, Outcome::Done)) => promises.payments += 1,
                Some((Step::Cancel, Outcome::Done)) => promises.cancellations += 1,
                Some((_, Outcome::Unknown)) => promises.unknown += 1,
                None => {}
            }
        }
        promises
    }
}
