//! The rush of claims: requests sent and responses counted.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mallbox_storage::VoucherId;
use serde::{Deserialize, Serialize};

use super::foreign::{AnswerKind, CutRequest, Dialect, PreparedRules};
use super::load::{Answer, Exchanged, Fault, Report, Script};
use super::numbers::count;

/// Responses to claims, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct ClaimOutcomes {
    pub(super) accepted: u64,
    /// Among the accepted ones, those of users who had bought in this sale before.
    pub(super) bought_again: u64,
    pub(super) sold_out: u64,
    pub(super) already_bought: u64,
    /// Any other answer with a status of success.
    pub(super) refused: u64,
    /// Any other answer.
    pub(super) rejected: u64,
    /// No response, or an unreadable one: only the ledger shows whether the claim succeeded.
    pub(super) lost: u64,
}

/// Claims in one sale.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct SaleOutcomes {
    pub(super) accepted: u64,
    /// No response, or an unreadable one.
    pub(super) lost: u64,
}

impl SaleOutcomes {
    /// Adds the outcomes of other claims, sale by sale.
    pub(super) fn add_all(sum: &mut Vec<Self>, others: &[Self]) {
        sum.resize(sum.len().max(others.len()), Self::default());
        for (sum, other) in sum.iter_mut().zip(others) {
            sum.accepted += other.accepted;
            sum.lost += other.lost;
        }
    }
}

impl ClaimOutcomes {
    /// Returns the accepted claims per second of a load.
    pub(super) fn accepted_per_second(&self, report: &Report) -> f64 {
        self.accepted as f64 / report.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl ClaimOutcomes {
    /// Counts an answer.
    pub(super) fn count(&mut self, kind: AnswerKind) {
        *match kind {
            AnswerKind::Accepted => &mut self.accepted,
            AnswerKind::SoldOut => &mut self.sold_out,
            AnswerKind::AlreadyBought => &mut self.already_bought,
            AnswerKind::Refused => &mut self.refused,
            AnswerKind::Rejected => &mut self.rejected,
        } += 1;
    }
}

impl Add for ClaimOutcomes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            accepted: self.accepted + other.accepted,
            bought_again: self.bought_again + other.bought_again,
            sold_out: self.sold_out + other.sold_out,
            already_bought: self.already_bought + other.already_bought,
            refused: self.refused + other.refused,
            rejected: self.rejected + other.rejected,
            lost: self.lost + other.lost,
        }
    }
}

impl Sum for ClaimOutcomes {
    fn sum<I: Iterator<Item = Self>>(outcomes: I) -> Self {
        outcomes.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for ClaimOutcomes {
    /// Writes every kind that occurred, and accepted ones always.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} accepted", count(self.accepted))?;
        for (number, name) in [
            (self.sold_out, "sold out"),
            (self.already_bought, "already bought"),
            (self.refused, "refused for other reasons"),
            (self.rejected, "rejected by the server"),
            (self.lost, "lost"),
        ] {
            if number > 0 {
                write!(f, ", {} {name}", count(number))?;
            }
        }
        Ok(())
    }
}

/// Who claims what: every user in each sale, one sale after another.
#[derive(Clone, Debug)]
pub(super) struct Claims {
    tokens: Arc<Vec<String>>,
    /// The request of each sale, cut in two at the token.
    requests: Vec<CutRequest>,
    answers: Arc<PreparedRules>,
    /// Claims of each user in a sale, in a row.
    repeats: usize,
    /// Whether a user has had a claim accepted, by sale and user; empty unless remembered.
    has_bought: Arc<[AtomicBool]>,
    /// Number of the first claim to make.
    first: usize,
    /// Whether the last sale is claimed from without end.
    is_endless: bool,
}

impl Claims {
    /// Creates the claims of all users in `sales` of a mallbox.
    pub(super) fn new(tokens: Arc<Vec<String>>, sales: &[VoucherId]) -> Self {
        let dialect = Dialect::mallbox();
        Self::in_dialect(&dialect, ("mall", &dialect.prefix), tokens, sales)
    }

    /// Creates the claims of all users in `sales` of any mall. A host and a prefix locate it.
    pub(super) fn in_dialect(
        dialect: &Dialect,
        place: (&str, &str),
        tokens: Arc<Vec<String>>,
        sales: &[VoucherId],
    ) -> Self {
        Self {
            tokens,
            requests: sales.iter().map(|sale| dialect.claim(place, *sale)).collect(),
            answers: Arc::new(dialect.answers.prepared()),
            repeats: 1,
            has_bought: Arc::default(),
            first: 0,
            is_endless: false,
        }
    }

    /// Lets each user claim so many times in each sale, in a row.
    pub(super) fn repeated(self, repeats: usize) -> Self {
        let claims = Self { repeats, ..self };
        if repeats > 1 { claims.remembered() } else { claims }
    }

    /// Remembers the users whose claims are accepted.
    pub(super) fn remembered(self) -> Self {
        let buyers = self.tokens.len() * self.requests.len();
        Self { has_bought: (0..buyers).map(|_| AtomicBool::new(false)).collect(), ..self }
    }

    /// Returns the numbers of the users with an accepted claim in the first sale, if they are
    /// [remembered](Self::remembered).
    pub(super) fn buyers(&self) -> impl Iterator<Item = usize> {
        let of_first_sale = self.has_bought.iter().take(self.tokens.len()).enumerate();
        of_first_sale.filter(|(_, has)| has.load(Ordering::Relaxed)).map(|(user, _)| user)
    }

    /// Records an accepted claim. Returns whether an earlier claim of the same user in the same sale was
    /// accepted too.
    fn accept(&self, number: usize) -> bool {
        self.has_bought.get(number / self.repeats).is_some_and(|had| had.swap(true, Ordering::Relaxed))
    }

    /// Repeats the claims in the last sale without end.
    pub(super) fn endless(self) -> Self {
        Self { is_endless: true, ..self }
    }

    /// Begins with claim `first`, counted from 0.
    pub(super) fn from(self, first: usize) -> Self {
        Self { first, ..self }
    }

    /// Returns the number of claims to make; without meaning if they are endless.
    pub(super) fn count(&self) -> u64 {
        (self.tokens.len() * self.repeats * self.requests.len()).saturating_sub(self.first) as u64
    }

    /// Returns the request of a claim, and the token that belongs into it.
    fn get(&self, number: usize) -> Option<(&CutRequest, &str)> {
        let (sale, claim) = (number / self.per_sale(), number % self.per_sale());
        let request = self.requests.get(sale).or_else(|| self.requests.last().filter(|_| self.is_endless))?;
        Some((request, &self.tokens[claim / self.repeats]))
    }

    /// Returns the number of the sale of a claim, counted from 0.
    fn sale(&self, number: usize) -> usize {
        (number / self.per_sale()).min(self.requests.len() - 1)
    }

    fn per_sale(&self) -> usize {
        self.tokens.len() * self.repeats
    }
}

/// A thread's share of the claims: the first, and every so-manieth after it.
pub(super) struct ClaimScript {
    claims: Arc<Claims>,
    next: usize,
    threads: usize,
    /// Number of the last claim by connection.
    numbers: Vec<usize>,
    pub(super) outcomes: ClaimOutcomes,
    pub(super) by_sale: Vec<SaleOutcomes>,
    /// The first answer of a kind that no rule knows.
    pub(super) unknown: Option<Exchanged>,
}

impl ClaimScript {
    pub(super) fn new(claims: Arc<Claims>, thread: usize, threads: usize) -> Self {
        Self {
            next: claims.first + thread,
            by_sale: vec![SaleOutcomes::default(); claims.requests.len()],
            claims,
            threads,
            numbers: Vec::new(),
            outcomes: ClaimOutcomes::default(),
            unknown: None,
        }
    }

    /// Returns the number of the next claim.
    pub(super) fn next(&self) -> usize {
        self.next
    }
}

impl Script for ClaimScript {
    fn request(&mut self, connection: usize, buffer: &mut Vec<u8>) -> bool {
        let Some((request, token)) = self.claims.get(self.next) else { return false };
        if self.numbers.len() <= connection {
            self.numbers.resize(connection + 1, 0);
        }
        self.numbers[connection] = self.next;
        self.next += self.threads;
        for piece in [&request.before, token, &request.after] {
            buffer.extend_from_slice(piece.as_bytes());
        }
        true
    }

    fn on_response(&mut self, connection: usize, answer: Answer<'_>) {
        let kind = self.claims.answers.kind(answer.status, answer.body);
        self.outcomes.count(kind);
        if kind == AnswerKind::Accepted {
            let number = self.numbers[connection];
            self.by_sale[self.claims.sale(number)].accepted += 1;
            self.outcomes.bought_again += u64::from(self.claims.accept(number));
        }
        if matches!(kind, AnswerKind::Refused | AnswerKind::Rejected) && self.unknown.is_none() {
            self.unknown = Some(Exchanged { status: answer.status, body: answer.body.to_vec() });
        }
    }

    fn lost(&mut self, connection: usize, _fault: Fault) {
        self.outcomes.lost += 1;
        self.by_sale[self.claims.sale(self.numbers[connection])].lost += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(sales: &[u64]) -> Claims {
        let tokens = ["a", "b", "c"].map(str::to_owned).into();
        let sales: Vec<_> = sales.iter().copied().map(VoucherId::new).collect();
        Claims::new(Arc::new(tokens), &sales)
    }

    /// Returns the sale and the token of each request of a thread, up to a number of them.
    fn sent(claims: Claims, (thread, threads): (usize, usize), limit: usize) -> Vec<(char, char)> {
        let mut script = ClaimScript::new(Arc::new(claims), thread, threads);
        let mut sent = Vec::new();
        let mut buffer = Vec::new();
        while sent.len() < limit && script.request(0, &mut buffer) {
            let text = String::from_utf8(std::mem::take(&mut buffer)).unwrap();
            let sale = text.strip_prefix("POST /api/voucher-order/seckill/").unwrap().chars().next().unwrap();
            let (_, token) = text.split_once("authorization: ").unwrap();
            let token = token.chars().next().unwrap();
            sent.push((sale, token));
        }
        sent
    }

    #[test]
    fn every_user_claims_once_in_every_sale() {
        let all = [('1', 'a'), ('1', 'b'), ('1', 'c'), ('2', 'a'), ('2', 'b'), ('2', 'c')];
        assert_eq!(sent(claims(&[1, 2]), (0, 1), 99), all);
        assert_eq!(sent(claims(&[1, 2]).from(4), (0, 1), 99), all[4..]);
        let mut shared = sent(claims(&[1, 2]), (0, 2), 99);
        shared.extend(sent(claims(&[1, 2]), (1, 2), 99));
        shared.sort_unstable();
        assert_eq!(shared, all);
        assert_eq!((claims(&[1, 2]).count(), claims(&[1, 2]).from(4).count()), (6, 2));
        let twice = [('1', 'a'), ('1', 'a'), ('1', 'b'), ('1', 'b'), ('1', 'c'), ('1', 'c')];
        assert_eq!(sent(claims(&[1]).repeated(2), (0, 1), 99), twice);
        assert_eq!(claims(&[1, 2]).repeated(2).count(), 12);
        let endless = [('1', 'a'), ('1', 'b'), ('1', 'c'), ('1', 'a'), ('1', 'b')];
        assert_eq!(sent(claims(&[1]).endless(), (0, 1), 5), endless);
    }

    const ACCEPTED: &str = r#"{"success":true,"data":1,"dataText":"1"}"#;

    /// Sends a claim on a connection, and answers it at once.
    fn answer(rush: &mut ClaimScript, connection: usize, status: u16, body: &str) {
        assert!(rush.request(connection, &mut Vec::new()));
        let took = std::time::Duration::ZERO;
        rush.on_response(connection, Answer { status, body: body.as_bytes(), took });
    }

    #[test]
    fn responses_are_distinguished() {
        let mut rush = ClaimScript::new(Arc::new(claims(&[1]).endless()), 0, 1);
        for (status, body) in [
            (200, ACCEPTED),
            (200, r#"{"success":false,"errorMsg":"库存不足","code":"SOLD_OUT"}"#),
            (200, r#"{"success":false,"errorMsg":"x","code":"ALREADY_BOUGHT","dataText":"1"}"#),
            (200, r#"{"success":false,"errorMsg":"x","code":"NOT_OPEN"}"#),
            (503, r#"{"success":false,"errorMsg":"x","code":"BUSY"}"#),
        ] {
            answer(&mut rush, 0, status, body);
        }
        rush.lost(0, Fault::Timeout);
        let each = |count| ClaimOutcomes {
            accepted: count,
            bought_again: 0,
            sold_out: count,
            already_bought: count,
            refused: count,
            rejected: count,
            lost: count,
        };
        assert_eq!(rush.outcomes, each(1));
        assert_eq!([each(1), each(1)].into_iter().sum::<ClaimOutcomes>(), each(2));
        let unknown = rush.unknown.unwrap();
        assert_eq!((unknown.status, unknown.body.ends_with(br#"NOT_OPEN"}"#)), (200, true), "{unknown:?}");
    }

    #[test]
    fn a_user_who_buys_again_is_noticed_on_any_thread_and_connection() {
        let claims = Arc::new(claims(&[1, 2]).repeated(2));
        let mut threads = [0, 1].map(|thread| ClaimScript::new(Arc::clone(&claims), thread, 2));
        // Users a, b and c in sale 1, then a in sale 2; the claims of a user are spread over the threads.
        for (thread, connection, body) in [
            (0, 0, ACCEPTED),
            (0, 3, ACCEPTED),
            (0, 1, "{}"),
            (0, 0, ACCEPTED),
            (1, 0, "{}"),
            (1, 2, ACCEPTED),
            (1, 0, ACCEPTED),
            (1, 0, ACCEPTED),
        ] {
            answer(&mut threads[thread], connection, 200, body);
        }
        let outcomes = threads.iter().map(|thread| thread.outcomes).sum::<ClaimOutcomes>();
        let mut by_sale = Vec::new();
        threads.iter().for_each(|thread| SaleOutcomes::add_all(&mut by_sale, &thread.by_sale));
        let by_sale: [SaleOutcomes; 2] = by_sale.try_into().unwrap();
        assert_eq!((outcomes.accepted, outcomes.bought_again, outcomes.refused), (6, 2, 2));
        assert_eq!(by_sale.map(|sale| sale.accepted), [4, 2]);
    }
}
