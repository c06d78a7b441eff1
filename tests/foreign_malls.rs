//! `mallbox bench load` against malls of others: the recipes, and every fault that it promises to find.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/process.rs"]
mod process;

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;

use mallbox_test_foreign_mall::{DIALECT, Fault, ForeignMall, Options, Speech};
use mallbox_test_servers::{MariaDb, Redis};
use tempfile::TempDir;

const UNITS: i64 = 100;
const USERS: &str = "250";

/// Runs `mallbox bench load` with a target and further arguments.
fn load(target: &str, arguments: &[&str]) -> Output {
    let common = ["bench", "load", "--target", target, "--connections", "16"];
    process::mallbox(&[&common, arguments].concat()).output().unwrap()
}

fn text(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(text).unwrap()
}

/// Runs `load` with the own dialect, against a mall with a fault.
fn load_with(fault: Fault, users: &str, arguments: &[&str]) -> (bool, String) {
    let dir = TempDir::new().unwrap();
    let dialect = dir.path().join("own.toml");
    fs::write(&dialect, DIALECT).unwrap();
    let mall = ForeignMall::start(&Options { units: UNITS, fault, ..Options::default() });
    let common = ["--dialect", path(&dialect), "--users", users, "--voucher", "7", "--settle", "1"];
    let output = load(&mall.url(), &[&common, arguments].concat());
    (output.status.success(), text(&output))
}

#[test]
fn a_mall_without_a_fault_is_told_apart_from_those_with_one() {
    let checks = ["--units", "100", "--claims-per-user", "2"];
    let (is_fine, text) = load_with(Fault::None, USERS, &checks);
    assert!(is_fine, "{text}");
    for words in [
        "s: 100 accepted, ",
        "100  written for 100 accepted claims",
        "no oversold units, no second purchases, no lost or surplus orders",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    for (fault, words) in [
        (Fault::Oversells, "OVERSOLD: 10 units more than there were"),
        (Fault::SellsTwice, "purchases of users who had bought in the same sale"),
        (Fault::LosesOrders, "LOST: 10 accepted claims without an order after 1 s"),
        (Fault::RepeatsOrders, "SURPLUS: 10 orders without an accepted claim"),
        (Fault::OrdersOnItsOwn, "SURPLUS: 40 orders without an accepted claim"),
    ] {
        let (is_fine, text) = load_with(fault, USERS, &checks);
        assert!(!is_fine && text.contains(words), "{fault:?}: {text}");
    }
}

#[test]
fn sales_are_judged_one_by_one_and_orders_of_earlier_days_do_not_count() {
    let dir = TempDir::new().unwrap();
    let dialect = dir.path().join("own.toml");
    fs::write(&dialect, DIALECT).unwrap();
    let mall = ForeignMall::start(&Options { units: 30, fault: Fault::SellsTwice, ..Options::default() });
    let claim = |sales: &str, more: &[&str]| {
        let common = ["--dialect", path(&dialect), "--users", "20", "--settle", "1", "--voucher", sales];
        let output = load(&mall.url(), &[&common, more].concat());
        (output.status.success(), text(&output))
    };
    // Each sale sells 30 units to 20 users with two claims, and is told to have 20.
    let (is_fine, text) = claim("1,2", &["--units", "20", "--claims-per-user", "2"]);
    assert!(!is_fine && text.contains("OVERSOLD: 20 units"), "{text}");
    assert!(text.contains("BOUGHT TWICE: "), "{text}");
    // The doubled orders above are not those of this load.
    let (is_fine, text) = claim("3", &[]);
    assert!(is_fine, "{text}");
    let (is_fine, text) = claim("1", &["--units", "30"]);
    assert!(is_fine && text.contains("unknown"), "{text}");
    let (is_fine, text) = claim("7,7", &[]);
    assert!(!is_fine && text.contains("--voucher names 7 twice"), "{text}");
}

#[test]
fn what_was_not_checked_is_said() {
    let (is_fine, text) = load_with(Fault::Oversells, USERS, &[]);
    assert!(
        is_fine && text.contains("not checked: oversold units (pass --units), second purchases"),
        "{text}"
    );
}

#[test]
fn claims_that_a_silent_mall_never_answers_are_a_fault() {
    let (is_fine, text) = load_with(Fault::FallsSilent, "2", &[]);
    assert!(!is_fine && text.contains("UNANSWERED: 2 claims"), "{text}");
    assert!(text.contains(": 0 accepted, 2 lost"), "{text}");
}

#[test]
fn tokens_of_one_run_serve_the_next() {
    let dir = TempDir::new().unwrap();
    let (dialect, tokens) = (dir.path().join("own.toml"), dir.path().join("tokens"));
    fs::write(&dialect, DIALECT).unwrap();
    let (dialect, tokens) = (dialect.to_str().unwrap(), tokens.to_str().unwrap());
    let mall = ForeignMall::start(&Options { units: 1_000, ..Options::default() });
    let common = ["--dialect", dialect, "--voucher"];
    let first = load(&mall.url(), &[&common[..], &["1", "--users", "20", "--save-tokens", tokens]].concat());
    assert!(first.status.success() && text(&first).contains("20 accepted"), "{}", text(&first));
    assert_eq!(fs::read_to_string(tokens).unwrap().lines().count(), 20);
    let second = load(&mall.url(), &[&common[..], &["1,2", "--tokens", tokens, "--threads", "2"]].concat());
    let text_of_second = text(&second);
    assert!(second.status.success(), "{text_of_second}");
    assert!(text_of_second.contains("20 accepted, 20 already bought"), "{text_of_second}");
    let third = load(&mall.url(), &[&common[..], &["3", "--users", "20", "--save-tokens", tokens]].concat());
    assert!(!third.status.success() && text(&third).contains("exists; pass a new file"), "{}", text(&third));
}

#[test]
fn answers_that_no_rule_knows_are_shown() {
    let dir = TempDir::new().unwrap();
    let tokens = dir.path().join("tokens");
    fs::write(&tokens, "stranger\n").unwrap();
    let mall = ForeignMall::start(&Options { units: 1, ..Options::default() });
    let output = load(
        &mall.url(),
        &["--dialect", "hm-dianping", "--voucher", "1", "--tokens", tokens.to_str().unwrap()],
    );
    let text = text(&output);
    assert!(text.contains("0 accepted, 1 rejected by the server"), "{text}");
    assert!(text.contains("the first of them: 401"), "{text}");
    assert!(!output.status.success() && text.contains("NOTHING SOLD"), "{text}");
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn the_recipes_drive_their_malls() {
    let (redis, mysql) = (Redis::start().unwrap(), MariaDb::start().unwrap());
    for (speech, dialect, database) in
        [(Speech::Java, "hm-dianping", "java_mall"), (Speech::Go, "hm-dianping-go", "go_mall")]
    {
        let mysql = mysql.url(database);
        let mall = ForeignMall::start(&Options {
            speech,
            units: UNITS,
            fault: Fault::None,
            redis: Some(redis.url()),
            mysql: Some(mysql.clone()),
        });
        let arguments = ["--dialect", dialect, "--users", "300", "--voucher", "10", "--units", "100"];
        let without_codes = load(&mall.url(), &arguments);
        assert!(text(&without_codes).contains("pass --redis URL"), "{}", text(&without_codes));
        let servers = ["--redis", &redis.url(), "--mysql", &mysql, "--claims-per-user", "2"];
        let output = load(&mall.url(), &[&arguments[..], &servers].concat());
        let text = text(&output);
        println!("{dialect}\n{text}");
        assert!(output.status.success(), "{dialect}: {text}");
        assert!(text.contains("100 accepted") && text.contains("written for 100 accepted claims"), "{text}");
        assert!(text.contains("no oversold units, no second purchases, no lost or surplus orders"), "{text}");
    }
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn servers_that_are_away_silent_or_wrong_are_named() {
    let mall = ForeignMall::start(&Options { units: 1, ..Options::default() });
    // Accepts connections by the system, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mysql = MariaDb::start().unwrap();
    let run = |redis: &str, mysql: &str, words: &str| {
        let arguments = ["--dialect", "hm-dianping", "--users", "2", "--voucher", "1", "--redis", redis];
        let output = load(&mall.url(), &[&arguments[..], &["--mysql", mysql]].concat());
        let text = text(&output);
        assert!(!output.status.success() && text.contains(words), "{words}: {text}");
    };
    let url = mysql.url("mysql");
    run(&format!("redis://{free}"), &url, "MGET");
    run(&format!("redis://{}", silent.local_addr().unwrap()), &url, "MGET: store unavailable: timed out");
    run("nonsense", &url, "MGET");
    let dir = TempDir::new().unwrap();
    let tokens = dir.path().join("tokens");
    fs::write(&tokens, "a\n").unwrap();
    let count = |mysql: &str, sql: &str, words: &str| {
        let dialect = dir.path().join("dialect.toml");
        let claim = "[claim]\npath = '/{sale}'\nheaders = { a = '{token}' }";
        let answers = "[answers]\nsold-out = []\nalready-bought = []\naccepted = [{ status = 200 }]";
        fs::write(&dialect, format!("{claim}\n{answers}\n[orders]\nsql = \"{sql}\"")).unwrap();
        let (dialect, tokens) = (dialect.to_str().unwrap(), tokens.to_str().unwrap());
        let output = load(
            &mall.url(),
            &["--dialect", dialect, "--voucher", "1", "--tokens", tokens, "--mysql", mysql],
        );
        let text = text(&output);
        assert!(!output.status.success() && text.contains(words), "{words}: {text}");
    };
    count(&format!("mysql://root@{free}/mall"), "SELECT 1", "query: ");
    count(&url, "SELECT 'x'", "the query returned 'x', not a whole number");
    count(&url, "SELECT 1 WHERE FALSE", "the query returned no row");
    count(&url, "CREATE TABLE t (id INT)", "READ ONLY");
    count(&url, "SELECT 1; DROP DATABASE mysql", "query: ");
    count(&url, "SELECT 1, 2, 3", "expected one or two numbers");
}

#[test]
fn models_are_printed_and_can_be_used_as_files() {
    let dir = TempDir::new().unwrap();
    let names = text(&process::mallbox(&["bench", "dialect"]).output().unwrap());
    assert_eq!(names, "mallbox\nhm-dianping\nhm-dianping-go\n");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for name in names.lines() {
        let model = process::mallbox(&["bench", "dialect", name]).output().unwrap();
        let file = dir.path().join(name);
        fs::write(&file, model.stdout).unwrap();
        let output = load(&format!("http://{free}"), &["--dialect", path(&file), "--voucher", "1"]);
        // The dialect is read before the target is dialled.
        assert!(text(&output).contains("cannot connect to 127.0.0.1:"), "{name}: {}", text(&output));
    }
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}
