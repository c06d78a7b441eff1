//! `mallbox bench ports`: what is measured and published, a run that was killed and continues, and servers
//! that are missing or hold data.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/bench_run.rs"]
mod bench_run;
#[path = "common/given_servers.rs"]
mod given_servers;
#[path = "common/process.rs"]
mod process;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use mallbox_test_patience::Deadline;
use mysql_async::prelude::Queryable as _;
use serde_json::Value;
use tempfile::TempDir;

use bench_run::{ended, left_over, result, turn};
use given_servers::GivenServers;

/// Time limit of a part, and of the removal of a killed run's files.
const PART_TIMEOUT: Duration = Duration::from_secs(120);

/// Returns a quick run in a directory of its own.
fn bench(dir: &Path, arguments: &[&str]) -> Command {
    let common = ["bench", "ports", "--quick", "--threads", "2"];
    let mut command = process::mallbox(&[&common, arguments].concat());
    command.current_dir(dir);
    command
}

/// Returns the operation, the back end, the size and the callers of each measurement.
fn names(measurements: &[Value]) -> Vec<String> {
    let fields = ["port", "back_end", "size", "threads"];
    let name = |measurement: &Value| fields.map(|field| measurement[field].to_string()).join(" ");
    measurements.iter().map(name).collect()
}

#[test]
fn without_servers_the_program_is_named_and_the_directory_is_measured() {
    let _turn = turn();
    let (dir, nowhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut both = bench(dir.path(), &["ids", "--json", "a.json"]);
    both.env("PATH", nowhere.path());
    let (is_fine, text) = ended(both);
    let named = "redis-server is not installed: only the back end in a directory is measured";
    assert!(is_fine && text.contains(named), "{text}");
    let result = result(&dir.path().join("a.json"));
    assert_eq!(result["warnings"][0]["code"], "left_out");
    assert_eq!(result["settings"]["grounds"], serde_json::json!(["directory"]));
    let back_ends: BTreeSet<&str> = result["measurements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|measurement| measurement["back_end"].as_str().unwrap())
        .collect();
    let want =
        ["AUTOINCREMENT in SQLite", "UUID v4", "UUID v7", "blocks, in a directory", "counter in memory"];
    assert_eq!(back_ends, want.into());
    let mut servers = bench(dir.path(), &["ids", "--on", "servers"]);
    servers.env("PATH", nowhere.path());
    let (is_fine, text) = ended(servers);
    assert!(!is_fine && text.contains("redis-server is not installed; install it"), "{text}");
    assert_eq!(left_over(dir.path()), [""; 0]);
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn ports_are_measured_on_both_back_ends_and_published() {
    let _turn = turn();
    let dir = TempDir::new().unwrap();
    let arguments = ["claim", "geo", "likes", "cache", "--json", "a.json"];
    let (is_fine, text) = ended(bench(dir.path(), &arguments));
    assert!(is_fine, "{text}");
    for words in [" measurements, about ", "\nclaim\n", "sold out", "GEOSEARCH", "loads of the database for"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    let result = result(&dir.path().join("a.json"));
    assert_eq!((&result["kind"], &result["schema"]), (&"ports".into(), &1.into()));
    assert_eq!(result["settings"]["ports"], serde_json::json!(["claim", "geo", "likes", "cache"]));
    let measurements = result["measurements"].as_array().unwrap();
    let names = names(measurements);
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    for name in [
        r#""claim: accepted" "directory" 1000 1"#,
        r#""claim: sold out" "Redis and MySQL" 10000 2"#,
        r#""claim: already bought" "directory" 10000 2"#,
        r#""geo: first ten within 5 km" "GEOSEARCH" 10000 2"#,
        r#""geo: page 20 within 5 km" "Redis and MySQL" 10000 1"#,
        r#""likes: like" "ZADD" 1000 1"#,
        r#""cache: logical expiry" "directory" 200 2"#,
    ] {
        assert!(names.iter().any(|known| known == name), "{name} is not in {names:?}");
    }
    for measurement in measurements {
        assert!(measurement["per_s"].as_f64() > Some(0.0), "{measurement}");
        assert!(measurement["p50_us"].as_f64() <= measurement["p99_us"].as_f64(), "{measurement}");
        assert_eq!(measurement["is_failed"], false, "{measurement}");
    }
    let note =
        |name: &str| measurements[names.iter().position(|known| known == name).unwrap()]["note"].clone();
    let accepted = note(r#""claim: accepted" "Redis and MySQL" 1000 1"#);
    assert!(accepted.as_str().unwrap().starts_with("Redis: appendfsync always; MySQL: "), "{accepted}");
    let accepted = note(r#""claim: accepted" "directory" 1000 1"#);
    assert!(accepted.as_str().unwrap().starts_with("durability power; in a rush"), "{accepted}");
    assert_eq!(left_over(dir.path()), [""; 0]);
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_killed_run_continues_without_measuring_twice() {
    let _turn = turn();
    let dir = TempDir::new().unwrap();
    let (json, state) = (dir.path().join("a.json"), dir.path().join("a.json.part"));
    let arguments = ["order-log", "ids", "locks", "--json", "a.json"];
    let mut run = bench(dir.path(), &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Deadline::after(PART_TIMEOUT);
    // The settings, and two complete parts.
    let lines = || fs::read_to_string(&state).unwrap_or_default().matches('\n').count();
    while lines() < 3 {
        assert!(!deadline.is_over() && run.try_wait().unwrap().is_none(), "no part was completed");
        std::thread::sleep(Duration::from_millis(20));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let known: Vec<Value> = fs::read_to_string(&state)
        .unwrap()
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let known: Vec<&Value> = known.iter().flat_map(|part| part["measurements"].as_array().unwrap()).collect();
    let deadline = Deadline::after(PART_TIMEOUT);
    while !left_over(dir.path()).is_empty() {
        assert!(!deadline.is_over(), "a killed run left {:?}", left_over(dir.path()));
        std::thread::sleep(Duration::from_millis(20));
    }

    let (is_fine, text) = ended(bench(dir.path(), &arguments));
    assert!(!is_fine && text.contains("is left of an interrupted run; pass --resume"), "{text}");
    let (is_fine, text) = ended(bench(dir.path(), &[&arguments[1..], &["--resume"]].concat()));
    assert!(!is_fine && text.contains("is of a run with other settings: then order-log ids locks"), "{text}");
    let (is_fine, text) = ended(bench(dir.path(), &[&arguments[..], &["--resume"]].concat()));
    let sentence = format!("; {} are known from the interrupted run", known.len());
    assert!(is_fine && text.contains(&sentence), "{sentence}: {text}");
    let result = result(&json);
    let measurements = result["measurements"].as_array().unwrap();
    let names = names(measurements);
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    for measurement in known {
        assert!(measurements.contains(measurement), "measured twice: {measurement}");
    }
    assert!(!state.exists() && left_over(dir.path()).is_empty());
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn given_servers_must_be_empty_and_are_empty_afterwards() {
    let _turn = turn();
    tokio::runtime::Runtime::new().unwrap().block_on(on_given_servers());
}

async fn on_given_servers() {
    let (mut servers, dir) = (GivenServers::start().await, TempDir::new().unwrap());
    let flags = servers.flags();
    let run = |flags: &[String]| {
        let mut command = bench(dir.path(), &["rate-limits", "votes", "--on", "servers"]);
        command.args(flags);
        ended(command)
    };
    let (is_fine, text) = run(&flags[..4]);
    assert!(!is_fine && text.contains("--may-destroy-data"), "{text}");
    servers.put_key().await;
    let (is_fine, text) = run(&flags);
    assert!(!is_fine && text.contains("Redis holds 1 keys; the bench needs an empty server"), "{text}");
    servers.take_key().await;
    servers.sql.query_drop("CREATE TABLE theirs.orders (id INT)").await.unwrap();
    let (is_fine, text) = run(&flags);
    assert!(!is_fine && text.contains("the database of --mysql holds 1 tables"), "{text}");
    servers.sql.query_drop("DROP TABLE theirs.orders").await.unwrap();
    let before: Vec<String> = servers.sql.query("SHOW DATABASES").await.unwrap();
    let (is_fine, text) = run(&flags);
    assert!(is_fine && text.contains("Redis: appendonly no, memory only"), "{text}");
    let after: Vec<String> = servers.sql.query("SHOW DATABASES").await.unwrap();
    assert_eq!(after, before);
    servers.are_empty().await;
    assert_eq!(left_over(dir.path()), [""; 0]);
}
