//! What simulated clients asked, and what they were answered, in order.

use std::collections::BTreeMap;

use crate::failover::Lost;
use crate::wire;

/// Somebody who is logged in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Client {
    /// The user's id.
    pub user: u64,
    /// The token of a session.
    pub token: String,
}

/// What a client asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// One unit of a sale.
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
    /// The live figures of a sale.
    ShowStock {
        /// The sale's voucher.
        sale: u64,
    },
    /// Publish a note. A title is given to one request alone, so that its note is recognised.
    PublishNote {
        /// Without markup.
        title: String,
    },
    /// Like a note. A second request would take the like back, so a client sends one per note.
    Like {
        /// The note's id.
        note: u64,
    },
    /// Sign in today.
    SignIn,
    /// Follow somebody.
    Follow {
        /// The followed user's id.
        user: u64,
    },
    /// Begin a session by a code that was sent to this phone number.
    LogIn {
        /// A mainland mobile number.
        phone: String,
        /// The code that was sent there.
        code: String,
    },
}

/// An order as a response shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderView {
    /// The order's id.
    pub id: u64,
    /// The voucher's id; for an order of a sale the sale.
    pub sale: u64,
    /// 0 pending, 1 unpaid, 2 paid, 3 used, 4 cancelled, 5 refunding, 6 refunded.
    pub status: u8,
}

/// What a client was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Response {
    /// Nothing, or a 5xx: the request took effect wholly or not at all.
    Unknown,
    /// It is done.
    Done,
    /// The claim was accepted, as this order.
    Accepted(u64),
    /// The claim was refused: the client holds this order.
    AlreadyBought(u64),
    /// The claim was refused: no unit is left.
    SoldOut,
    /// Refused with this code; nothing has changed.
    Refused(String),
    /// These orders, newest first.
    Orders(Vec<OrderView>),
    /// This order.
    Order(OrderView),
    /// This many units are left; `None` if unlimited.
    Stock(Option<u64>),
    /// The note was published under this id.
    Note(u64),
    /// The session began, with this token.
    Session(String),
    /// What no mall may answer.
    Senseless(String),
}

impl Response {
    /// The orders that it names.
    pub fn orders(&self) -> Vec<u64> {
        match self {
            Self::Accepted(order) | Self::AlreadyBought(order) => vec![*order],
            Self::Order(view) => vec![view.id],
            Self::Orders(views) => views.iter().map(|view| view.id).collect(),
            _ => Vec::new(),
        }
    }
}

/// Names a call of one history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallId(usize);

/// A request and its response. Instants are steps of the history's own clock, which every invocation and every response
/// moves by one.
#[derive(Clone, Debug)]
pub struct Call {
    /// Whose, as an index into [`History::clients`].
    pub client: usize,
    /// What was asked.
    pub request: Request,
    /// When it was sent.
    pub invoked: u64,
    /// When the response came; `u64::MAX` without one, since the request may take effect at any time until then.
    pub responded: u64,
    /// When the client stopped waiting, with a response or without; `u64::MAX` while it waits.
    pub ended: u64,
    /// What was answered.
    pub response: Response,
}

/// Requests and responses of all clients. Without its response a call is unknown, so a copy is true at any instant.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Who takes part.
    pub clients: Vec<Client>,
    /// Units of the sales that are watched; `None` if that is not fixed, as in an unlimited sale.
    pub sales: BTreeMap<u64, Option<u64>>,
    calls: Vec<Call>,
    by_client: Vec<Vec<usize>>,
    clock: u64,
    unavailable: BTreeMap<String, u64>,
    pub(crate) lost: Lost,
}

impl History {
    /// A history in which nothing has happened yet.
    #[must_use]
    pub fn of(clients: Vec<Client>) -> Self {
        let by_client = vec![Vec::new(); clients.len()];
        Self { clients, by_client, ..Self::default() }
    }

    /// Watches a sale of this many units. Orders of other sales are nobody's business.
    pub fn open_sale(&mut self, sale: u64, units: Option<u64>) {
        self.sales.insert(sale, units);
    }

    /// Records that a client asks. Returns the bytes to be sent.
    ///
    /// # Panics
    /// If there is no such client.
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

    /// Records the response to a call, and returns it as it was understood.
    ///
    /// # Panics
    /// If the call is of another history.
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

    /// Records that no response will come to a call.
    ///
    /// # Panics
    /// If the call is of another history.
    pub fn lose(&mut self, call: CallId) {
        self.clock += 1;
        self.calls[call.0].ended = self.clock;
    }

    /// Records that the mall is gone: whatever is in flight will not be answered.
    pub fn cut_off(&mut self) {
        self.clock += 1;
        let clock = self.clock;
        for call in self.calls.iter_mut().filter(|call| call.ended == u64::MAX) {
            call.ended = clock;
        }
    }

    /// The current step of the history's clock.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.clock
    }

    /// Every call, in the order of invocation.
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The calls of one client, in the order of invocation.
    pub fn calls_of(&self, client: usize) -> impl DoubleEndedIterator<Item = &Call> {
        self.by_client.get(client).into_iter().flatten().map(|call| &self.calls[*call])
    }

    /// Responses that told nothing, by their code.
    #[must_use]
    pub fn unavailable(&self) -> &BTreeMap<String, u64> {
        &self.unavailable
    }

    /// How many promises were made so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for call in &self.calls {
            let field = match (&call.request, &call.response) {
                (_, Response::Unknown) => &mut summary.unknown,
                (_, Response::Accepted(_)) => &mut summary.claims,
                (_, Response::AlreadyBought(_)) => &mut summary.already_bought,
                (_, Response::SoldOut) => &mut summary.sold_out,
                (_, Response::Refused(_) | Response::Senseless(_)) => &mut summary.refused,
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

/// How many calls of a history were answered how.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Summary {
    /// Accepted claims.
    pub claims: u64,
    /// Claims refused since the client holds an order.
    pub already_bought: u64,
    /// Claims refused since no unit was left.
    pub sold_out: u64,
    /// Other refusals.
    pub refused: u64,
    /// Done payments.
    pub payments: u64,
    /// Done cancellations.
    pub cancellations: u64,
    /// Orders and figures shown.
    pub reads: u64,
    /// Done notes, likes, sign-ins, follows and log-ins.
    pub others: u64,
    /// Calls without an answer.
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
