//! A fresh mall behind a real server per case, and a client that sends exactly what it is told.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use mallbox::http::{App, Bound, Server, ServerOptions, SiteOptions, site};
use mallbox::mall::operator::By;
use mallbox::mall::order_workers::drained;
use mallbox::mall::payments::Sandbox;
use mallbox::mall::sms::Inbox;
use mallbox::mall::{Mall, ManualClock, Means, Random, Settings};
use mallbox_storage::{Actor, ShopType, ShopTypeId, Storage, Timestamp};
use mallbox_test_servers::Ground;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// 20:00 of 2026-11-21 on the mall's wall, which is Shanghai's.
pub const EVENING: Timestamp = Timestamp::from_millis(1_795_262_400_000);
pub const OPERATOR: &str = "13900000001";
pub const CUSTOMER: &str = "13900000002";
pub const OTHER: &str = "13900000003";
/// No call takes longer (DESIGN.md, section 8).
const LONGEST: Duration = Duration::from_millis(1_500);

pub struct World {
    pub app: App,
    pub clock: Arc<ManualClock>,
    runtime: Runtime,
    server: Server,
    prefix: String,
    pub operator: String,
    pub customer: String,
    pub other: String,
    /// Where its mall is.
    pub ground: Ground,
    _dir: TempDir,
}

/// What came back.
#[derive(Debug)]
pub struct Said {
    pub status: u16,
    pub head: String,
    pub body: Value,
    pub text: String,
}

/// A mall without limits, with two types, a shop, a voucher and two sales, an operator and two customers.
pub fn world() -> World {
    let settings = Settings { inbox: true, ..Settings::default().without_limits() };
    World::with(settings, |_| {}, "/api", false)
}

impl World {
    pub fn with(settings: Settings, furnish: impl FnOnce(&Path), prefix: &str, web: bool) -> Self {
        let ground = Ground::of_target(env!("CARGO_CRATE_NAME"));
        let dir = TempDir::new().unwrap();
        furnish(dir.path());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let clock = Arc::new(ManualClock::new(EVENING));
        let app = runtime.block_on(open(&ground, settings, &clock));
        let site_options = SiteOptions {
            prefix: prefix.to_owned(),
            uploads: Some(dir.path().join("uploads")),
            web: web.then(|| dir.path().join("web")),
        };
        let bound = Bound::to(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let options = ServerOptions { workers: 2, ..ServerOptions::default() };
        let server = bound.serve(&site(&app, &site_options), options).unwrap();
        // Lives as long as the runtime does.
        let _background = {
            let _in_runtime = runtime.enter();
            app.start()
        };
        let by = By { actor: Actor::CommandLine, at: EVENING };
        runtime.block_on(app.people.grant(OPERATOR, by)).unwrap();
        let none = String::new;
        let prefix = prefix.to_owned();
        let (operator, customer, other) = (none(), none(), none());
        let mut world =
            Self { app, clock, runtime, server, prefix, operator, customer, other, ground, _dir: dir };
        world.operator = world.log_in(OPERATOR);
        world.customer = world.log_in(CUSTOMER);
        world.other = world.log_in(OTHER);
        world.add("/shop", &shop());
        world.add("/voucher", &voucher());
        world.add("/voucher/seckill", &sale("2026-11-21T19:00:00", "2026-11-21T23:00:00", 2));
        world.add("/voucher/seckill", &sale("2026-11-21T21:00:00", "2026-11-21T22:00:00", -1));
        world
    }

    /// An operator's call that must answer an id.
    pub fn add(&self, path: &str, body: &Value) -> u64 {
        let said = self.call("POST", path, &self.operator, &body.to_string());
        said.body["data"].as_u64().unwrap_or_else(|| panic!("{path}: {said:?}"))
    }

    pub fn log_in(&self, phone: &str) -> String {
        assert_eq!(self.call("POST", &format!("/user/code?phone={phone}"), "", "").status, 200);
        let code = self.call("GET", &format!("/demo/inbox?phone={phone}"), "", "");
        let form = json!({"phone": phone, "code": code.body["data"]["code"]});
        self.call("POST", "/user/login", "", &form.to_string()).body["data"].as_str().unwrap().to_owned()
    }

    /// A call of the API; without a token if it is empty.
    pub fn call(&self, method: &str, path: &str, token: &str, body: &str) -> Said {
        let token = if token.is_empty() { String::new() } else { format!("authorization: {token}\r\n") };
        self.ask(method, &format!("{}{path}", self.prefix), &token, body.as_bytes())
    }

    /// A connection of its own, for a test that reads from it as it likes.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// The same, with little room for what is not read yet.
    pub fn connect_narrowly(&self) -> TcpStream {
        let stream = self.runtime.block_on(async {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.set_recv_buffer_size(4096).unwrap();
            socket.connect(self.server.address()).await.unwrap().into_std().unwrap()
        });
        stream.set_nonblocking(false).unwrap();
        stream
    }

    /// Stops the server in good order.
    pub fn stop(self) {
        self.runtime.block_on(self.server.drain());
    }

    /// Any request at all, with these header lines.
    pub fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Said {
        let began = Instant::now();
        let mut stream = self.connect();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
        );
        // A server that has had enough may close before all is written.
        let _ = stream.write_all(&[head.as_bytes(), body].concat());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let took = began.elapsed();
        assert!(took < LONGEST * 2, "{method} {path} took {took:?}");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, text) =
            answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{method} {path}: no answer"));
        Said {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: serde_json::from_str(text).unwrap_or_default(),
            text: text.to_owned(),
        }
    }

    /// Where the API is.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.server.address(), self.prefix)
    }

    /// Runs a call of the mall itself.
    pub fn wait_for<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// What an answer of its back end survives.
    pub fn durability(&self) -> &'static str {
        self.runtime.block_on(self.app.context.storage.upkeep.health()).durability.name()
    }

    /// Moves the clock; what is due by then is done.
    pub fn advance(&self, span: Duration) {
        self.clock.advance(span);
        self.runtime.block_on(self.app.catch_up());
    }

    /// Every claim is an order or a dead letter when this returns.
    pub fn settle_log(&self) {
        let drained = drained(&self.app.context.storage, Duration::from_secs(20));
        assert!(self.runtime.block_on(drained), "the log was not drained");
    }

    /// Nothing that was sold is missing or there twice.
    pub fn assert_balanced(&self) {
        let report = self.runtime.block_on(self.app.books.verify()).unwrap();
        assert!(report.balances(), "{report}");
    }
}

async fn open(ground: &Ground, settings: Settings, clock: &Arc<ManualClock>) -> App {
    let storage = Storage::open(ground.place()).await.unwrap();
    for (id, name, sort) in [(1, "KTV", 2), (2, "美食", 1)] {
        let icon = format!("/types/{id}.svg");
        let kind = ShopType { id: ShopTypeId::new(id), name: name.to_owned(), icon, sort };
        storage.shops.put_type(&kind, EVENING).await.unwrap();
    }
    let inbox = Arc::new(Inbox::default());
    let means = Means {
        storage,
        clock: clock.clone(),
        zone: TimeZone::get("Asia/Shanghai").unwrap(),
        settings,
        sms: inbox.clone(),
        inbox: Some(inbox),
        payments: Arc::new(Sandbox::default()),
        random: Arc::new(Random::seeded(7)),
    };
    Mall::open(means).await.unwrap()
}

/// Shop 1.
pub fn shop() -> Value {
    json!({
        "name": "103茶餐厅", "typeId": 2, "images": "/imgs/a.jpg,/imgs/b.jpg", "area": "大关",
        "address": "金华路29号", "x": 120.149192, "y": 30.316078, "avgPrice": 80, "sold": 4215,
        "comments": 3035, "score": 37, "openHours": "10:00-22:00",
    })
}

/// Voucher 1, ordinary.
pub fn voucher() -> Value {
    json!({
        "shopId": 1, "title": "50元代金券", "subTitle": "周末可用", "rules": "全场通用\n无需预约",
        "payValue": 4750, "actualValue": 5000,
    })
}

/// Voucher 2, which is on, and voucher 3, which opens in an hour and has no end of units.
pub fn sale(begin: &str, end: &str, stock: i64) -> Value {
    json!({
        "shopId": 1, "title": "100元秒杀券", "subTitle": "", "rules": "", "payValue": 100, "actualValue": 10000,
        "stock": stock, "beginTime": begin, "endTime": end,
    })
}
