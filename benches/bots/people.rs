//! Honest people beside the bots, each at the pace that the limits allow to a person at one address.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::Value;

use crate::attack::ADDRESS_OF_BOTS;
use crate::client::{Client, NO_RESPONSE};
use crate::codes::Codes;
use crate::felt::{Act, Felt, Who};
use crate::shop::{
    Goods, Mall, OPERATOR, accepted, log_in_by_code, log_in_by_password, open_shop, set_password,
};

/// Where everybody requests the first code, so that other addresses begin with all of theirs.
const DESK: [u8; 4] = [127, 0, 0, 10];
/// Addresses from which the operator logged in before. With the new ones below and the desk a phone knows
/// eight addresses at most, so that none is forgotten but the desk.
const KNOWN_OF_OPERATOR: u8 = 6;
const NEW_OF_OPERATOR: [[u8; 4]; 2] = [[127, 0, 1, 1], [127, 0, 1, 2]];
/// Customers behind the address of the bots who logged in there before.
const NEIGHBOURS: usize = 3;
/// Shortest interval of codes for a phone and address, above the gap of 55 s.
const CODE_INTERVAL_MIN: Duration = Duration::from_secs(63);
/// Codes for a phone and address in a day.
const CODES_PER_DAY: u32 = 10;
/// Interval of passwords for a phone and address, above the two minutes of the limit.
const PASSWORD_INTERVAL: Duration = Duration::from_secs(126);
const CONSOLE_INTERVAL: Duration = Duration::from_secs(2);
/// A new customer without a code tries again after this time.
const IMPATIENCE: Duration = Duration::from_secs(10);
/// Tries after a passing failure, such as 503, before an act is given up.
const TRIES: usize = 4;
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// A customer with an account.
struct Customer {
    who: Who,
    phone: String,
    client: Client,
}

/// Everybody, logged in once.
pub struct People {
    pub goods: Goods,
    /// Phones of the customers.
    pub phones: Vec<String>,
    operator: Vec<Client>,
    /// The operator's token.
    token: Arc<Mutex<String>>,
    customers: Vec<Customer>,
}

/// The time of the attack.
#[derive(Clone)]
pub struct Span {
    pub began: Instant,
    pub length: Duration,
}

#[derive(Clone)]
struct Day {
    codes: Codes,
    felt: Felt,
    span: Span,
}

/// Appoints the operator, opens the shop, and logs everybody in from the own address.
pub fn settle(mall: &Mall, customers: usize) -> anyhow::Result<People> {
    let desk = mall.client(DESK);
    mall.appoint(OPERATOR)?;
    let token = enrol(mall, OPERATOR)?;
    let goods = open_shop(desk, &token, 100_000)?;
    let operator: Vec<_> = (2..2 + KNOWN_OF_OPERATOR).map(|last| mall.client([127, 0, 0, last])).collect();
    for client in &operator {
        accepted("operator", log_in_by_password(*client, OPERATOR))?;
    }
    let kinds = [Who::Customer].repeat(customers).into_iter().chain([Who::Neighbour; NEIGHBOURS]);
    let mut all = Vec::new();
    for (number, who) in (1_u8..).zip(kinds) {
        let from = if who == Who::Customer { [127, 0, 2, number] } else { ADDRESS_OF_BOTS };
        let customer = Customer { who, phone: format!("138000000{number:02}"), client: mall.client(from) };
        enrol(mall, &customer.phone)?;
        accepted("customer", log_in_by_password(customer.client, &customer.phone))?;
        all.push(customer);
    }
    let phones = all.iter().map(|customer| customer.phone.clone());
    let phones = phones.take(customers).collect();
    Ok(People { goods, phones, operator, token: Arc::new(Mutex::new(token)), customers: all })
}

/// Logs a new user in at the desk, and sets the password. Returns the token.
fn enrol(mall: &Mall, phone: &str) -> anyhow::Result<String> {
    let token = accepted(phone, log_in_by_code(mall.client(DESK), &mall.codes, phone, true))?;
    accepted("password", set_password(mall.client(DESK), &token))?;
    Ok(token)
}

/// Begins the day of everybody. The threads end with the span, after the act in hand.
pub fn begin(people: People, mall: &Mall, span: &Span, felt: &Felt) -> Vec<JoinHandle<()>> {
    let day = Day { codes: mall.codes.clone(), felt: felt.clone(), span: span.clone() };
    let to_new = NEW_OF_OPERATOR.map(|from| mall.client(from));
    let at_work = people.operator[0];
    let newcomer = mall.client(ADDRESS_OF_BOTS);
    let [by_code, by_password] = [people.operator.clone(), people.operator];
    let (fresh, shown, goods) = (Arc::clone(&people.token), people.token, people.goods);
    let mut threads = Vec::new();
    let mut spawn = |work: Box<dyn FnOnce(Day) + Send>| {
        let day = day.clone();
        threads.push(std::thread::spawn(move || work(day)));
    };
    spawn(Box::new(move |day: Day| day.operator_by_code(&by_code, &fresh)));
    spawn(Box::new(move |day: Day| day.operator_by_password(&by_password)));
    spawn(Box::new(move |day: Day| day.console(at_work, &shown)));
    spawn(Box::new(move |day: Day| day.operator_elsewhere(to_new)));
    spawn(Box::new(move |day: Day| day.newcomer(newcomer)));
    let count = people.customers.len().max(1);
    for (number, customer) in people.customers.into_iter().enumerate() {
        spawn(Box::new(move |day: Day| day.customer(&customer, (number, count), goods)));
    }
    threads
}

impl Day {
    fn operator_by_code(&self, clients: &[Client], token: &Mutex<String>) {
        let every = self.code_interval() / u32::from(KNOWN_OF_OPERATOR);
        let mut due = self.span.began;
        for client in clients.iter().cycle() {
            if !self.sleeps_until(due) {
                return;
            }
            due = due.max(Instant::now()) + every;
            let log_in = || log_in_by_code(*client, &self.codes, OPERATOR, true);
            if let Some(new) = self.attempt((Who::Operator, Act::ByCode), log_in) {
                *token.lock() = new;
            }
        }
    }

    fn operator_by_password(&self, clients: &[Client]) {
        let every = PASSWORD_INTERVAL / u32::from(KNOWN_OF_OPERATOR);
        let mut due = self.span.began + every / 2;
        for client in clients.iter().cycle() {
            if !self.sleeps_until(due) {
                return;
            }
            due = due.max(Instant::now()) + every;
            self.attempt((Who::Operator, Act::ByPassword), || log_in_by_password(*client, OPERATOR));
        }
    }

    fn console(&self, client: Client, token: &Mutex<String>) {
        let mut due = self.span.began;
        while self.sleeps_until(due) {
            due = due.max(Instant::now()) + CONSOLE_INTERVAL;
            self.attempt((Who::Operator, Act::Console), || {
                let token = token.lock().clone();
                client.data("GET", "/api/ops/overview", &token, &Value::Null)
            });
        }
    }

    /// Logs in from two addresses that the operator's phone does not know: one by password, one by code.
    fn operator_elsewhere(&self, [first, second]: [Client; 2]) {
        let Span { began, length } = self.span;
        if self.sleeps_until(began + length / 4) {
            let person = (Who::OperatorElsewhere, Act::ByPassword);
            self.attempt(person, || log_in_by_password(first, OPERATOR));
        }
        if self.sleeps_until(began + length / 2) {
            let person = (Who::OperatorElsewhere, Act::ByCode);
            self.attempt(person, || log_in_by_code(second, &self.codes, OPERATOR, true));
        }
    }

    /// Logs in, buys, cancels the order and logs out. Customers begin one after another.
    fn customer(&self, customer: &Customer, (number, count): (usize, usize), goods: Goods) {
        let every = self.code_interval();
        let share = number as f64 / count as f64;
        let mut due = self.span.began + every.mul_f64(share);
        let Customer { who, phone, client } = customer;
        while self.sleeps_until(due) {
            due = due.max(Instant::now()) + every;
            let log_in = || log_in_by_code(*client, &self.codes, phone, true);
            let Some(token) = self.attempt((*who, Act::ByCode), log_in) else { continue };
            let post = |path: &str| client.data("POST", path, &token, &Value::Null);
            let buy = || post(&format!("/api/voucher-order/{}", goods.voucher));
            if let Some(order) = self.attempt((*who, Act::Purchase), buy) {
                // Frees the place among the unpaid orders; neither result is measured.
                let _ = post(&format!("/api/voucher-order/{order}/cancel"));
            }
            let _ = post("/api/user/logout");
        }
    }

    /// Tries again and again to log in with a number that the mall does not know, and with another number
    /// after a success.
    fn newcomer(&self, client: Client) {
        let mut due = self.span.began;
        let mut number = 0;
        while self.sleeps_until(due) {
            due = due.max(Instant::now()) + IMPATIENCE;
            let phone = phone_of_newcomer(number);
            let log_in = || log_in_by_code(client, &self.codes, &phone, true);
            number += usize::from(self.attempt((Who::NewNeighbour, Act::ByCode), log_in).is_some());
        }
    }

    /// Tries an act until it succeeds, or until it is refused for a reason that does not pass by itself.
    fn attempt<T>(&self, person: (Who, Act), act: impl Fn() -> Result<T, String>) -> Option<T> {
        for _ in 0..TRIES {
            let began = Instant::now();
            let outcome = act();
            let refusal = outcome.as_ref().err().map(String::as_str);
            self.felt.record(person, began.elapsed(), refusal);
            match outcome {
                Ok(value) => return Some(value),
                Err(code) if ["BUSY", "UNAVAILABLE", NO_RESPONSE].contains(&code.as_str()) => {
                    std::thread::sleep(RETRY_AFTER);
                }
                Err(_) => break,
            }
        }
        self.felt.give_up(person);
        None
    }

    /// Sleeps until `due` and returns true, or returns false if the span ends before.
    fn sleeps_until(&self, due: Instant) -> bool {
        let end = self.span.began + self.span.length;
        std::thread::sleep(due.min(end).saturating_duration_since(Instant::now()));
        due < end
    }

    /// Returns an interval in which neither the gap nor the day of a phone and address refuses a code.
    fn code_interval(&self) -> Duration {
        CODE_INTERVAL_MIN.max(self.span.length / CODES_PER_DAY + Duration::from_secs(1))
    }
}

/// Returns a number that the mall does not know yet.
pub fn phone_of_newcomer(number: usize) -> String {
    format!("177{number:08}")
}
