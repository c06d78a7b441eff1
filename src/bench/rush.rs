//! The rush of claims: requests sent and responses counted.

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

/// Sends one claim per user in one sale after another; with `for_ever`, continues with the last sale without
/// end.
pub(super) struct ClaimScript {
    tokens: Arc<Vec<String>>,
    heads: Vec<String>,
    next: usize,
    for_ever: bool,
    pub(super) tally: ClaimOutcomes,
}

impl ClaimScript {
    pub(super) fn new(tokens: Arc<Vec<String>>, sales: &[VoucherId], for_ever: bool) -> Self {
        let head = |sale: &VoucherId| {
            format!(
                "POST /api/voucher-order/seckill/{sale} HTTP/1.1\r\nhost: mall\r\ncontent-length: 0\r\nauthorization: "
            )
        };
        Self {
            tokens,
            heads: sales.iter().map(head).collect(),
            next: 0,
            for_ever,
            tally: ClaimOutcomes::default(),
        }
    }
}

impl Script for ClaimScript {
    fn request(&mut self, _connection: usize, buffer: &mut Vec<u8>) -> bool {
        let (sale, user) = (self.next / self.tokens.len(), self.next % self.tokens.len());
        let head = match self.heads.get(sale) {
            Some(head) => head,
            None if self.for_ever => &self.heads[self.heads.len() - 1],
            None => return false,
        };
        self.next += 1;
        for piece in [head, &self.tokens[user], "\r\n\r\n"] {
            buffer.extend_from_slice(piece.as_bytes());
        }
        true
    }

    fn on_response(&mut self, _connection: usize, answer: Answer<'_>) {
        let tally = &mut self.tally;
        let count = match answer.status {
            200 if answer.body.starts_with(br#"{"success":true"#) => &mut tally.accepted,
            200 if contains(answer.body, b"SOLD_OUT") => &mut tally.sold_out,
            200 if contains(answer.body, b"ALREADY_BOUGHT") => &mut tally.already_bought,
            200 => &mut tally.refused,
            _ => &mut tally.rejected,
        };
        *count += 1;
    }

    fn lost(&mut self, _connection: usize, _fault: Fault) {
        self.tally.lost += 1;
    }
}

/// Searches from the end: the code stands at the end of a response.
fn contains(body: &[u8], word: &[u8]) -> bool {
    body.windows(word.len()).rev().any(|window| window == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_user_presses_once_in_every_sale() {
        let tokens = Arc::new(vec!["a".to_owned(), "b".to_owned()]);
        let mut rush = ClaimScript::new(tokens, &[VoucherId::new(1), VoucherId::new(2)], false);
        let mut sent = Vec::new();
        loop {
            let mut buffer = Vec::new();
            if !rush.request(0, &mut buffer) {
                break;
            }
            sent.push(String::from_utf8(buffer).unwrap());
        }
        assert_eq!(sent.len(), 4);
        assert!(
            sent[0].starts_with("POST /api/voucher-order/seckill/1 ")
                && sent[0].ends_with("authorization: a\r\n\r\n")
        );
        assert!(
            sent[3].starts_with("POST /api/voucher-order/seckill/2 ")
                && sent[3].ends_with("authorization: b\r\n\r\n")
        );
    }

    #[test]
    fn responses_are_distinguished() {
        let mut rush = ClaimScript::new(Arc::default(), &[VoucherId::new(1)], false);
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
        assert_eq!(rush.tally, one_each);
    }
}
