//! Whether a running mall tells the same as the ledger, over HTTP.

use anyhow::{Context as _, ensure};
use mallbox::bench::load::{Answer, Fault, Script, get};
use mallbox_storage::{OrderId, OrderStatus};
use serde_json::Value;

use super::books::fits;
use super::ledger::{Ledger, Outcome, Step};
use super::rush::run_to_the_end;
use super::server::Server;

const CONNECTIONS: usize = 16;

/// Asks for every promised order, each by its owner, and for the stock.
pub fn over_http(server: &Server, ledger: &Ledger, left: u64) -> anyhow::Result<()> {
    let mut questions = vec![Question {
        request: get(&format!("/api/sale/{}", ledger.sale), "mall", &[]),
        what: What::Stock(left),
    }];
    for (person, owner) in ledger.people.iter().enumerate() {
        for (order, step) in ledger.orders(person) {
            let path = format!("/api/voucher-order/{order}");
            let request = get(&path, "mall", &[("authorization", owner.token.as_str())]);
            let sale = ledger.sale.get();
            questions.push(Question { request, what: What::Order { order, sale, step } });
        }
    }
    let script = Audit { questions, next: 0, asked: vec![0; CONNECTIONS], faults: Vec::new() };
    let faults = run_to_the_end(server.address, CONNECTIONS, script)?.faults;
    ensure!(faults.is_empty(), "{} answers are not what was promised:\n{}", faults.len(), first(&faults));
    Ok(())
}

/// The first few of many lines.
pub fn first(lines: &[String]) -> String {
    lines.iter().take(10).map(String::as_str).collect::<Vec<_>>().join("\n")
}

struct Question {
    request: Vec<u8>,
    what: What,
}

enum What {
    Stock(u64),
    Order { order: OrderId, sale: u64, step: Option<(Step, Outcome)> },
}

struct Audit {
    questions: Vec<Question>,
    next: usize,
    /// What each connection asked last.
    asked: Vec<usize>,
    faults: Vec<String>,
}

impl Script for Audit {
    fn request(&mut self, connection: usize, buffer: &mut Vec<u8>) -> bool {
        let Some(question) = self.questions.get(self.next) else { return false };
        buffer.extend_from_slice(&question.request);
        self.asked[connection] = self.next;
        self.next += 1;
        true
    }

    fn answer(&mut self, connection: usize, answer: Answer<'_>) {
        let question = &self.questions[self.asked[connection]];
        if let Err(fault) = check(&question.what, answer) {
            let body = String::from_utf8_lossy(answer.body);
            self.faults.push(format!("{fault:#}: {} {body}", answer.status));
        }
    }

    fn lost(&mut self, connection: usize, fault: Fault) {
        self.faults.push(format!("question {} was lost: {fault}", self.asked[connection]));
    }
}

fn check(what: &What, answer: Answer<'_>) -> anyhow::Result<()> {
    ensure!(answer.status == 200, "not answered");
    let json: Value = serde_json::from_slice(answer.body)?;
    let data = &json["data"];
    match what {
        What::Stock(left) => ensure!(data["stock"].as_u64() == Some(*left), "the stock should be {left}"),
        What::Order { order, sale, step } => {
            ensure!(data["id"].as_str() == Some(&order.to_string()), "order {order} is gone");
            ensure!(data["voucherId"].as_u64() == Some(*sale), "order {order} is of another sale");
            let status = data["status"].as_u64().and_then(status).context("an order without a status")?;
            ensure!(fits(*step, status), "order {order} should be as {step:?} left it");
        }
    }
    Ok(())
}

fn status(number: u64) -> Option<OrderStatus> {
    use OrderStatus::{Cancelled, Paid, Pending, Refunded, Refunding, Unpaid, Used};
    [Pending, Unpaid, Paid, Used, Cancelled, Refunding, Refunded].into_iter().find(|s| *s as u64 == number)
}
