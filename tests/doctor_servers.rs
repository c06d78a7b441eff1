//! `mallbox doctor` on real servers: what it reports, that it writes nothing, and that silent servers do not
//! hold it up.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/process.rs"]
mod process;

use std::process::Output;
use std::time::{Duration, Instant};

use mallbox_test_patience as patience;
use mallbox_test_servers::{MariaDb, Redis, RedisOptions};
use mysql_async::prelude::Queryable as _;
use process::{Process, mallbox};

/// Longest time of an inspection, with a margin for the start of the process.
const INSPECTION_TIMEOUT: Duration = Duration::from_secs(12);

/// Both servers.
struct Site {
    redis: Redis,
    mysql: MariaDb,
}

/// The result of `doctor`.
struct Report {
    code: i32,
    table: String,
    error: String,
    took: Duration,
}

impl Site {
    /// Starts servers whose settings lose nothing.
    fn durable() -> Self {
        let options = RedisOptions::default().with("appendonly", "yes").with("appendfsync", "always");
        Self { redis: Redis::start_with(options).unwrap(), mysql: MariaDb::start_with(&[]).unwrap() }
    }

    fn doctor(&self) -> Report {
        doctor(&self.redis.url(), &self.mysql.url("mall"), "en")
    }

    /// Creates a mall, or opens the one there is, and stops it.
    fn serve(&self) {
        let (redis, mysql) = (self.redis.url(), self.mysql.url("mall"));
        let arguments = ["serve", "--redis", &redis, "--mysql", &mysql, "--listen", "127.0.0.1:0"];
        let mall = Process::start(&mut mallbox(&arguments));
        mall.line();
        assert_eq!(mall.stop(), 0);
    }

    fn sql(&self, statement: &str) {
        self.sql_in("mall", statement);
    }

    fn sql_in(&self, database: &str, statement: &str) {
        let url = self.mysql.url(database);
        on_runtime(async {
            mysql_async::Conn::from_url(url).await.unwrap().query_drop(statement).await.unwrap();
        });
    }

    /// Returns keys and number of writes of Redis, and databases, schema and rows of MySQL.
    fn contents(&self) -> Vec<String> {
        on_runtime(async {
            let client = redis::Client::open(self.redis.url()).unwrap();
            let mut redis = client.get_multiplexed_async_connection().await.unwrap();
            let mut found: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut redis).await.unwrap();
            found.sort();
            let info: String = redis::cmd("INFO").arg("persistence").query_async(&mut redis).await.unwrap();
            found.extend(info.lines().filter(|line| line.starts_with("rdb_changes")).map(str::to_owned));
            let mut mysql = mysql_async::Conn::from_url(self.mysql.url("mysql")).await.unwrap();
            let databases: Vec<String> = mysql.query("SHOW DATABASES").await.unwrap();
            if databases.iter().any(|name| name == "mall") {
                for table in mysql.query::<String, _>("SHOW TABLES FROM mall").await.unwrap() {
                    let sum: Option<(String, Option<u64>)> =
                        mysql.query_first(format!("CHECKSUM TABLE mall.{table}")).await.unwrap();
                    let made: Option<(String, String)> =
                        mysql.query_first(format!("SHOW CREATE TABLE mall.{table}")).await.unwrap();
                    found.push(format!("{sum:?} {made:?}"));
                }
            }
            found.extend(databases);
            found
        })
    }
}

impl Report {
    /// Returns the line of a finding.
    fn line(&self, name: &str) -> &str {
        let found = self.table.lines().find(|line| line.get(5..).is_some_and(|rest| rest.starts_with(name)));
        found.unwrap_or_else(|| panic!("no line {name}: {}{}", self.table, self.error))
    }

    fn expect(&self, name: &str, mark: &str, text: &str) {
        let line = self.line(name);
        assert!(line.starts_with(mark) && line.contains(text), "expected {mark} {text}: {line}");
    }
}

fn on_runtime<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn doctor(redis: &str, mysql: &str, language: &str) -> Report {
    let began = Instant::now();
    let mut command = mallbox(&["doctor", "--lang", language]);
    // By the environment, where operators put URLs with passwords.
    let output = command.env("MALLBOX_REDIS", redis).env("MALLBOX_MYSQL", mysql).output().unwrap();
    let Output { status, stdout, stderr } = output;
    Report {
        code: status.code().unwrap(),
        table: String::from_utf8(stdout).unwrap(),
        error: String::from_utf8(stderr).unwrap(),
        took: began.elapsed(),
    }
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn every_state_of_a_schema_is_reported_and_none_is_changed() {
    let site = Site::durable();
    let report = |changes: &str, code: i32, mark: &str, text: &str| {
        if !changes.is_empty() {
            site.sql(changes);
        }
        let before = site.contents();
        let report = site.doctor();
        assert_eq!(site.contents(), before, "doctor wrote something");
        assert_eq!(report.code, code, "{}{}", report.table, report.error);
        report.expect("MySQL schema", mark, text);
        report
    };
    let new = report("", 0, "ok", "holds no mall; a start creates a new one");
    for (name, text) in [
        ("Redis ", "127.0.0.1:"),
        ("Redis version", "."),
        ("Redis writes", "appendfsync always: a power cut loses no claim"),
        ("Redis eviction", "noeviction"),
        ("Redis memory", "MiB in use"),
        ("Redis clock", "agrees with this machine's"),
        ("MySQL ", "127.0.0.1:"),
        ("MySQL version", "MariaDB"),
        ("MySQL commits", "innodb_flush_log_at_trx_commit 1: a power cut loses no order"),
        ("MySQL room", "room for "),
        ("MySQL clock", "agrees with this machine's"),
    ] {
        new.expect(name, "ok", text);
    }
    site.serve();
    report("", 0, "ok", "the one of this version");
    report(
        "DELETE FROM mallbox_schema ORDER BY number DESC LIMIT 2",
        0,
        "ok",
        "the next start migrates it to",
    );
    report(
        "INSERT INTO mallbox_schema (number, name) VALUES (9999, '9999_future')",
        1,
        "BAD",
        "newer mallbox",
    );
    report("DROP TABLE mallbox_schema", 1, "BAD", "tables of another program");
    report("DROP DATABASE mall", 0, "ok", "holds no mall");
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn settings_that_lose_data_are_bad_in_both_languages() {
    let options = RedisOptions::default().with("maxmemory-policy", "allkeys-lru").with("maxmemory", "100mb");
    let redis = Redis::start_with(options).unwrap();
    let flags = ["--log-bin=log", "--binlog-format=STATEMENT", "--read-only", "--max-connections=10"];
    let mysql = MariaDb::start_without_sync(&flags).unwrap();
    let site = Site { redis, mysql };
    let report = site.doctor();
    assert_eq!(report.code, 1, "{}{}", report.table, report.error);
    for (name, text) in [
        ("Redis writes", "set appendonly yes"),
        ("Redis eviction", "allkeys-lru may evict stock and buyers"),
        ("Redis memory", "below maxmemory (100 MiB)"),
        ("MySQL ", "is read-only"),
        ("MySQL commits", "sync_binlog 0: a crash of MySQL or a power cut loses"),
        ("MySQL room", "raise max_connections"),
        ("MySQL binlog", "set binlog_format ROW"),
    ] {
        report.expect(name, "BAD", text);
    }
    let zh = doctor(&site.redis.url(), &site.mysql.url("mall"), "zh").table;
    for text in ["异常 Redis持久化", "请设置appendonly yes", "异常 MySQL持久化", "没有商城，启动时新建"]
    {
        assert!(zh.contains(text), "{text}: {zh}");
    }
    for english in [" the ", " is ", "set ", "cannot"] {
        assert!(!zh.contains(english), "{english}: {zh}");
    }
    let redis = RedisOptions::default().with("appendonly", "yes").with("appendfsync", "no");
    let site = Site { redis: Redis::start_with(redis).unwrap(), mysql: site.mysql };
    site.doctor().expect("Redis writes", "BAD", "up to some 30 s of claims");
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_server_out_of_reach_is_named_with_its_reason() {
    let redis = Redis::start_with(RedisOptions::default().with("requirepass", "right")).unwrap();
    let mysql = MariaDb::start().unwrap();
    let site = Site { redis, mysql };
    site.sql_in("mysql", "CREATE USER mall@'127.0.0.1' IDENTIFIED BY 'right'");
    let (redis, mysql) = (site.redis.port(), site.mysql.port());
    let of_redis = |login: &str, port: u16| format!("redis://{login}127.0.0.1:{port}");
    let of_mysql = |login: &str, port: u16| format!("mysql://{login}@127.0.0.1:{port}/mall");
    for (redis_url, mysql_url, redis_says, mysql_says) in [
        (of_redis("", 1), of_mysql("root", 1), "no program listens there", "no program listens there"),
        (of_redis("", redis), of_mysql("mall", mysql), "refuses the login", "refuses the login"),
        (of_redis(":wrong@", redis), of_mysql("mall:wrong", mysql), "refuses the login", "refuses the login"),
        (
            of_redis("", mysql),
            of_mysql("root", redis),
            "belongs to a program other than Redis",
            "the server is not MySQL",
        ),
    ] {
        let report = doctor(&redis_url, &mysql_url, "en");
        assert_eq!(report.code, 1, "{}{}", report.table, report.error);
        report.expect("Redis ", "BAD", redis_says);
        report.expect("MySQL ", "BAD", mysql_says);
        assert!(!report.table.contains("wrong"), "{}", report.table);
    }
    // One of both is inspected although the other is away.
    let report = doctor(&of_redis(":right@", redis), &of_mysql("root", 1), "en");
    report.expect("Redis version", "ok", ".");
    report.expect("MySQL ", "BAD", "no program listens there");
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn silent_servers_do_not_hold_it_up() {
    let site = Site::durable();
    for (redis, mysql) in [(true, false), (false, true), (true, true)] {
        if redis {
            site.redis.pause().unwrap();
        }
        if mysql {
            site.mysql.pause().unwrap();
        }
        let report = site.doctor();
        for (is_silent, name) in [(redis, "Redis "), (mysql, "MySQL ")] {
            let (mark, text) = if is_silent { ("BAD", "does not respond") } else { ("ok", "127.0.0.1:") };
            report.expect(name, mark, text);
        }
        assert_eq!(report.code, 1);
        assert!(report.took < patience::scaled(INSPECTION_TIMEOUT), "{:?}", report.took);
        if redis {
            site.redis.resume().unwrap();
        }
        if mysql {
            site.mysql.resume().unwrap();
        }
    }
    assert_eq!(site.doctor().code, 0);
}
