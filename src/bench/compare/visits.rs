//! Visitors of a mall: what they ask for, and how often.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mallbox_storage::{Timestamp, VoucherId};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::bench::content::{TOWN, TYPES};
use crate::bench::foreign::{AnswerKind, Dialect, PreparedRules};
use crate::bench::load::{Answer, Exchanged, Fault, Script};
use crate::bench::people::BenchUsers;
use crate::bench::rush::ClaimOutcomes;

/// The begin of every successful answer.
const SUCCESS: &[u8] = br#"{"success":true"#;

/// What a visitor asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Request {
    Shop,
    Nearby,
    HotNotes,
    SalePage,
    Feed,
    Like,
    SignIn,
    Streak,
    Claim,
}

/// A request of a user.
#[derive(Clone, Copy, Debug)]
struct Visit {
    request: Request,
    /// Number of the user.
    user: usize,
    /// The sale of a claim.
    sale: Option<VoucherId>,
}

/// Requests with their weights.
type Mix = &'static [(u32, Request)];

/// What visitors do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Habit {
    /// Requests at random, without end.
    Mixed(Mix),
    /// One request, without end.
    Single(Request),
    /// Each user signs in and looks at the streak, once.
    Morning,
}

pub(super) const BROWSE: Habit =
    Habit::Mixed(&[(50, Request::Shop), (30, Request::Nearby), (20, Request::HotNotes)]);
pub(super) const FEED: Habit = Habit::Mixed(&[(1, Request::Feed)]);
pub(super) const DAY: Habit = Habit::Mixed(&[
    (35, Request::Shop),
    (15, Request::Nearby),
    (10, Request::HotNotes),
    (15, Request::Feed),
    (5, Request::Like),
    (5, Request::SignIn),
    (5, Request::Streak),
    (10, Request::Claim),
]);

/// The visitors, shared by the threads of a load.
#[derive(Debug)]
pub(super) struct Visitors {
    users: BenchUsers,
    /// The sales to claim from, one after another.
    sales: Vec<VoucherId>,
    now: Timestamp,
    habit: Habit,
    answers: PreparedRules,
    /// Number of the next sign-in or claim.
    next: AtomicUsize,
}

impl Visitors {
    pub(super) fn new(users: BenchUsers, sales: Vec<VoucherId>, habit: Habit, now: Timestamp) -> Self {
        let answers = Dialect::mallbox().answers.prepared();
        Self { users, sales, now, habit, answers, next: AtomicUsize::new(0) }
    }

    /// Returns the number of what each user does once, in each sale if it is a claim.
    fn next_number(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

/// A thread's share of the visitors.
pub(super) struct VisitorScript {
    visitors: Arc<Visitors>,
    rng: SmallRng,
    /// The last request of each connection.
    last: Vec<Option<Visit>>,
    pub(super) outcomes: ClaimOutcomes,
    /// The first answer that no visitor expects.
    pub(super) unknown: Option<Exchanged>,
}

impl VisitorScript {
    /// Creates the share of a thread; each thread draws other requests, and every run the same.
    pub(super) fn new(visitors: Arc<Visitors>, thread: u64) -> Self {
        Self {
            visitors,
            rng: SmallRng::seed_from_u64(thread),
            last: Vec::new(),
            outcomes: ClaimOutcomes::default(),
            unknown: None,
        }
    }

    /// Returns the next request; `None` at the end.
    fn next(&mut self, last: Option<Visit>) -> Option<Visit> {
        let users = self.visitors.users.tokens.len();
        let request = match (self.visitors.habit, last) {
            (Habit::Morning, Some(Visit { request: Request::SignIn, user, .. })) => {
                return Some(Visit { request: Request::Streak, user, sale: None });
            }
            (Habit::Morning, _) => {
                let user = self.visitors.next_number();
                return (user < users).then_some(Visit { request: Request::SignIn, user, sale: None });
            }
            (Habit::Mixed(mix), _) => self.draw(mix),
            (Habit::Single(request), _) => request,
        };
        let readers = &self.visitors.users.content.readers;
        Some(match request {
            Request::Feed if !readers.is_empty() => {
                Visit { request, user: self.rng.random_range(readers.clone()), sale: None }
            }
            Request::Claim => {
                let number = self.visitors.next_number();
                // Without a claim left the load ends: less work would look like more speed.
                let sale = *self.visitors.sales.get(number / users)?;
                Visit { request, user: number % users, sale: Some(sale) }
            }
            _ => Visit { request, user: self.rng.random_range(0..users), sale: None },
        })
    }

    fn draw(&mut self, mix: Mix) -> Request {
        let mut drawn = self.rng.random_range(0..mix.iter().map(|(weight, _)| weight).sum());
        for (weight, request) in mix {
            match drawn.checked_sub(*weight) {
                Some(rest) => drawn = rest,
                None => return *request,
            }
        }
        Request::Shop
    }

    /// Writes the request line and the headers.
    fn write(&mut self, Visit { request, user, sale }: Visit, buffer: &mut Vec<u8>) {
        let visitors = Arc::clone(&self.visitors);
        let content = &visitors.users.content;
        let any = |rng: &mut SmallRng, many: usize| rng.random_range(0..many.max(1));
        // A buffer takes everything.
        let _ = match request {
            Request::Shop => {
                let shop = content.shops.get(any(&mut self.rng, content.shops.len()));
                write!(buffer, "GET /api/shop/{}", shop.map_or(1, |shop| shop.get()))
            }
            Request::Nearby => {
                let kind = self.rng.random_range(1..=TYPES);
                let mut near = |centre: f64| centre + self.rng.random_range(-0.02..0.02);
                let (x, y) = (near(TOWN.0), near(TOWN.1));
                write!(buffer, "GET /api/shop/of/type?typeId={kind}&current=1&x={x}&y={y}")
            }
            Request::SalePage => {
                let sale = visitors.sales.get(any(&mut self.rng, visitors.sales.len()));
                write!(buffer, "GET /api/sale/{}/page", sale.map_or(1, |sale| sale.get()))
            }
            Request::HotNotes => write!(buffer, "GET /api/blog/hot?current=1"),
            Request::Feed => {
                write!(buffer, "GET /api/blog/of/follow?lastId={}&offset=0", visitors.now.as_millis())
            }
            Request::Like => {
                let note = content.notes.get(any(&mut self.rng, content.notes.len()));
                write!(buffer, "PUT /api/blog/like/{}", note.map_or(1, |note| note.get()))
            }
            Request::SignIn => write!(buffer, "POST /api/user/sign"),
            Request::Streak => write!(buffer, "GET /api/user/sign/count"),
            Request::Claim => {
                write!(buffer, "POST /api/voucher-order/seckill/{}", sale.map_or(0, VoucherId::get))
            }
        };
        let token = &visitors.users.tokens[user];
        let body = if matches!(request, Request::Like | Request::SignIn | Request::Claim) {
            "content-length: 0\r\n"
        } else {
            ""
        };
        let _ = write!(buffer, " HTTP/1.1\r\nhost: mall\r\nauthorization: {token}\r\n{body}\r\n");
    }
}

impl Script for VisitorScript {
    fn request(&mut self, connection: usize, buffer: &mut Vec<u8>) -> bool {
        if self.last.len() <= connection {
            self.last.resize(connection + 1, None);
        }
        let next = self.next(self.last[connection]);
        self.last[connection] = next;
        let Some(next) = next else { return false };
        self.write(next, buffer);
        true
    }

    fn on_response(&mut self, connection: usize, answer: Answer<'_>) {
        let is_claim = self.last[connection].is_some_and(|last| last.request == Request::Claim);
        let kind = if is_claim {
            self.visitors.answers.kind(answer.status, answer.body)
        } else if answer.status != 200 {
            AnswerKind::Rejected
        } else if answer.body.starts_with(SUCCESS) {
            AnswerKind::Accepted
        } else {
            AnswerKind::Refused
        };
        self.outcomes.count(kind);
        if matches!(kind, AnswerKind::Refused | AnswerKind::Rejected) && self.unknown.is_none() {
            self.unknown = Some(Exchanged { status: answer.status, body: answer.body.to_vec() });
        }
    }

    fn lost(&mut self, _connection: usize, _fault: Fault) {
        self.outcomes.lost += 1;
    }
}
