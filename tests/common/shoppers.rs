//! Simulated clients that buy, pay, cancel and browse over many connections, and record every request and
//! response.

use std::collections::VecDeque;
use std::sync::Arc;

use mallbox::bench::load::{Answer, Fault, Script};
use mallbox_storage::VoucherId;
use mallbox_test_checker::{CallId, Client, History, Request, Response, Standing};
use parking_lot::Mutex;

use super::dice::Dice;
use super::mall::{Mall, Person};

/// Maximum number of notes: each is read again after every crash.
const NOTES: usize = 40;

/// Behaviour of the clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behaviour {
    /// Buy, pay, cancel, repeat claims, browse and write, without end.
    Live,
    /// Claim, regardless of earlier responses, and read orders and stock, without end.
    Press,
    /// Repeat each claim, payment and cancellation without a response until a response arrives.
    Settle,
    /// Claim a unit for each client without one, until sold out.
    SellOut,
}

/// Returns a history of a mall's users, with the given sales watched.
pub fn history(mall: &Mall, sales: &[VoucherId]) -> Arc<Mutex<History>> {
    let client = |person: &Person| Client { user: person.id.get(), token: person.token.clone() };
    let mut history = History::of(mall.people.iter().map(client).collect());
    for sale in sales {
        history.open_sale(sale.get(), Some(mall.units));
    }
    Arc::new(Mutex::new(history))
}

/// The script of one run.
pub struct ShopperScript {
    history: Arc<Mutex<History>>,
    sale: u64,
    behaviour: Behaviour,
    dice: Dice,
    /// Clients that may send a request, and the request if already decided.
    todo: VecDeque<(usize, Option<Request>)>,
    in_flight: Vec<Option<(usize, CallId)>>,
    notes: Vec<u64>,
}

impl ShopperScript {
    /// Creates a script for every client of the history.
    pub fn new(
        history: &Arc<Mutex<History>>,
        sale: VoucherId,
        behaviour: Behaviour,
        connections: usize,
        dice: Dice,
    ) -> Self {
        let all = (0..history.lock().clients.len()).collect();
        Self::among(all, history, sale, behaviour, connections, dice)
    }

    /// Creates a script for some clients of the history, given by index.
    pub fn among(
        mut clients: Vec<usize>,
        history: &Arc<Mutex<History>>,
        sale: VoucherId,
        behaviour: Behaviour,
        connections: usize,
        mut dice: Dice,
    ) -> Self {
        dice.shuffle(&mut clients);
        let published =
            |response: &Response| if let Response::Note(id) = response { Some(*id) } else { None };
        let notes = history.lock().calls().iter().filter_map(|call| published(&call.response)).collect();
        Self {
            history: Arc::clone(history),
            sale: sale.get(),
            behaviour,
            dice,
            todo: clients.into_iter().map(|client| (client, None)).collect(),
            in_flight: vec![None; connections],
            notes,
        }
    }

    /// Returns a client's next request, if any.
    fn next(&mut self, history: &History, client: usize) -> Option<Request> {
        let claim = Request::Claim { sale: self.sale };
        if self.behaviour == Behaviour::Press {
            return Some(self.press());
        }
        match (self.behaviour, history.standing(client, self.sale)) {
            (Behaviour::Live, _) if self.dice.chance(12) => self.look_around(history, client),
            (_, Standing::ClaimUnknown) => Some(claim),
            (_, Standing::StepUnknown(step)) => Some(step),
            (Behaviour::Settle, _) => None,
            (Behaviour::Live, Standing::Free) => {
                self.press_twice(client);
                Some(claim)
            }
            (Behaviour::SellOut, Standing::Free) => Some(claim),
            (Behaviour::Live, Standing::Holding(order)) => self.step(client, order),
            (Behaviour::Live, Standing::Paid(_)) | (Behaviour::SellOut | Behaviour::Press, _) => None,
        }
    }

    fn press(&mut self) -> Request {
        match self.dice.below(12) {
            0 => Request::ListOrders,
            1 => Request::ShowStock { sale: self.sale },
            _ => Request::Claim { sale: self.sale },
        }
    }

    /// Queues a repeated claim or a read by the client while the claim is in flight.
    fn press_twice(&mut self, client: usize) {
        let again = match self.dice.below(12) {
            0..5 => Request::Claim { sale: self.sale },
            5 => Request::ListOrders,
            6 => Request::ShowStock { sale: self.sale },
            _ => return,
        };
        self.todo.push_front((client, Some(again)));
    }

    fn step(&mut self, client: usize, order: u64) -> Option<Request> {
        let (pay, cancel) = (Request::Pay { order }, Request::Cancel { order });
        match self.dice.below(20) {
            0..7 => Some(pay),
            7..15 => Some(cancel),
            15 => {
                self.todo.push_front((client, Some(cancel)));
                Some(pay)
            }
            16 => Some(Request::ShowOrder { order }),
            _ => None,
        }
    }

    fn look_around(&mut self, history: &History, client: usize) -> Option<Request> {
        let someone = usize::try_from(self.dice.below(history.clients.len() as u64)).ok()?;
        let wanted = match self.dice.below(8) {
            0..2 => return Some(Request::ListOrders),
            2..4 => return Some(Request::ShowStock { sale: self.sale }),
            4 if self.notes.len() < NOTES => {
                let number = history.calls().len();
                return Some(Request::PublishNote { title: format!("Note {number} of client {client}") });
            }
            4..6 if !self.notes.is_empty() => Request::Like { note: self.dice.pick(&self.notes) },
            6 if someone != client => Request::Follow { user: history.clients[someone].user },
            _ => Request::SignIn,
        };
        // A second like would withdraw the first; the others need no repetition.
        let is_new = history.calls_of(client).all(|call| call.request != wanted);
        is_new.then_some(wanted)
    }

    /// Returns whether a client continues after the response.
    fn goes_on(&self, history: &History, client: usize, response: &Response) -> bool {
        match (self.behaviour, response) {
            (Behaviour::Live, response) => *response != Response::Unknown,
            (Behaviour::Press, _) => true,
            (Behaviour::SellOut, response) => *response == Response::Unknown,
            (Behaviour::Settle, _) => matches!(
                history.standing(client, self.sale),
                Standing::ClaimUnknown | Standing::StepUnknown(_)
            ),
        }
    }
}

impl Script for ShopperScript {
    fn request(&mut self, connection: usize, buffer: &mut Vec<u8>) -> bool {
        let shared = Arc::clone(&self.history);
        let mut history = shared.lock();
        while let Some((client, decided)) = self.todo.pop_front() {
            let Some(request) = decided.or_else(|| self.next(&history, client)) else { continue };
            let (call, bytes) = history.invoke(client, request);
            buffer.extend_from_slice(&bytes);
            self.in_flight[connection] = Some((client, call));
            return true;
        }
        false
    }

    fn on_response(&mut self, connection: usize, answer: Answer<'_>) {
        let Some((client, call)) = self.in_flight[connection].take() else { return };
        let shared = Arc::clone(&self.history);
        let mut history = shared.lock();
        let response = history.respond(call, answer.status, answer.body).clone();
        if let Response::Note(id) = response {
            self.notes.push(id);
        }
        if self.goes_on(&history, client, &response) {
            // Half continue at once, so that payments and cancellations run among the first claims; the
            // others later.
            if self.behaviour != Behaviour::Press && self.dice.chance(50) {
                self.todo.push_front((client, None));
            } else {
                self.todo.push_back((client, None));
            }
        }
    }

    fn lost(&mut self, connection: usize, _fault: Fault) {
        if let Some((client, call)) = self.in_flight[connection].take() {
            self.history.lock().record_loss(call);
            if self.behaviour == Behaviour::Press {
                self.todo.push_back((client, None));
            }
        }
    }
}
