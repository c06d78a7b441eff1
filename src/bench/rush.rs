//! The rush of claims: requests sent and responses counted.

use std::iter::Sum;
use std::ops::Add;
use std::sync::Arc;

use mallbox_storage::VoucherId;

use super::load::{Answer, Fault, Script};

/// Responses to claims, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ClaimOutcomes {
    pub(super) accepted: u64,
    pub(super) sold_out: u64,
    pub(super) already_bought: u64,
    /// Any other 200.
    pub(super) refused: u64,
    /// Rejected by load shedding or by a limit: 429, 503 and similar.
    pub(super) rejected: u64,
    /// No response, or an unreadable one: only the ledger shows whether the claim succeeded.
    pub(super) lost: u64,
}

impl Add for ClaimOutcomes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            accepted: self.accepted + other.accepted,
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

/// Who claims what: every user once in each sale, one sale after another.
#[derive(Clone, Debug)]
pub(super) struct Claims {
    tokens: Arc<Vec<String>>,
    /// Requests up to the token, by sale.
    heads: Vec<String>,
    /// Number of the first claim to make.
    first: usize,
    /// Whether the last sale is claimed from without end.
    is_endless: bool,
}

impl Claims {
    /// Creates the claims of all users in `sales`.
    pub(super) fn new(tokens: Arc<Vec<String>>, sales: &[VoucherId]) -> Self {
        let head = |sale: &VoucherId| {
            format!(
                "POST /api/voucher-order/seckill/{sale} HTTP/1.1\r\nhost: mall\r\ncontent-length: 0\r\nauthorization: "
            )
        };
        Self { tokens, heads: sales.iter().map(head).collect(), first: 0, is_endless: false }
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
        (self.tokens.len() * self.heads.len()).saturating_sub(self.first) as u64
    }

    /// Returns the request up to the token, and the token.
    fn get(&self, number: usize) -> Option<(&str, &str)> {
        let (sale, user) = (number / self.tokens.len(), number % self.tokens.len());
        let head = self.heads.get(sale).or_else(|| self.heads.last().filter(|_| self.is_endless))?;
        Some((head, &self.tokens[user]))
    }
}

/// A thread's share of the claims: the first, and every so-manieth after it.
pub(super) struct ClaimScript {
    claims: Arc<Claims>,
    next: usize,
    threads: usize,
    pub(super) outcomes: ClaimOutcomes,
}

impl ClaimScript {
    pub(super) fn new(claims: Arc<Claims>, thread: usize, threads: usize) -> Self {
        Self { next: claims.first + thread, claims, threads, outcomes: ClaimOutcomes::default() }
    }

    /// Returns the number of the next claim.
    pub(super) fn next(&self) -> usize {
        self.next
    }
}

impl Script for ClaimScript {
    fn request(&mut self, _connection: usize, buffer: &mut Vec<u8>) -> bool {
        let Some((head, token)) = self.claims.get(self.next) else { return false };
        self.next += self.threads;
        for piece in [head, token, "\r\n\r\n"] {
            buffer.extend_from_slice(piece.as_bytes());
        }
        true
    }

    fn on_response(&mut self, _connection: usize, answer: Answer<'_>) {
        let outcomes = &mut self.outcomes;
        let count = match answer.status {
            200 if answer.body.starts_with(br#"{"success":true"#) => &mut outcomes.accepted,
            200 if contains(answer.body, b"SOLD_OUT") => &mut outcomes.sold_out,
            200 if contains(answer.body, b"ALREADY_BOUGHT") => &mut outcomes.already_bought,
            200 => &mut outcomes.refused,
            _ => &mut outcomes.rejected,
        };
        *count += 1;
    }

    fn lost(&mut self, _connection: usize, _fault: Fault) {
        self.outcomes.lost += 1;
    }
}

/// Searches from the end: the code stands at the end of a response.
fn contains(body: &[u8], word: &[u8]) -> bool {
    body.windows(word.len()).rev().any(|window| window == word)
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
            let token = text.strip_suffix("\r\n\r\n").unwrap().chars().last().unwrap();
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
        let endless = [('1', 'a'), ('1', 'b'), ('1', 'c'), ('1', 'a'), ('1', 'b')];
        assert_eq!(sent(claims(&[1]).endless(), (0, 1), 5), endless);
    }

    #[test]
    fn responses_are_distinguished() {
        let mut rush = ClaimScript::new(Arc::new(claims(&[1])), 0, 1);
        for (status, body) in [
            (200, r#"{"success":true,"data":1,"dataText":"1"}"#),
            (200, r#"{"success":false,"errorMsg":"库存不足","code":"SOLD_OUT"}"#),
            (200, r#"{"success":false,"errorMsg":"x","code":"ALREADY_BOUGHT","dataText":"1"}"#),
            (200, r#"{"success":false,"errorMsg":"x","code":"NOT_OPEN"}"#),
            (503, r#"{"success":false,"errorMsg":"x","code":"BUSY"}"#),
        ] {
            rush.on_response(0, Answer { status, body: body.as_bytes(), took: std::time::Duration::ZERO });
        }
        rush.lost(0, Fault::Timeout);
        let one_each =
            ClaimOutcomes { accepted: 1, sold_out: 1, already_bought: 1, refused: 1, rejected: 1, lost: 1 };
        assert_eq!(rush.outcomes, one_each);
        let twice =
            ClaimOutcomes { accepted: 2, sold_out: 2, already_bought: 2, refused: 2, rejected: 2, lost: 2 };
        assert_eq!([one_each, one_each].into_iter().sum::<ClaimOutcomes>(), twice);
    }
}
