//! The bots: six tricks, each on a share of the connections, as fast as the mall responds.

use std::collections::{BTreeMap, VecDeque};

use mallbox::bench::load::{Answer, Fault, Script};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::client::{NO_RESPONSE, request};
use crate::codes::Codes;
use crate::shop::{Goods, Mall, accepted, log_in_by_code, set_password};

pub const ADDRESS_OF_BOTS: [u8; 4] = [127, 0, 0, 1];
/// Accounts of the bots: phones whose messages they can read.
pub const OWN_ACCOUNTS: usize = 5;
/// Phones with a recent code, the best to guess codes for.
const FRESH_MAX: usize = 64;
/// Share of requests for the bots' own phones, in percent.
const OWN_PERCENT: u32 = 2;
/// The operator is the best account to take over.
const OPERATOR_PERCENT: u32 = 50;
const SEED: u64 = 40;
const GUESSES: [&str; 6] =
    ["correct horse", "woaini1314", "mallbox2026", "operator1", "Passw0rd2026", "qwerty123456"];

/// A trick of the bots.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Trick {
    AskForCode,
    GuessCode,
    GuessPassword,
    /// Wrong passwords of the bots' own accounts, whose address the mall knows: they take slots for hashes.
    WrongPassword,
    StolenToken,
    Write,
}

impl Trick {
    pub const ALL: [Self; 6] = [
        Self::AskForCode,
        Self::GuessCode,
        Self::GuessPassword,
        Self::WrongPassword,
        Self::StolenToken,
        Self::Write,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::AskForCode => "ask for a code",
            Self::GuessCode => "guess a code",
            Self::GuessPassword => "guess a password",
            Self::WrongPassword => "wrong password, own account",
            Self::StolenToken => "random or weak token",
            Self::Write => "write with own account",
        }
    }
}

/// What the bots achieved.
#[derive(Default)]
pub struct Spoils {
    /// Responses by trick, status, and code of the refusal; `ok` for a success.
    pub answers: BTreeMap<(Trick, u16), BTreeMap<String, u64>>,
    /// Codes by phone. A request without a response counts, since the code may have been sent.
    pub codes: BTreeMap<usize, u64>,
    /// Log-ins to own accounts, by their codes.
    pub own_log_ins: u64,
    /// Log-ins to accounts of others.
    pub taken_over: u64,
}

impl Spoils {
    /// Returns the number of responses to some tricks with this code.
    pub fn count(&self, tricks: &[Trick], code: &str) -> u64 {
        let of_tricks = self.answers.iter().filter(|((trick, _), _)| tricks.contains(trick));
        of_tricks.filter_map(|(_, codes)| codes.get(code)).sum()
    }

    fn add(&mut self, trick: Trick, status: u16, code: &str) {
        let codes = self.answers.entry((trick, status)).or_default();
        match codes.get_mut(code) {
            Some(count) => *count += 1,
            None => {
                codes.insert(code.to_owned(), 1);
            }
        }
    }
}

/// Source of the bots' requests.
pub struct Bots {
    /// Phones of others, the operator's first, then the bots' own.
    phones: Vec<String>,
    others: usize,
    /// Tokens of the own accounts.
    tokens: Vec<String>,
    goods: Goods,
    codes: Codes,
    random: StdRng,
    /// Trick and phone of each connection's request.
    in_flight: Vec<(Trick, usize)>,
    asked: usize,
    fresh: VecDeque<usize>,
    pub spoils: Spoils,
}

impl Bots {
    /// Registers the own accounts, and aims at the phones of `others`, the operator's first.
    pub fn gather(
        mall: &Mall,
        others: Vec<String>,
        goods: Goods,
        connections: usize,
    ) -> anyhow::Result<Self> {
        let client = mall.client(ADDRESS_OF_BOTS);
        let (mut phones, mut tokens, mut spoils) = (others, Vec::new(), Spoils::default());
        let count = phones.len();
        for number in 0..OWN_ACCOUNTS {
            let phone = format!("176{number:08}");
            let token = accepted("account of a bot", log_in_by_code(client, &mall.codes, &phone, false))?;
            accepted("password of a bot", set_password(client, &token))?;
            spoils.codes.insert(phones.len(), 1);
            phones.push(phone);
            tokens.push(token);
        }
        Ok(Self {
            phones,
            others: count,
            tokens,
            goods,
            codes: mall.codes.clone(),
            random: StdRng::seed_from_u64(SEED),
            in_flight: vec![(Trick::Write, 0); connections],
            asked: 0,
            fresh: VecDeque::new(),
            spoils,
        })
    }

    /// Returns codes sent to the own accounts, codes sent to phones of others, and the most of one phone.
    pub fn codes(&self) -> [u64; 3] {
        let (mut own, mut others, mut most) = (0, 0, 0);
        for (phone, count) in &self.spoils.codes {
            *(if *phone < self.others { &mut others } else { &mut own }) += count;
            most = most.max(*count);
        }
        [own, others, most]
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.random_range(0..100) < percent
    }

    fn own(&mut self) -> usize {
        self.others + self.random.random_range(0..OWN_ACCOUNTS)
    }

    fn victim(&mut self) -> usize {
        if self.chance(OPERATOR_PERCENT) { 0 } else { self.random.random_range(0..self.others) }
    }

    fn next_to_ask(&mut self) -> usize {
        if self.chance(OWN_PERCENT) {
            return self.own();
        }
        self.asked += 1;
        self.asked % self.others
    }

    /// Returns a phone and a code: mostly a guess, sometimes the real code of an own phone.
    fn guess(&mut self) -> (usize, String) {
        if self.chance(OWN_PERCENT) {
            let phone = self.own();
            return (phone, self.codes.last(&self.phones[phone]).unwrap_or_default());
        }
        let recent = self.random.random_range(0..FRESH_MAX);
        let phone = match self.fresh.get(recent) {
            Some(phone) => *phone,
            None => self.victim(),
        };
        (phone, format!("{:06}", self.random.random_range(0..1_000_000)))
    }

    fn written(&mut self, trick: Trick) -> (usize, Vec<u8>) {
        match trick {
            Trick::AskForCode => {
                let phone = self.next_to_ask();
                // Without a ticket every connection of the address may try the code.
                let path = format!("/api/user/code?phone={}", self.phones[phone]);
                (phone, request("POST", &path, "", ""))
            }
            Trick::GuessCode => {
                let (phone, code) = self.guess();
                (phone, self.log_in(phone, "code", &code))
            }
            Trick::GuessPassword => {
                let (phone, guess) = (self.victim(), self.random.random_range(0..GUESSES.len()));
                (phone, self.log_in(phone, "password", GUESSES[guess]))
            }
            Trick::WrongPassword => {
                let phone = self.own();
                (phone, self.log_in(phone, "password", "not the right one"))
            }
            Trick::StolenToken => (0, self.with_token()),
            Trick::Write => (0, self.write()),
        }
    }

    fn log_in(&self, phone: usize, kind: &str, secret: &str) -> Vec<u8> {
        let body = format!(r#"{{"phone":"{}","{kind}":"{secret}"}}"#, self.phones[phone]);
        request("POST", "/api/user/login", "", &body)
    }

    /// Returns a call with a token that looks real, or a call of operators with a customer's token.
    fn with_token(&mut self) -> Vec<u8> {
        let bytes: [u8; 24] = self.random.random();
        match self.random.random_range(0..3) {
            0 => request("GET", "/api/user/me", &mallbox_storage::hex(&bytes), ""),
            1 => request("GET", "/api/ops/overview", &mallbox_storage::hex(&bytes), ""),
            _ => request("GET", "/api/ops/users", &self.tokens[usize::from(bytes[0]) % OWN_ACCOUNTS], ""),
        }
    }

    fn write(&mut self) -> Vec<u8> {
        let token = self.random.random_range(0..OWN_ACCOUNTS);
        let token = self.tokens[token].clone();
        let Goods { voucher, sale } = self.goods;
        let (method, path, body) = match self.random.random_range(0..6) {
            0 => ("POST", "/api/blog".to_owned(), r#"{"title":"buy now","content":"cheap"}"#),
            1 => ("POST", "/api/blog-comments".to_owned(), r#"{"blogId":1,"content":"cheap"}"#),
            2 => ("PUT", "/api/blog/like/1".to_owned(), ""),
            3 => ("PUT", "/api/user/info".to_owned(), r#"{"introduce":"cheap"}"#),
            4 => ("POST", format!("/api/voucher-order/{voucher}"), ""),
            _ => ("POST", format!("/api/voucher-order/seckill/{sale}"), ""),
        };
        request(method, &path, &token, body)
    }
}

impl Script for Bots {
    fn request(&mut self, connection: usize, buffer: &mut Vec<u8>) -> bool {
        let trick = Trick::ALL[connection % Trick::ALL.len()];
        let (phone, request) = self.written(trick);
        buffer.extend_from_slice(&request);
        self.in_flight[connection] = (trick, phone);
        true
    }

    fn on_response(&mut self, connection: usize, answer: Answer<'_>) {
        let (trick, phone) = self.in_flight[connection];
        let code = code_of(answer.body);
        self.spoils.add(trick, answer.status, code);
        if code != SUCCESS {
            return;
        }
        match trick {
            Trick::AskForCode => {
                *self.spoils.codes.entry(phone).or_default() += 1;
                if phone < self.others {
                    self.fresh.push_front(phone);
                    self.fresh.truncate(FRESH_MAX);
                }
            }
            Trick::GuessCode | Trick::GuessPassword | Trick::WrongPassword if phone < self.others => {
                self.spoils.taken_over += 1;
            }
            Trick::GuessCode => self.spoils.own_log_ins += 1,
            Trick::GuessPassword | Trick::WrongPassword | Trick::StolenToken | Trick::Write => {}
        }
    }

    fn lost(&mut self, connection: usize, _fault: Fault) {
        let (trick, phone) = self.in_flight[connection];
        self.spoils.add(trick, 0, NO_RESPONSE);
        if trick == Trick::AskForCode {
            *self.spoils.codes.entry(phone).or_default() += 1;
        }
    }
}

/// Stands for the code of a success.
pub const SUCCESS: &str = "ok";

/// Returns the code of a refusal, which stands near the end of the body.
fn code_of(body: &[u8]) -> &str {
    const FIELD: &[u8] = br#""code":""#;
    if body.starts_with(br#"{"success":true"#) {
        return SUCCESS;
    }
    let start = body.windows(FIELD.len()).rposition(|window| window == FIELD).map(|at| at + FIELD.len());
    let code = start.and_then(|start| body[start..].split(|byte| *byte == b'"').next());
    code.and_then(|code| std::str::from_utf8(code).ok()).unwrap_or("no code")
}
