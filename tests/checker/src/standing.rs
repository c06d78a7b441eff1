//! A client's position in a sale, as far as the client knows.

use std::collections::BTreeMap;

use crate::history::{Call, History, Request, Response};

/// A client's knowledge of its own unit; a simulated client chooses the next request accordingly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// No unit, and no request in doubt.
    Free,
    /// A claim without a response.
    ClaimUnknown,
    /// An order neither paid nor cancelled.
    Holding(u64),
    /// A payment or cancellation without a response.
    StepUnknown(Request),
    /// A paid order.
    Paid(u64),
}

/// A client's knowledge of one order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    Open,
    Paid,
    Cancelled,
}

impl History {
    /// Returns a client's standing in a sale.
    #[must_use]
    pub fn standing(&self, client: usize, sale: u64) -> Standing {
        let mut memory = Memory::default();
        for call in self.calls_of(client) {
            if !call.response.orders().iter().any(|order| self.is_lost(*order)) {
                memory.note(call, sale);
            }
        }
        memory.standing()
    }
}

#[derive(Default)]
struct Memory {
    orders: BTreeMap<u64, Known>,
    /// The order named last.
    last: Option<u64>,
    /// Time until which a client waited for a claim without a response.
    unknown_claim: Option<u64>,
    unknown_step: Option<Request>,
}

impl Memory {
    fn note(&mut self, call: &Call, sale: u64) {
        match (&call.request, &call.response) {
            (Request::Claim { sale: of }, response) if *of == sale => self.note_claim(call, response),
            (Request::Pay { order }, Response::Order(_)) => self.settle(*order, Known::Paid),
            (Request::Cancel { order }, Response::Order(_)) => self.settle(*order, Known::Cancelled),
            // The other step took effect first.
            (Request::Pay { order }, Response::Refused(code)) if code == "ORDER_STANDS" => {
                self.settle(*order, Known::Cancelled);
            }
            (Request::Cancel { order }, Response::Refused(code)) if code == "ORDER_STANDS" => {
                self.settle(*order, Known::Paid);
            }
            (step @ (Request::Pay { order } | Request::Cancel { order }), Response::Unknown)
                if self.orders.get(order) == Some(&Known::Open) =>
            {
                self.unknown_step = Some(step.clone());
            }
            _ => {}
        }
    }

    fn note_claim(&mut self, call: &Call, response: &Response) {
        match response {
            Response::Unknown => self.unknown_claim = Some(call.ended),
            Response::Accepted(order) | Response::AlreadyBought(order) => {
                self.orders.entry(*order).or_insert(Known::Open);
                self.last = Some(*order);
                self.unknown_claim = None;
            }
            // Not conclusive for a claim that was still in flight.
            Response::SoldOut if self.unknown_claim.is_some_and(|ended| ended < call.invoked) => {
                self.unknown_claim = None;
            }
            _ => {}
        }
    }

    fn settle(&mut self, order: u64, known: Known) {
        if let Some(of_sale) = self.orders.get_mut(&order) {
            *of_sale = known;
            self.unknown_step.take_if(|step| {
                matches!(step, Request::Pay { order: of } | Request::Cancel { order: of } if *of == order)
            });
        }
    }

    fn standing(self) -> Standing {
        if let Some(step) = self.unknown_step {
            return Standing::StepUnknown(step);
        }
        let last = self.last.and_then(|order| Some((order, *self.orders.get(&order)?)));
        match last {
            _ if self.unknown_claim.is_some() => Standing::ClaimUnknown,
            Some((order, Known::Open)) => Standing::Holding(order),
            Some((order, Known::Paid)) => Standing::Paid(order),
            Some((_, Known::Cancelled)) | None => Standing::Free,
        }
    }
}
