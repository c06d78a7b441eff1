//! Requests of simulated clients and the responses, in order.

use std::collections::BTreeMap;

use crate::failover::Lost;
use crate::wire;

/// A logged-in user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Client {
    /// The user's id.
    pub user: u64,
    /// Token of a session.
    pub token: String,
}

/// A request of a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// Claim one unit of a sale.
    Claim {
        /// The sale's voucher.
        sale: u64,
    },
    /// Pay for an order.
    Pay {
        /// The order's id.
        order: u64,
    },
    /// Cancel an unpaid order.
    Cancel {
        /// The order's id.
        order: u64,
    },
    /// The first page of the client's own orders.
    ListOrders,
    /// One of the client's own orders.
    ShowOrder {
        /// The order's id.
        order: u64,
    },
    /// The live stock of a sale.
    ShowStock {
        /// The sale's voucher.
        sale: u64,
    },
    /// Publish a note. Titles are unique per request, so that the note can be recognised.
    PublishNote {
        /// Plain text, unique per request.
        title: String,
    },
    /// Like a note. A second request would withdraw the like, so a client sends one per note.
    Like {
        /// The note's id.
        note: u64,
    },
    /// Sign in today.
    SignIn,
    /// Follow a user.
    Follow {
        /// The followed user's id.
        user: u64,
    },
    /// Log in with a code sent to a phone number.
    LogIn {
        /// A mainland mobile number.
        phone: String,
        /// The code sent to the phone number.
        code: String,
    },
}

/// An order as shown in a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderView {
    /// The order's id.
    pub id: u64,
    /// The voucher's id; the sale's id for an order of a sale.
    pub sale: u64,
    /// 0 pending, 1 unpaid, 2 paid, 3 used, 4 cancelled, 5 refunding, 6 refunded.
    pub status: u8,
}

/// Outcome of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Response {
    /// No response, or a 5xx: the request took effect completely or not at all.
    Unknown,
    /// The request took effect.
    Done,
    /// The claim was accepted, with the order's id.
    Accepted(u64),
    /// The claim was refused, because the client holds the order with this id.
    AlreadyBought(u64),
    /// The claim was refused: no unit is left.
    SoldOut,
    /// Refused with a code; nothing has changed.
    Refused(String),
    /// A list of orders, newest first.
    Orders(Vec<OrderView>),
    /// A single order.
    Order(OrderView),
    /// Number of units left; `None` if unlimited.
    Stock(Option<u64>),
    /// The note was published under this id.
    Note(u64),
    /// The session began, with this token.
    Session(String),
    /// A response that no correct mall sends.
    Invalid(String),
}

impl Response {
    /// Returns the ids of all orders named in the response.
    pub fn orders(&self) -> Vec<u64> {
        match self {
            Self::Accepted(order) | Self::AlreadyBought(order) => vec![*order],
            Self::Order(view) => vec![view.id],
            Self::Orders(views) => views.iter().map(|view| view.id).collect(),
            _ => Vec::new(),
        }
    }
}

/// Index of a call within one history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallId(usize);

/// A request and its response. Times are steps of the history's logical clock, which advances by one with
/// every invocation and every response.
#[derive(Clone, Debug)]
pub struct Call {
    /// Index into [`History::clients`].
    pub client: usize,
    /// The request sent.
    pub request: Request,
    /// Time of sending.
    pub invoked: u64,
    /// Time of the response; `u64::MAX` without one, since the request may still take effect.
    pub responded: u64,
    /// Time at which the client stopped waiting, with a response or without; `u64::MAX` while waiting.
    pub ended: u64,
    /// Outcome of the request.
    pub response: Response,
}

/// Requests and responses of all clients. A call without a response counts as unknown, so a copy taken at any
/// time is a valid history.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Clients by index.
    pub clients: Vec<Client>,
    /// Units of the watched sales; `None` if the number is not fixed, as in an unlimited sale.
    pub sales: BTreeMap<u64, Option<u64>>,
    calls: Vec<Call>,
    by_client: Vec<Vec<usize>>,
    clock: u64,
    unavailable: BTreeMap<String, u64>,
    pub(crate) lost: Lost,
}

impl History {
    /// Returns an empty history of `clients`.
    #[must_use]
    pub fn of(clients: Vec<Client>) -> Self {
        let by_client = vec![Vec::new(); clients.len()];
        Self { clients, by_client, ..Self::default() }
    }

    /// Watches a sale with `units`. Orders of other sales are ignored.
    pub fn open_sale(&mut self, sale: u64, units: Option<u64>) {
        self.sales.insert(sale, units);
    }

    /// Records a request. Returns the bytes to send.
    ///
    /// # Panics
    /// If the client does not exist.
    pub fn invoke(&mut self, client: usize, request: Request) -> (CallId, Vec<u8>) {
        let bytes = wire::write(&request, &self.clients[client].token);
        self.clock += 1;
        self.by_client[client].push(self.calls.len());
        self.calls.push(Call {
            client,
            request,
            invoked: self.clock,
            responded: u64::MAX,
            ended: u64::MAX,
            response: Response::Unknown,
        });
        (CallId(self.calls.len() - 1), bytes)
    }

    /// Records the response to a call, and returns the parsed response.
    ///
    /// # Panics
    /// If the call belongs to another history.
    pub fn respond(&mut self, call: CallId, status: u16, body: &[u8]) -> &Response {
        self.clock += 1;
        let call = &mut self.calls[call.0];
        call.ended = self.clock;
        call.response = wire::read(&call.request, status, body);
        if call.response == Response::Unknown {
            *self.unavailable.entry(wire::code(status, body)).or_default() += 1;
        } else {
            call.responded = self.clock;
        }
        &call.response
    }

    /// Records that a call will get no response.
    ///
    /// # Panics
    /// If the call belongs to another history.
    pub fn record_loss(&mut self, call: CallId) {
        self.clock += 1;
        self.calls[call.0].ended = self.clock;
    }

    /// Records the death of the mall: no call in flight will get a response.
    pub fn record_crash(&mut self) {
        self.clock += 1;
        let clock = self.clock;
        for call in self.calls.iter_mut().filter(|call| call.ended == u64::MAX) {
            call.ended = clock;
        }
    }

    /// Returns the history as a crash would have left it: with the calls sent up to step `invoked`, and with
    /// the responses up to step `responded`. All other calls in flight get none.
    #[must_use]
    pub fn before(&self, invoked: u64, responded: u64) -> Self {
        let mut before = self.clone();
        before.calls.retain(|call| call.invoked <= invoked);
        for call in &mut before.calls {
            if call.ended > responded {
                (call.responded, call.ended, call.response) = (u64::MAX, u64::MAX, Response::Unknown);
            }
        }
        before.by_client = vec![Vec::new(); self.clients.len()];
        for (index, call) in before.calls.iter().enumerate() {
            before.by_client[call.client].push(index);
        }
        before.clock = invoked.max(responded).min(self.clock);
        before.record_crash();
        before
    }

    /// Returns the current step of the logical clock.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.clock
    }

    /// Returns every call, in the order of invocation.
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Returns the calls of one client, in the order of invocation.
    pub fn calls_of(&self, client: usize) -> impl DoubleEndedIterator<Item = &Call> {
        self.by_client.get(client).into_iter().flatten().map(|call| &self.calls[*call])
    }

    /// Returns the number of inconclusive responses (5xx), by code.
    #[must_use]
    pub fn unavailable(&self) -> &BTreeMap<String, u64> {
        &self.unavailable
    }

    /// Returns the number of calls by outcome.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for call in &self.calls {
            let field = match (&call.request, &call.response) {
                (_, Response::Unknown) => &mut summary.unknown,
                (_, Response::Accepted(_)) => &mut summary.claims,
                (_, Response::AlreadyBought(_)) => &mut summary.already_bought,
                (_, Response::SoldOut) => &mut summary.sold_out,
                (_, Response::Refused(_) | Response::Invalid(_)) => &mut summary.refused,
                (Request::Pay { .. }, _) => &mut summary.payments,
                (Request::Cancel { .. }, _) => &mut summary.cancellations,
                (Request::ListOrders | Request::ShowOrder { .. } | Request::ShowStock { .. }, _) => {
                    &mut summary.reads
                }
                (_, _) => &mut summary.others,
            };
            *field += 1;
        }
        summary
    }
}

/// Number of calls of a history, by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Summary {
    /// Number of accepted claims.
    pub claims: u64,
    /// Claims refused because the client already holds an order.
    pub already_bought: u64,
    /// Claims refused because no unit was left.
    pub sold_out: u64,
    /// All other refusals.
    pub refused: u64,
    /// Number of successful payments.
    pub payments: u64,
    /// Number of successful cancellations.
    pub cancellations: u64,
    /// Reads of orders and stock.
    pub reads: u64,
    /// Successful notes, likes, sign-ins, follows and log-ins.
    pub others: u64,
    /// Calls without a response.
    pub unknown: u64,
}

impl std::ops::AddAssign for Summary {
    fn add_assign(&mut self, other: Self) {
        self.claims += other.claims;
        self.already_bought += other.already_bought;
        self.sold_out += other.sold_out;
        self.refused += other.refused;
        self.payments += other.payments;
        self.cancellations += other.cancellations;
        self.reads += other.reads;
        self.others += other.others;
        self.unknown += other.unknown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_before_a_crash_has_no_later_request_and_no_later_response() {
        let client = Client { user: 1, token: "token".to_owned() };
        let mut history = History::of(vec![client]);
        let accepted = br#"{"success":true,"data":5,"dataText":"5"}"#;
        for sale in [7, 8, 9] {
            let (call, _) = history.invoke(0, Request::Claim { sale });
            history.respond(call, 200, accepted);
        }
        // Steps: request 1, response 2, request 3, response 4, request 5, response 6.
        let before = history.before(3, 2);
        let responses: Vec<_> = before.calls_of(0).map(|call| call.response.clone()).collect();
        assert_eq!(responses, [Response::Accepted(5), Response::Unknown]);
        assert!(before.calls().iter().all(|call| call.ended <= before.now()));
        assert_eq!(history.before(u64::MAX, 6).summary(), history.summary());
        assert_eq!(history.before(0, 0).calls().len(), 0);
    }
}
