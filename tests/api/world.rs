//! A fresh mall per case, and a client that sends requests exactly as given.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use mallbox::fixture::{Builder, Data, Mall};
use mallbox_storage::{ShopType, ShopTypeId, Timestamp};
use mallbox_test_patience::{self as patience, Deadline, until_ok};
use mallbox_test_servers::MallLocation;
use serde_json::{Value, json};

/// 20:00 on 2026-11-21 in the mall's time zone, Shanghai.
pub const EVENING: Timestamp = Timestamp::from_millis(1_795_262_400_000);
pub const OPERATOR: &str = "13900000001";
pub const CUSTOMER: &str = "13900000002";
pub const OTHER: &str = "13900000003";
/// Time limit of a request: `mallbox::http`'s deadline.
const REQUEST_TIMEOUT: Duration = Duration::from_millis(1_500);
/// Time limit for claims to become orders.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(20);

pub struct World {
    pub mall: Mall,
    prefix: String,
    pub operator: String,
    pub customer: String,
    pub other: String,
    /// Location of the mall, unless the fixture manages it.
    ground: Option<MallLocation>,
}

/// An HTTP response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: Value,
    pub text: String,
}

/// Returns a mall without limits, with two types, a shop, a voucher and two sales, an operator and two
/// customers.
pub fn world() -> World {
    World::with("/api", |mall| mall)
}

/// Returns such a mall for a test that manipulates the database from outside.
pub fn with_database_access() -> World {
    with_database_access_and(|mall| mall)
}

/// Returns such a mall with a test's own choices.
pub fn with_database_access_and(choose: impl FnOnce(Builder) -> Builder) -> World {
    World::start(Some(MallLocation::of_target(env!("CARGO_CRATE_NAME"))), "/api", choose)
}

impl World {
    /// Starts a mall with the API below `prefix`, and a test's own choices.
    pub fn with(prefix: &str, choose: impl FnOnce(Builder) -> Builder) -> Self {
        let ground = MallLocation::of_target(env!("CARGO_CRATE_NAME"));
        Self::start(ground.database().is_some().then_some(ground), prefix, choose)
    }

    /// Starts a mall with nothing but the three users, for settings that keep the operator from furnishing.
    pub fn unfurnished(prefix: &str, choose: impl FnOnce(Builder) -> Builder) -> Self {
        let ground = MallLocation::of_target(env!("CARGO_CRATE_NAME"));
        Self::open(ground.database().is_some().then_some(ground), prefix, choose)
    }

    fn start(ground: Option<MallLocation>, prefix: &str, choose: impl FnOnce(Builder) -> Builder) -> Self {
        let world = Self::open(ground, prefix, choose);
        world.furnish();
        world
    }

    fn open(ground: Option<MallLocation>, prefix: &str, choose: impl FnOnce(Builder) -> Builder) -> Self {
        let mut mall = Mall::builder()
            .data(Data::Empty)
            .seed(7)
            .zone(TimeZone::get("Asia/Shanghai").unwrap())
            .start_at("2026-11-21T20:00:00")
            .frozen()
            .api_prefix(prefix)
            .workers(2);
        if let Some(ground) = &ground {
            mall = mall.place(ground.place());
        }
        let mall = choose(mall);
        let mall = until_ok(SETTLE_TIMEOUT, || mall.clone().start()).unwrap();
        let log_in = |phone| until_ok(SETTLE_TIMEOUT, || mall.log_in(phone)).unwrap().token;
        let [operator, customer, other] = [OPERATOR, CUSTOMER, OTHER].map(log_in);
        Self { mall, prefix: prefix.to_owned(), operator, customer, other, ground }
    }

    fn furnish(&self) {
        let shops = self.mall.app().unwrap().context.storage.catalogue.shops.clone();
        for (id, name, sort) in [(1, "KTV", 2), (2, "美食", 1)] {
            let icon = format!("/types/{id}.svg");
            let kind = ShopType { id: ShopTypeId::new(id), name: name.to_owned(), icon, sort };
            let add_type = || {
                let (shops, kind) = (shops.clone(), kind.clone());
                self.mall.wait_for(async move { shops.put_type(&kind, EVENING).await }).unwrap()
            };
            until_ok(SETTLE_TIMEOUT, add_type).unwrap();
        }
        self.add("/shop", &shop());
        self.add("/voucher", &voucher());
        self.add("/voucher/seckill", &sale("2026-11-21T19:00:00", "2026-11-21T23:00:00", 2));
        self.add("/voucher/seckill", &sale("2026-11-21T21:00:00", "2026-11-21T22:00:00", -1));
    }

    /// Returns whether the mall is on servers instead of a directory.
    pub fn is_on_servers(&self) -> bool {
        self.ground.as_ref().is_some_and(|ground| ground.database().is_some())
    }

    /// Returns the location of a mall created by [`with_database_access`].
    pub fn ground(&self) -> &MallLocation {
        self.ground.as_ref().expect("a mall within reach")
    }

    /// Sends an operator's request that must return an id.
    pub fn add(&self, path: &str, body: &Value) -> u64 {
        let response = self.call("POST", path, &self.operator, &body.to_string());
        response.body["data"].as_u64().unwrap_or_else(|| panic!("{path}: {response:?}"))
    }

    /// Logs in. Returns the new session's token.
    pub fn log_in(&self, phone: &str) -> String {
        until_ok(SETTLE_TIMEOUT, || self.mall.log_in(phone)).unwrap().token
    }

    /// Sends an API request; without a token if empty.
    pub fn call(&self, method: &str, path: &str, token: &str, body: &str) -> Response {
        self.request(method, &format!("{}{path}", self.prefix), &authorization(token), body.as_bytes())
    }

    /// Sends an API request without a retry, to test refusals.
    pub fn call_once(&self, method: &str, path: &str, token: &str, body: &str) -> Response {
        self.ask_once(method, &format!("{}{path}", self.prefix), &authorization(token), body.as_bytes())
    }

    /// Returns the body of a response that must be a success.
    pub fn ok(&self, method: &str, path: &str, token: &str) -> Value {
        let response = self.call(method, path, token, "");
        let place = format!("{method} {path}: {}", response.text);
        assert_eq!((response.status, &response.body["success"]), (200, &json!(true)), "{place}");
        response.body
    }

    fn address(&self) -> SocketAddr {
        self.mall.address().unwrap()
    }

    /// Opens a connection for a test that reads at its own pace.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(patience::scaled(Duration::from_secs(20)))).unwrap();
        stream
    }

    /// Opens such a connection with a small receive buffer.
    pub fn connect_narrowly(&self) -> TcpStream {
        let address = self.address();
        let connecting = async move {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.set_recv_buffer_size(4096).unwrap();
            socket.connect(address).await.unwrap().into_std().unwrap()
        };
        let stream = self.mall.wait_for(connecting).unwrap();
        stream.set_nonblocking(false).unwrap();
        stream
    }

    /// Sends any request with the given header lines. Repeats after a 503 according to `Retry-After`, as
    /// clients do: on a busy machine servers and password hashes take longer than the mall's time limit.
    pub fn request(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Response {
        let deadline = Deadline::after(SETTLE_TIMEOUT);
        loop {
            let response = self.ask_once(method, path, headers, body);
            match response.retry_after() {
                Some(pause) if response.status == 503 && !deadline.is_over() => std::thread::sleep(pause),
                _ => return response,
            }
        }
    }

    /// Sends a request without a retry, to test refusals.
    pub fn ask_once(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Response {
        let began = Instant::now();
        let mut stream = self.connect();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
        );
        // A server may refuse and close before everything is written.
        let _ = stream.write_all(&[head.as_bytes(), body].concat());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let took = began.elapsed();
        assert!(patience::is_within(took, REQUEST_TIMEOUT * 2), "{method} {path} took {took:?}");
        let answer = String::from_utf8_lossy(&without_chunks(answer)).into_owned();
        let (head, text) =
            answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{method} {path}: no answer"));
        Response {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: serde_json::from_str(text).unwrap_or_default(),
            text: text.to_owned(),
        }
    }

    /// Returns the base URL of the API.
    pub fn url(&self) -> String {
        format!("{}{}", self.mall.url(), self.prefix)
    }

    /// Returns the failures an acknowledged write of the back end survives.
    pub fn durability(&self) -> &'static str {
        let upkeep = self.mall.app().unwrap().context.storage.base.upkeep.clone();
        self.mall.wait_for(async move { upkeep.health().await.durability.name() }).unwrap()
    }

    /// Advances the clock and completes everything due by then.
    pub fn advance(&self, span: Duration) {
        self.mall.advance(span).unwrap();
    }

    /// Waits until every claim is an order or a dead letter.
    pub fn settle_log(&self) {
        self.mall.idle(patience::scaled(SETTLE_TIMEOUT)).unwrap();
    }

    /// Checks that no sold unit is missing or duplicated.
    pub fn assert_balanced(&self) {
        let report = until_ok(SETTLE_TIMEOUT, || self.mall.books()).unwrap();
        assert!(report.balances(), "{report}");
    }
}

/// Joins the chunks of a response that is written while it is sent.
fn without_chunks(answer: Vec<u8>) -> Vec<u8> {
    let line_end = |from: &[u8]| from.windows(2).position(|bytes| bytes == b"\r\n");
    let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").map_or(answer.len(), |end| end + 4);
    if !String::from_utf8_lossy(&answer[..head]).contains("transfer-encoding: chunked") {
        return answer;
    }
    let (mut whole, mut rest) = (answer[..head].to_vec(), &answer[head..]);
    while let Some(end) = line_end(rest) {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        let Some(chunk) = rest.get(end + 2..end + 2 + size) else { break };
        whole.extend_from_slice(chunk);
        rest = rest.get(end + 2 + size + 2..).unwrap_or_default();
    }
    whole
}

fn authorization(token: &str) -> String {
    if token.is_empty() { String::new() } else { format!("authorization: {token}\r\n") }
}

impl Response {
    fn retry_after(&self) -> Option<Duration> {
        let line = self.head.lines().find_map(|line| line.strip_prefix("retry-after: "))?;
        line.trim().parse().ok().map(Duration::from_secs)
    }
}

/// Returns the form of shop 1.
pub fn shop() -> Value {
    json!({
        "name": "103茶餐厅", "typeId": 2, "images": "/imgs/a.jpg,/imgs/b.jpg", "area": "大关",
        "address": "金华路29号", "x": 120.149192, "y": 30.316078, "avgPrice": 80, "sold": 4215,
        "comments": 3035, "score": 37, "openHours": "10:00-22:00",
    })
}

/// Returns the form of voucher 1, an ordinary one.
pub fn voucher() -> Value {
    json!({
        "shopId": 1, "title": "50元代金券", "subTitle": "周末可用", "rules": "全场通用\n无需预约",
        "payValue": 4750, "actualValue": 5000,
    })
}

/// Returns the form of a sale: voucher 2, already open, or voucher 3, unlimited and open in an hour.
pub fn sale(begin: &str, end: &str, stock: i64) -> Value {
    json!({
        "shopId": 1, "title": "100元秒杀券", "subTitle": "", "rules": "", "payValue": 100, "actualValue": 10000,
        "stock": stock, "beginTime": begin, "endTime": end,
    })
}
