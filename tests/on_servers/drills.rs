//! Servers refusing, silent, slow, or intermittent: the response to each call meanwhile, the time budget, and
//! the absence of requests behind an open circuit breaker.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mallbox_storage::CircuitState;
use mallbox_test_checker::{Client, History, Request, Response};
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::{Behaviour, MariaDb, Proxy, Redis};
use parking_lot::Mutex;
use tempfile::TempDir;

use super::common::http::{self, Reply};
use super::common::inspection;
use super::common::server::{self, Server};
use super::{DUMP, OPERATOR, RECOVERY_TIMEOUT, REQUEST_TIMEOUT, log_in, output_of, readyz};

const UNITS: u64 = 100;
/// Time after which no cached session is used without Redis. Nothing shows the moment from outside.
const SESSION_COPIES_EXPIRE: Duration = Duration::from_secs(1);
/// Index of the customer among the clients; the buyers follow.
const CUSTOMER: usize = 0;
/// Endings of the buyers' phone numbers.
const BUYERS: [u64; 6] = [10, 11, 12, 13, 14, 15];

/// Expected response to a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    /// The requested data.
    All,
    /// The requested data from a cache entry with a TTL of seconds, or a temporary refusal.
    Either,
    /// A refusal with this code.
    Code(&'static str),
}

use Expected::{All, Code, Either};

/// Caller of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Caller {
    Nobody,
    Customer,
    Operator,
}

use Caller::{Customer, Nobody, Operator};

/// A refusal without an effect.
const AWAY: Expected = Code("UNAVAILABLE");
/// `S` is the sale, `O` the customer's order in it. The last two columns: response without MySQL, and without
/// Redis.
const CALLS: &[(Caller, &str, &str, &str, Expected, Expected)] = &[
    (Customer, "POST", "/voucher-order/seckill/S", "", Code("ALREADY_BOUGHT"), AWAY),
    (Nobody, "GET", "/sale/S", "", All, AWAY),
    (Nobody, "GET", "/sale/S/page", "", All, All),
    (Nobody, "GET", "/sale/on?current=1", "", All, AWAY),
    (Nobody, "GET", "/shop/1", "", All, All),
    (Nobody, "GET", "/shop-type/list", "", All, All),
    (Nobody, "GET", "/shop/areas", "", All, All),
    (Nobody, "GET", "/voucher/list/1", "", Either, AWAY),
    (Nobody, "GET", "/shop/of/type?typeId=1&current=1", "", AWAY, All),
    (Nobody, "GET", "/shop/of/type?typeId=1&current=1&x=120.15&y=30.25", "", All, AWAY),
    (Nobody, "GET", "/shop/near?x=120.15&y=30.25&radius=5000", "", All, AWAY),
    (Nobody, "GET", "/shop/of/name?name=a", "", AWAY, All),
    (Nobody, "GET", "/blog/hot?current=1", "", Either, All),
    (Customer, "GET", "/user/me", "", Either, AWAY),
    (Customer, "GET", "/voucher-order/of/me", "", AWAY, AWAY),
    (Customer, "POST", "/voucher-order/O/pay", "{}", AWAY, AWAY),
    (Customer, "POST", "/voucher-order/O/cancel", "{}", AWAY, AWAY),
    (Customer, "GET", "/blog/of/follow?lastId=9999999999999", "", AWAY, AWAY),
    (Customer, "POST", "/user/sign", "", AWAY, AWAY),
    (Customer, "GET", "/user/sign/count", "", AWAY, AWAY),
    (Customer, "PUT", "/follow/1/true", "", AWAY, AWAY),
    (Nobody, "POST", "/user/code?phone=13900000099", "", All, AWAY),
    (Operator, "GET", "/ops/sales", "", AWAY, AWAY),
    (Operator, "POST", "/ops/sales/S/pause", "", AWAY, AWAY),
    (Operator, "GET", "/ops/overview", "", AWAY, AWAY),
];

/// A mall behind proxies, with an open sale and its users.
struct Drill {
    server: Server,
    redis: Proxy,
    mysql: Proxy,
    sale: String,
    customer: String,
    order: String,
    operator: String,
    /// The customer and the buyers without an order, and the responses to all of them.
    history: Mutex<History>,
    servers: (Redis, MariaDb, TempDir),
}

impl Drill {
    fn new() -> Self {
        let (redis, mysql, dir) =
            (Redis::start().unwrap(), MariaDb::start().unwrap(), TempDir::new().unwrap());
        let (import_redis, import_mysql) = (redis.url(), mysql.url("mall"));
        for arguments in [&["import", DUMP, "--payment", "sandbox"][..], &["user", "grant", OPERATOR]] {
            let (code, out, error) = output_of(arguments, &import_redis, &import_mysql);
            assert_eq!(code, 0, "{arguments:?}: {out}{error}");
        }
        let before_redis = Proxy::before(redis.port()).unwrap();
        let before_mysql = Proxy::before(mysql.port()).unwrap();
        let redis_url = format!("redis://127.0.0.1:{}", before_redis.port());
        let mysql_url = format!("mysql://root@127.0.0.1:{}/mall", before_mysql.port());
        let server = Server::start_on(&redis_url, &mysql_url, &dir.path().join("log")).unwrap();
        let operator = log_in(&server, OPERATOR);
        let sale = super::open_sale(&server, &operator, UNITS);
        let customer = log_in(&server, "13900000002");
        let buyers = BUYERS.map(|number| log_in(&server, &format!("139000000{number}")));
        let clients = [customer.clone()].into_iter().chain(buyers);
        let clients = clients.map(|token| Client::of_session(server.address, &token).unwrap());
        let mut history = History::of(clients.collect());
        history.open_sale(sale.parse().unwrap(), Some(UNITS));
        let order = claimed(&server, &sale, &mut history, CUSTOMER).to_string();
        let history = Mutex::new(history);
        let (redis, mysql, servers) = (before_redis, before_mysql, (redis, mysql, dir));
        let drill = Self { server, redis, mysql, sale, customer, order, operator, history, servers };
        readyz(&drill.server, 200, r#""backlog":0"#);
        drill
    }

    fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// Sends a request. Fails if the response exceeds the time budget.
    fn call(&self, caller: Caller, method: &str, path: &str, body: &str) -> Reply {
        let token = match caller {
            Nobody => "",
            Customer => &self.customer,
            Operator => &self.operator,
        };
        let path = format!("/api{}", path.replace("/S", &format!("/{}", self.sale)))
            .replace("/O/", &format!("/{}/", self.order));
        let began = Instant::now();
        let recorded = (caller == Customer).then(|| self.request(method, &path)).flatten();
        let recorded = recorded.map(|request| self.history.lock().invoke(CUSTOMER, request).0);
        let reply = http::send(self.address(), method, &path, token, body).unwrap();
        if let Some(recorded) = recorded {
            self.history.lock().respond(recorded, reply.status, reply.text.as_bytes());
        }
        assert!(
            patience::is_within(began.elapsed(), REQUEST_TIMEOUT),
            "{method} {path} took {:?}",
            began.elapsed()
        );
        reply
    }

    /// Returns a call of the table as a request of the checker.
    fn request(&self, method: &str, path: &str) -> Option<Request> {
        let (sale, order) = (self.sale.parse().ok()?, self.order.parse().ok()?);
        let parts: Vec<&str> = path.split('/').collect();
        Some(match (method, &parts[2..]) {
            ("POST", ["voucher-order", "seckill", _]) => Request::Claim { sale },
            ("POST", ["voucher-order", _, "pay"]) => Request::Pay { order },
            ("POST", ["voucher-order", _, "cancel"]) => Request::Cancel { order },
            ("GET", ["voucher-order", "of", "me"]) => Request::ListOrders,
            ("POST", ["user", "sign"]) => Request::SignIn,
            ("PUT", ["follow", user, "true"]) => Request::Follow { user: user.parse().ok()? },
            _ => return None,
        })
    }

    /// Claims successfully, within the budget.
    fn is_sold_to(&self, buyer: usize, when: &str) {
        let (began, sale) = (Instant::now(), self.sale.parse().unwrap());
        let response = self.history.lock().ask(self.address(), buyer, Request::Claim { sale });
        assert!(
            patience::is_within(began.elapsed(), REQUEST_TIMEOUT),
            "{when}: a claim took {:?}",
            began.elapsed()
        );
        assert!(matches!(response, Response::Accepted(_)), "{when}: {response:?}");
    }

    /// Checks every response, including responses during an outage.
    fn is_consistent(&self) {
        self.is_well();
        let (redis, mysql, _) = &self.servers;
        let verify = server::verify_json_on(&redis.url(), &mysql.url("mall")).unwrap();
        inspection::inspect(&self.server, &self.history.lock(), &self.operator, &verify).unwrap();
    }

    /// Checks the calls of a column against the table, except for calls that change data while the server is
    /// back.
    fn is_as_the_table_says(&self, of: impl Fn(&(Expected, Expected)) -> Expected, when: &str) {
        let wrong: Vec<String> = CALLS
            .iter()
            .filter_map(|(caller, method, path, body, mysql, redis)| {
                let want = of(&(*mysql, *redis));
                let reply = self.call(*caller, method, path, body);
                let is_all = reply.status == 200 && reply.body["success"] == true;
                let is_right = match want {
                    All => is_all,
                    Either => is_all || reply.code() == "UNAVAILABLE",
                    Code(code) => reply.code() == code,
                };
                (!is_right)
                    .then(|| format!("{method} {path}: {want:?}, but {} {:.150}", reply.status, reply.text))
            })
            .collect();
        assert!(wrong.is_empty(), "{when}:\n{}\n{}", wrong.join("\n"), self.server.stderr_tail());
    }

    /// Checks every API call for errors and the time budget.
    fn every_call_ends(&self, when: &str) {
        let document = http::ask(self.address(), "GET", "/api/openapi.json", "").unwrap().body;
        let mut calls = 0;
        for (path, methods) in document["paths"].as_object().unwrap() {
            for method in methods.as_object().unwrap().keys().filter(|name| *name != "parameters") {
                // The first streams without end; the second ends the caller's session.
                if path.ends_with("/ops/live") || path.ends_with("/user/logout") {
                    continue;
                }
                let parts = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
                let path = parts.collect::<Vec<_>>().join("/");
                let path = path.strip_prefix("/api").unwrap_or(&path);
                let reply = self.call(Operator, &method.to_uppercase(), path, "{}");
                assert_ne!(reply.status, 500, "{when}: {method} {path}: {}", reply.text);
                calls += 1;
            }
        }
        assert!(calls > 60, "{calls}");
    }

    /// Waits until the circuit breaker of a server is in a state.
    fn until(&self, server: &str, state: CircuitState) {
        let began = Instant::now();
        loop {
            let reply = http::ask(self.address(), "GET", "/readyz", "").unwrap();
            if reply.body["circuits"][server] == state.name() {
                return;
            }
            assert!(
                patience::is_within(began.elapsed(), RECOVERY_TIMEOUT),
                "{server} never {state:?}: {}",
                reply.text
            );
        }
    }

    fn metric(&self, name: &str, server: &str) -> u64 {
        let text = http::ask(self.address(), "GET", "/metrics", "").unwrap().text;
        let line =
            text.lines().find_map(|line| line.strip_prefix(&format!("{name}{{server=\"{server}\"}} ")));
        line.unwrap_or_else(|| panic!("{name} of {server}:\n{text}")).parse().unwrap()
    }

    fn is_well(&self) {
        for server in ["Redis", "MySQL"] {
            self.until(server, CircuitState::Closed);
        }
        readyz(&self.server, 200, r#""backlog":0"#);
    }
}

/// Claims until accepted. Returns the order.
fn claimed(server: &Server, sale: &str, history: &mut History, client: usize) -> u64 {
    let (until, sale) = (Deadline::after(RECOVERY_TIMEOUT), sale.parse().unwrap());
    loop {
        let response = history.ask(server.address, client, Request::Claim { sale });
        if let Response::Accepted(order) | Response::AlreadyBought(order) = response {
            return order;
        }
        assert!(response == Response::Unknown && !until.is_over(), "{response:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

const LINES: [Behaviour; 3] =
    [Behaviour::Refused, Behaviour::Silent, Behaviour::Slow(Duration::from_millis(900))];

/// Fills the caches while all servers are healthy.
fn warm(drill: &Drill) {
    for (caller, method, path, body, ..) in
        CALLS.iter().filter(|(caller, method, ..)| (*caller, *method) == (Nobody, "GET"))
    {
        drop(drill.call(*caller, method, path, body));
    }
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn without_mysql_the_sale_and_the_copies_go_on_and_no_call_waits_for_it() {
    let drill = Drill::new();
    for (line, buyer) in LINES.into_iter().zip(1..) {
        warm(&drill);
        drill.mysql.set(line);
        // From the first instant, whatever the breaker's state.
        drill.is_sold_to(buyer, &format!("MySQL {line:?}"));
        drill.until("MySQL", CircuitState::Open);
        let asked = drill.mysql.sent();
        drill.is_as_the_table_says(|row| row.0, &format!("MySQL {line:?}"));
        drill.every_call_ends(&format!("MySQL {line:?}"));
        let asked = drill.mysql.sent() - asked;
        assert!(asked < 60, "{line:?}: an open breaker sent {asked} pieces");
        drill.mysql.set(Behaviour::Good);
        drill.is_consistent();
    }
    assert!(drill.metric("mallbox_circuit_opened_total", "MySQL") >= 3);
    assert!(drill.metric("mallbox_circuit_refused_total", "MySQL") > 60);
    assert_eq!(drill.metric("mallbox_circuit_opened_total", "Redis"), 0);
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn without_redis_pages_and_shops_are_shown_and_no_call_waits_for_it() {
    let drill = Drill::new();
    for (line, buyer) in LINES.into_iter().zip(1..) {
        warm(&drill);
        drill.redis.set(line);
        drill.until("Redis", CircuitState::Open);
        std::thread::sleep(SESSION_COPIES_EXPIRE);
        let asked = drill.redis.sent();
        drill.is_as_the_table_says(|row| row.1, &format!("Redis {line:?}"));
        drill.every_call_ends(&format!("Redis {line:?}"));
        let asked = drill.redis.sent() - asked;
        assert!(asked < 60, "{line:?}: an open breaker sent {asked} pieces");
        drill.redis.set(Behaviour::Good);
        drill.is_well();
        claimed(&drill.server, &drill.sale, &mut drill.history.lock(), buyer);
        drill.is_consistent();
    }
    assert_eq!(drill.metric("mallbox_circuit_opened_total", "MySQL"), 0);
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn servers_that_stand_still_come_back_and_go_again_are_used_whenever_they_answer() {
    let drill = Drill::new();
    let (redis, mysql, _) = &drill.servers;
    let mut buyers = 1..;
    for _ in 0..2 {
        mysql.pause().unwrap();
        drill.is_sold_to(buyers.next().unwrap(), "MySQL stands still");
        drill.until("MySQL", CircuitState::Open);
        mysql.resume().unwrap();
        drill.until("MySQL", CircuitState::Closed);
    }
    for _ in 0..2 {
        redis.pause().unwrap();
        drill.until("Redis", CircuitState::Open);
        assert_eq!(drill.call(Nobody, "GET", "/shop/1", "").status, 200);
        redis.resume().unwrap();
        drill.until("Redis", CircuitState::Closed);
    }
    drill.is_well();
    claimed(&drill.server, &drill.sale, &mut drill.history.lock(), buyers.next().unwrap());
    drill.is_consistent();
}
