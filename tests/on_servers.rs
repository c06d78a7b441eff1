//! A mall in Redis and MySQL in operation: imported from a dump, served by two processes, administered from
//! the command line, and through outages of its servers.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

mod common;
#[path = "on_servers/drills.rs"]
mod drills;
#[path = "on_servers/order_ids.rs"]
mod order_ids;

use std::io::Read as _;
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

use common::http::{self, Reply};
use common::server::Server;
use mallbox::place::Place;
use mallbox_storage::{OrderId, ReserveOutcome, UserId, VoucherId};
use mallbox_storage_production::ProductionOptions;
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::{MariaDb, Redis, RedisOptions};
use serde_json::json;
use tempfile::TempDir;

const OPERATOR: &str = "13900000001";
const DUMP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/import/dumps/mysqldump.sql");
/// Time limit for a returned server to be used again.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest duration of a request, with a margin for a busy machine.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);

/// Both servers, and the mall on them.
struct Site {
    redis: Redis,
    mysql: MariaDb,
    dir: TempDir,
}

impl Site {
    fn new() -> Self {
        let options = RedisOptions::default().with("requirepass", "secret").with("appendonly", "yes");
        let redis = Redis::start_with(options.with("appendfsync", "everysec")).unwrap();
        // With MariaDB's default durability, because the server is killed.
        let mysql = MariaDb::start_with(&[]).unwrap();
        Self { redis, mysql, dir: TempDir::new().unwrap() }
    }

    fn redis(&self) -> String {
        format!("redis://:secret@127.0.0.1:{}", self.redis.port())
    }

    fn mysql(&self) -> String {
        self.mysql.url("mall")
    }

    /// Takes a unit in Redis for an order lost by MySQL.
    fn take_a_unit_for_nobody(&self, sale: u64) {
        common::mall::runtime().unwrap().block_on(async {
            let place = Place::Production(ProductionOptions::new(self.redis(), self.mysql()));
            let storage = place.open().await.unwrap();
            let (sale, order) = (VoucherId::new(sale), OrderId::new(16 * 99 + sale % 16));
            let taken = storage.selling.sales.reserve(sale, UserId::new(999), order).await.unwrap();
            assert_eq!(taken, ReserveOutcome::Taken);
        });
    }

    fn serve(&self, name: &str) -> Server {
        Server::start_on(&self.redis(), &self.mysql(), &self.dir.path().join(name)).unwrap()
    }

    /// Runs a command. Returns exit code, standard output and standard error.
    fn mallbox(&self, arguments: &[&str]) -> (i32, String, String) {
        output_of(arguments, &self.redis(), &self.mysql())
    }

    /// Runs a command that must succeed. Returns its output.
    fn done(&self, arguments: &[&str]) -> String {
        let (code, out, error) = self.mallbox(arguments);
        assert_eq!(code, 0, "{arguments:?}: {out}{error}");
        out
    }
}

fn output_of(arguments: &[&str], redis: &str, mysql: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mallbox"));
    command.args(arguments).env("LC_ALL", "C").env("MALLBOX_REDIS", redis).env("MALLBOX_MYSQL", mysql);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn call(address: SocketAddr, path: &str, token: &str, body: &str) -> Reply {
    let began = Instant::now();
    let reply = http::send(address, "POST", &format!("/api{path}"), token, body).unwrap();
    assert!(patience::is_within(began.elapsed(), REQUEST_TIMEOUT), "{path} took {:?}", began.elapsed());
    reply
}

fn log_in(server: &Server, phone: &str) -> String {
    assert_eq!(call(server.address, &format!("/user/code?phone={phone}"), "", "").status, 200);
    let line = std::iter::from_fn(|| server.lines.recv_timeout(patience::scaled(RECOVERY_TIMEOUT)).ok());
    let mut codes =
        line.filter_map(|line| line.strip_prefix(&format!("SMS {phone} code ")).map(str::to_owned));
    let form = json!({"phone": phone, "code": codes.next().unwrap()});
    let reply = call(server.address, "/user/login", "", &form.to_string());
    reply.body["data"].as_str().unwrap_or_else(|| panic!("{reply:?}")).to_owned()
}

/// Opens a sale of `units`. Returns its id.
fn open_sale(server: &Server, operator: &str, units: u64) -> String {
    let sale = json!({
        "shopId": 1, "title": "100元秒杀券", "subTitle": "", "rules": "", "payValue": 100, "actualValue": 10000,
        "stock": units, "beginTime": "2020-01-01T00:00:00", "endTime": "2088-01-01T00:00:00",
    });
    let reply = call(server.address, "/voucher/seckill", operator, &sale.to_string());
    reply.body["data"].as_u64().unwrap_or_else(|| panic!("{reply:?}")).to_string()
}

fn claim(server: &Server, sale: &str, token: &str) -> Reply {
    call(server.address, &format!("/voucher-order/seckill/{sale}"), token, "")
}

/// Claims until accepted. Returns the order.
fn claimed(server: &Server, sale: &str, token: &str) -> String {
    let until = Deadline::after(RECOVERY_TIMEOUT);
    loop {
        let reply = claim(server, sale, token);
        if let Some(order) = reply.body["dataText"].as_str() {
            return order.to_owned();
        }
        assert!(reply.status == 503 && !until.is_over(), "{reply:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until `/readyz` responds with a status and words.
fn readyz(server: &Server, status: u16, words: &str) -> Reply {
    let is_so = |reply: &Reply| reply.status == status && reply.text.contains(words);
    http::until(server.address, "/readyz", RECOVERY_TIMEOUT, is_so).unwrap().0
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_mall_is_moved_in_served_by_two_processes_and_looked_after() {
    let site = Site::new();
    let (code, _, error) = site.mallbox(&["user", "list"]);
    assert!(code == 2 && error.contains("there is no mall in this MySQL database"), "{error}");
    let report = site.done(&["import", DUMP, "--zone", "Asia/Shanghai"]);
    assert!(report.contains("Next: mallbox serve --redis URL --mysql URL\n"), "{report}");
    let (code, _, error) = site.mallbox(&["import", DUMP]);
    assert!(code == 2 && error.contains("the mall in this MySQL database already has data"), "{error}");

    let (one, other) = (site.serve("one"), site.serve("other"));
    readyz(
        &one,
        200,
        r#""backend":"production","durability":"process","servers":{"MySQL":"power","Redis":"appendfsync everysec"}"#,
    );
    assert!(site.done(&["user", "grant", OPERATOR]).contains("operator"));
    let operator = log_in(&one, OPERATOR);
    let sale = open_sale(&one, &operator, 3);
    let buyer = log_in(&other, "13900000002");
    let order = claimed(&other, &sale, &buyer);
    assert_eq!(claim(&one, &sale, &buyer).code(), "ALREADY_BOUGHT");
    let paid = call(one.address, &format!("/voucher-order/{order}/pay"), &buyer, "{}");
    assert_eq!(paid.body["success"], true, "{paid:?}");

    assert!(site.done(&["verify"]).contains("the ledger balances"));
    assert!(site.done(&["user", "block", "--reason", "resale", "13900000002"]).contains("1 sessions ended"));
    assert_eq!(claim(&one, &sale, &buyer).status, 401);
    assert!(site.done(&["audit", "list"]).contains("user.block"));
    assert!(site.done(&["audit", "verify"]).contains("the audit log is intact"));
    one.stop().unwrap();
    other.stop().unwrap();
    assert!(site.done(&["verify"]).contains("the ledger balances"));

    site.take_a_unit_for_nobody(sale.parse().unwrap());
    let (code, out, _) = site.mallbox(&["verify"]);
    assert!(code == 1 && out.contains("units taken in memory: expected 1, found 2"), "{out}");
    assert!(site.done(&["verify", "--reload"]).contains("the ledger balances"));
    assert!(site.done(&["audit", "list"]).contains("sale.reload"));
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn without_a_free_connection_a_start_says_that_it_waits_and_verify_gives_up() {
    let flags = ["--max-connections=20", "--connect-timeout=600"];
    let site = Site { mysql: MariaDb::start_with(&flags).unwrap(), ..Site::new() };
    site.serve("first.log").stop().unwrap();
    let rivals = take_connections(site.mysql.port());
    let (code, out, error) = site.mallbox(&["verify"]);
    assert!(code == 1 && out.is_empty(), "{code}: {out}");
    let words = ["MySQL at 127.0.0.1:", "no free connection within 10 s", "Raise its max_connections"];
    assert!(words.iter().all(|words| error.contains(words)), "{error}");

    let log = site.dir.path().join("second.log");
    // A server ends with the thread that starts it.
    let watcher = std::thread::spawn(move || {
        let until = Deadline::after(RECOVERY_TIMEOUT);
        while !std::fs::read_to_string(&log).unwrap_or_default().contains("waiting for a free connection") {
            assert!(!until.is_over(), "the log does not say what the start waits for");
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(rivals);
    });
    site.serve("second.log").stop().unwrap();
    watcher.join().unwrap();
}

/// Takes connections until the server has none left: each waits for a log-in that never comes.
fn take_connections(port: u16) -> Vec<TcpStream> {
    let mut taken = Vec::new();
    loop {
        let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut head = [0; 5];
        connection.read_exact(&mut head).unwrap();
        // Otherwise a greeting of protocol version 10.
        if head[4] == 0xff {
            return taken;
        }
        taken.push(connection);
    }
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_payment_mode_that_a_later_process_sets_is_seen_by_one_that_runs() {
    let site = Site::new();
    let first = site.serve("first.log");
    readyz(&first, 200, r#""payment":"sandbox""#);
    let (redis, mysql, log) = (site.redis(), site.mysql(), site.dir.path().join("second.log"));
    let second = Server::start_on_with(&redis, &mysql, &log, &["--payment", "none"]).unwrap();
    readyz(&first, 200, r#""payment":"none""#);
    [first, second].into_iter().for_each(|server| server.stop().unwrap());
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn servers_that_go_away_are_named_and_used_again_when_they_are_back() {
    let mut site = Site::new();
    site.done(&["import", DUMP]);
    let server = site.serve("log");
    site.done(&["user", "grant", OPERATOR]);
    let operator = log_in(&server, OPERATOR);
    let sale = open_sale(&server, &operator, 3);
    let buyers = ["13900000002", "13900000003", "13900000004"].map(|phone| log_in(&server, phone));
    claimed(&server, &sale, &buyers[0]);

    site.redis.kill();
    readyz(&server, 503, "Redis at 127.0.0.1:");
    assert_eq!(claim(&server, &sale, &buyers[1]).status, 503);
    let (code, _, error) = site.mallbox(&["verify"]);
    assert!(code == 1 && error.contains("Redis at 127.0.0.1:") && !error.contains("secret"), "{error}");
    site.redis.restart().unwrap();
    claimed(&server, &sale, &buyers[1]);
    readyz(&server, 200, "");

    site.mysql.kill();
    readyz(&server, 503, "MySQL at 127.0.0.1:");
    // A sale continues without the database, even after the process's cached terms have become stale.
    std::thread::sleep(Duration::from_secs(3));
    claimed(&server, &sale, &buyers[2]);
    assert_eq!(claim(&server, &sale, &buyers[2]).code(), "ALREADY_BOUGHT");
    site.mysql.restart().unwrap();
    readyz(&server, 200, r#""backlog":0"#);
    assert_eq!(claim(&server, &sale, &operator).code(), "SOLD_OUT");
    assert!(site.done(&["verify"]).contains("the ledger balances"));
    server.stop().unwrap();
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn faults_of_a_server_are_reported_without_its_password() {
    let site = Site::new();
    let (redis, mysql) = (site.redis(), site.mysql());
    let evicting =
        Redis::start_with(RedisOptions::default().with("maxmemory-policy", "allkeys-lru")).unwrap();
    let wrong_redis = redis.replace("secret", "not-secret");
    let wrong_mysql = mysql.replace("root@", "root:not-secret@");
    for (redis, mysql, words) in [
        (&*wrong_redis, &*mysql, "Redis at 127.0.0.1:"),
        ("redis://:secret@127.0.0.1:1", &mysql, "cannot connect to Redis at 127.0.0.1:1"),
        (&evicting.url(), &mysql, "set maxmemory-policy noeviction"),
        (&redis, &wrong_mysql, "MySQL at 127.0.0.1:"),
        (&redis, "mysql://root:secret@127.0.0.1:1/mall", "cannot connect to MySQL at 127.0.0.1:1/mall"),
        (&redis, "mysql://root:secret@127.0.0.1", "the URL has no database"),
    ] {
        for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["verify"]] {
            let (code, _, error) = output_of(command, redis, mysql);
            assert!(code == 1 && error.contains(words) && error.lines().count() == 1, "{words}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_bench_sells_in_a_directory_and_by_two_processes_on_servers_by_turns() {
    let site = Site::new();
    let bench = ["bench", "sale", "--on", "both", "--instances", "2", "--rounds", "2", "--limits", "on"];
    let size = ["--users", "60", "--units", "40", "--sales", "2", "--connections", "4", "--span", "1"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_mallbox"));
    // Settings of a real mall have no effect, except the addresses of the servers.
    command.envs([("MALLBOX_REDIS_PREFIX", "real"), ("MALLBOX_SMS", "http://127.0.0.1:1/")]);
    command.envs([("MALLBOX_REDIS", site.redis()), ("MALLBOX_MYSQL", site.mysql())]);
    let output = command.args(bench).args(size).current_dir(site.dir.path()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{error}");
    assert!(!error.contains("stay behind") && !(out.clone() + &error).contains("secret"), "{out}{error}");
    let order: Vec<&str> = out.lines().filter(|line| line.starts_with("round")).collect();
    let want = [
        "round 1 of 2, directory",
        "round 1 of 2, servers",
        "round 2 of 2, servers",
        "round 2 of 2, directory",
    ];
    assert_eq!(order, want, "{out}");
    assert_eq!(out.matches(" 80 accepted").count(), 4, "{out}");
    assert_eq!(out.matches("appendfsync everysec").count(), 2, "{out}");
    assert!(out.contains("Redis calls per sold-out claim"), "{out}");
    assert_eq!(out.matches("\nCPU ratio ").count(), 4, "{out}");
    assert!(out.contains("CPU of a claim / of a bare request"), "{out}");
    assert_eq!(std::fs::read_dir(site.dir.path()).unwrap().count(), 0, "something stays behind");
}
