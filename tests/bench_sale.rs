//! `mallbox bench sale`: what it says about the cost of a claim, printed and in its result.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/bench_run.rs"]
mod bench_run;
#[path = "common/process.rs"]
mod process;

use bench_run::{ended, left_over, result, turn};
use mallbox_test_servers::{Host, MariaDb, Redis, RedisOptions};
use serde_json::Value;
use tempfile::TempDir;

/// Runs a sale with units for everybody. Returns what it printed, and its run.
fn sale(users: &str, arguments: &[&str]) -> (String, Value) {
    // Not in /tmp: bytes written to a file system in memory do not count.
    let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let sale = ["bench", "sale", "--users", users, "--units", "0", "--connections", "8", "--span", "1"];
    let mut command = process::mallbox(&[&sale[..], &["--json", "r.json"], arguments].concat());
    command.current_dir(dir.path());
    let (is_fine, text) = ended(command);
    assert!(is_fine, "{text}");
    assert_eq!(left_over(dir.path()), [""; 0], "{text}");
    let run = result(&dir.path().join("r.json"))["runs"][0].take();
    assert_eq!(run["answers"]["accepted"].to_string(), users, "{text}");
    (text, run)
}

/// Returns the figure after a label, without its unit.
fn printed(text: &str, label: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(label)).unwrap_or_else(|| panic!("{text}"));
    line.split_whitespace().next().unwrap().replace(',', "").parse().unwrap_or_else(|_| panic!("{text}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Checks the ratio and the bytes of a run, and that the printed figures are those of the result.
fn check_cost(text: &str, run: &Value) {
    let (cost, bare) = (&run["cost"], &run["ceiling_cpu_us"]);
    let bare_us = f64::midpoint(number(&bare["before"]), number(&bare["after"]));
    let ratio = number(&cost["cpu_ratio"]);
    assert!(bare_us > 0.0 && ratio > 0.0, "{run}");
    let of_a_claim = ratio * bare_us;
    assert!((of_a_claim / number(&cost["cpu_us_per_operation"]) - 1.0).abs() < 1e-6, "{run}");
    assert!(number(&cost["cpu_ratio_persisted"]) >= ratio, "{run}");
    let written = number(&cost["written_bytes_per_order"]);
    // An order is a row of some dozens of bytes, and the disk is written in pages.
    assert!((20.0..1e6).contains(&written), "{run}");
    assert!((printed(text, "CPU ratio") - ratio).abs() <= 0.006, "{text}");
    assert!((printed(text, "written") - written).abs() <= 0.6, "{text}");
    assert!(text.contains(" after), for a claim accepted and durable, until the last response"), "{text}");
    assert!(text.contains("load generator: ") && number(&run["generator"]["cpu_us_per_request"]) > 0.0);
}

fn names(run: &Value) -> Vec<&str> {
    let programs = run["cost"]["programs"].as_array().unwrap();
    programs.iter().map(|program| program["name"].as_str().unwrap()).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn a_sale_in_a_directory_says_what_a_claim_costs_beside_a_bare_request() {
    let _turn = turn();
    let (text, run) = sale("2000", &[]);
    check_cost(&text, &run);
    assert_eq!(names(&run), ["mallbox"]);
    let refusals = text.lines().find(|line| line.starts_with("sold out")).unwrap();
    assert!(refusals.contains("CPU ratio "), "{text}");
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_sale_on_servers_of_this_machine_counts_each_of_them() {
    let _turn = turn();
    let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let host = Host::beside_clients(dir.path());
    let redis = RedisOptions::default().on(host.clone()).with("appendonly", "yes");
    let (redis, mariadb) = (Redis::start_with(redis).unwrap(), MariaDb::start_on(host, &[]).unwrap());
    let (redis_url, mysql) = (redis.url(), mariadb.url("mall"));
    let (text, run) = sale("500", &["--on", "servers", "--redis", &redis_url, "--mysql", &mysql]);
    check_cost(&text, &run);
    assert_eq!(names(&run), ["mallbox", "Redis", "MySQL"]);
    let programs = run["cost"]["programs"].as_array().unwrap();
    let sum: f64 = programs.iter().map(|program| number(&program["cpu_us_per_operation"])).sum();
    assert!((sum / number(&run["cost"]["cpu_us_per_operation"]) - 1.0).abs() < 1e-6, "{run}");
    let line = text.lines().find(|line| line.starts_with("CPU ratio")).unwrap();
    assert!(line.contains(": mallbox ") && line.contains(", Redis ") && line.contains(", MySQL "), "{text}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_sale_with_batches_measures_the_batch_door_too() {
    let _turn = turn();
    let (text, _) = sale("1000", &["--batch", "300"]);
    let line = text.lines().find(|line| line.starts_with("batch door")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("in requests of 300") && line.contains("; 1,000 accepted; "), "{text}");
    assert!(printed(&text, "batch door") > 0.0, "{text}");
    assert!(text.lines().any(|line| line.starts_with("books") && line.contains("balance")), "{text}");
}
