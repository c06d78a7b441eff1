//! People who buy, pay and cancel over many connections, and write down what they are answered.

use std::collections::VecDeque;
use std::sync::Arc;

use mallbox::bench::load::{Answer, Fault, Script, post};
use mallbox_storage::OrderId;
use parking_lot::Mutex;
use serde_json::Value;

use super::dice::Dice;
use super::ledger::{Claim, Ledger, Outcome, Step, Try};

/// What the crowd wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mood {
    /// Everybody buys, pays, cancels and buys again, for ever.
    Lively,
    /// Whoever does not know what became of a claim or a step asks again until it is known.
    Settling,
    /// Whoever has no unit claims one, until there are none. Nobody cancels.
    Buying,
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Claim,
    Step(OrderId, Step),
}

/// The script of one run.
pub struct Crowd {
    ledger: Arc<Mutex<Ledger>>,
    mood: Mood,
    dice: Dice,
    /// People who may have something to do, in this order.
    todo: VecDeque<usize>,
    /// What each connection waits for.
    in_flight: Vec<Option<(usize, Action)>>,
}

impl Crowd {
    /// All people of the ledger.
    pub fn new(ledger: &Arc<Mutex<Ledger>>, mood: Mood, connections: usize, dice: Dice) -> Self {
        let all = (0..ledger.lock().people.len()).collect();
        Self::among(all, ledger, mood, connections, dice)
    }

    /// Some of them, by their place in the ledger: nobody may be in two crowds at once.
    pub fn among(
        mut todo: Vec<usize>,
        ledger: &Arc<Mutex<Ledger>>,
        mood: Mood,
        connections: usize,
        mut dice: Dice,
    ) -> Self {
        dice.shuffle(&mut todo);
        let in_flight = vec![None; connections];
        Self { ledger: Arc::clone(ledger), mood, dice, todo: todo.into(), in_flight }
    }

    /// What somebody whose last try is this does next.
    fn next(&mut self, last: Option<Try>) -> Option<Action> {
        let settling = self.mood == Mood::Settling;
        let buying = self.mood == Mood::Buying;
        let Some(last) = last else { return (!settling).then_some(Action::Claim) };
        match (last.claim, last.step) {
            (Claim::Unknown, _) => Some(Action::Claim),
            (Claim::SoldOut, _) => (!settling).then_some(Action::Claim),
            (Claim::Accepted(order), Some((step, Outcome::Unknown))) => Some(Action::Step(order, step)),
            (Claim::Accepted(_), Some((Step::Pay, Outcome::Done))) => None,
            (Claim::Accepted(_), Some((Step::Cancel, Outcome::Done))) => {
                (buying || !settling && self.dice.chance(60)).then_some(Action::Claim)
            }
            (Claim::Accepted(_), None) if settling || buying => None,
            (Claim::Accepted(order), None) => match self.dice.below(10) {
                0..4 => Some(Action::Step(order, Step::Pay)),
                4..8 => Some(Action::Step(order, Step::Cancel)),
                _ => None,
            },
        }
    }
}

impl Script for Crowd {
    fn request(&mut self, connection: usize, buffer: &mut Vec<u8>) -> bool {
        while let Some(person) = self.todo.pop_front() {
            let last = self.ledger.lock().tries[person].last().copied();
            let Some(action) = self.next(last) else { continue };
            let mut ledger = self.ledger.lock();
            let path = match action {
                Action::Claim => {
                    expect_claim(&mut ledger.tries[person]);
                    format!("/api/voucher-order/seckill/{}", ledger.sale)
                }
                Action::Step(order, step) => {
                    if let Some(last) = ledger.tries[person].last_mut() {
                        last.step = Some((step, Outcome::Unknown));
                    }
                    format!("/api/voucher-order/{order}/{}", word(step))
                }
            };
            let headers = [("authorization", ledger.people[person].token.as_str())];
            buffer.extend_from_slice(&post(&path, "mall", &headers, b""));
            self.in_flight[connection] = Some((person, action));
            return true;
        }
        false
    }

    fn answer(&mut self, connection: usize, answer: Answer<'_>) {
        let Some((person, action)) = self.in_flight[connection].take() else { return };
        let mut ledger = self.ledger.lock();
        let again = match (answer.status, action) {
            // Nothing is known; whoever has to know asks again.
            (503, _) => {
                let json: Value = serde_json::from_slice(answer.body).unwrap_or_default();
                let code = json["code"].as_str().unwrap_or("no code").to_owned();
                *ledger.unable.entry(code).or_default() += 1;
                self.mood != Mood::Lively
            }
            (200, Action::Claim) => claimed(&mut ledger, person, answer.body, self.mood),
            (200, Action::Step(order, step)) => stepped(&mut ledger, person, order, step, answer.body),
            (status, _) => {
                let body = String::from_utf8_lossy(answer.body);
                ledger.surprise(format!("{action:?} was answered {status} {body}"));
                false
            }
        };
        // Some at once, so that payments and cancellations run among the first claims; others later.
        if again && self.dice.chance(50) {
            self.todo.push_front(person);
        } else if again {
            self.todo.push_back(person);
        }
    }

    fn lost(&mut self, connection: usize, _fault: Fault) {
        // The ledger has it as unknown since it was sent.
        self.in_flight[connection] = None;
    }
}

/// Opens a try; one whose claim is unknown is still the same: it comes to light as bought, or never was.
fn expect_claim(tries: &mut Vec<Try>) {
    match tries.last_mut() {
        Some(last) if last.claim == Claim::Unknown => last.asked += 1,
        Some(last) if last.claim == Claim::SoldOut => *last = Try::open(),
        _ => tries.push(Try::open()),
    }
}

/// Writes down the answer to a claim. Answers whether the person goes on.
fn claimed(ledger: &mut Ledger, person: usize, body: &[u8], mood: Mood) -> bool {
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    let order = json["dataText"].as_str().and_then(|text| text.parse().ok()).map(OrderId::new);
    let asked = ledger.tries[person].last().map_or(0, |last| last.asked);
    let claim = match (json["success"].as_bool(), json["code"].as_str(), order) {
        (Some(true), _, Some(order)) if json["data"].as_u64() == Some(order.get()) => Claim::Accepted(order),
        // Only somebody whose claim had been lost asks twice, after a restart: what is there now is on the disk.
        (Some(false), Some("ALREADY_BOUGHT"), Some(order)) if asked > 1 => {
            ledger.came_to_light += 1;
            Claim::Accepted(order)
        }
        (Some(false), Some("SOLD_OUT"), _) => Claim::SoldOut,
        _ => {
            ledger.surprise(format!("a claim was answered {}", String::from_utf8_lossy(body)));
            return false;
        }
    };
    if let Some(last) = ledger.tries[person].last_mut() {
        last.claim = claim;
    }
    mood == Mood::Lively
}

/// Writes down the answer to a step. Answers whether the person goes on.
fn stepped(ledger: &mut Ledger, person: usize, order: OrderId, step: Step, body: &[u8]) -> bool {
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    if json["success"].as_bool() != Some(true) {
        let body = String::from_utf8_lossy(body);
        ledger.surprise(format!("{} of order {order} was answered {body}", word(step)));
        return false;
    }
    if let Some(last) = ledger.tries[person].last_mut() {
        last.step = Some((step, Outcome::Done));
    }
    step == Step::Cancel
}

fn word(step: Step) -> &'static str {
    match step {
        Step::Pay => "pay",
        Step::Cancel => "cancel",
    }
}
