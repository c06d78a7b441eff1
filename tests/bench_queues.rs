//! `mallbox bench queues`: the verdicts on each way, servers that are missing or hold data, and a bench that
//! is killed.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/bench_run.rs"]
mod bench_run;
#[path = "common/given_servers.rs"]
mod given_servers;
#[path = "common/process.rs"]
mod process;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use mallbox_test_patience::Deadline;
use serde_json::Value;
use tempfile::TempDir;

use bench_run::{ended, left_over, result, turn};
use given_servers::GivenServers;

/// Time limit for the begin of a bench, and for the removal of its files.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Returns a quick bench in a directory of its own.
fn bench(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = process::mallbox(&[&["bench", "queues", "--quick"], arguments].concat());
    command.current_dir(dir);
    command
}

/// Returns the verdicts of a result by way and question; each repetition has the same.
fn verdicts(result: &Value) -> BTreeMap<(String, String), String> {
    let verdicts = result["queues"]["verdicts"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    verdicts
        .map(|verdict| {
            assert_eq!(verdict["is_expected"], true, "{verdict}");
            let words: Vec<&String> = verdict["verdicts"].as_object().unwrap().keys().collect();
            ((text(&verdict["way"]), text(&verdict["question"])), words[0].clone())
        })
        .collect()
}

/// Checks verdicts: way, question, verdict.
fn check(verdicts: &BTreeMap<(String, String), String>, want: &[(&str, &str, &str)]) {
    for (way, question, want) in want {
        let found = verdicts.get(&((*way).to_owned(), (*question).to_owned()));
        assert_eq!(found.map(String::as_str), Some(*want), "{way}, {question}");
    }
}

/// Returns the processes of `mallbox` that work in a directory.
fn processes_in(dir: &Path) -> usize {
    let dir = dir.canonicalize().unwrap();
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let is_there = |process: &fs::DirEntry| {
        let line = fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
        line.contains("queues") && fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == dir)
    };
    entries.filter(is_there).count()
}

#[test]
fn without_servers_programs_are_named_and_ways_within_a_process_are_compared() {
    let _turn = turn();
    let (dir, nowhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let arguments = ["list", "table", "channel", "sled-log", "--repeat", "2", "--json", "a.json"];
    let mut all = bench(dir.path(), &arguments);
    all.env("PATH", nowhere.path());
    let (is_fine, text) = ended(all);
    assert!(is_fine, "{text}");
    for words in [
        "redis-server is not installed: list left out",
        "mariadbd is not installed: table left out",
        "lost and repeated messages",
        "the result is in a.json",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let result = result(&dir.path().join("a.json"));
    assert_eq!((&result["kind"], &result["settings"]["repeat"]), (&"queues".into(), &2.into()));
    assert_eq!(result["settings"]["ways"], serde_json::json!(["channel", "sled-log"]));
    assert_eq!(result["warnings"][0]["code"], "left_out");
    assert_eq!(result["queues"]["verdicts"][0]["verdicts"], serde_json::json!({"kept": 2}));
    check(
        &verdicts(&result),
        &[
            ("channel", "full", "waits"),
            ("channel", "sharing", "one each"),
            ("channel", "killed_at_work", "loses 5"),
            ("channel", "broker_always", "loses 100"),
            ("sled-log", "full", "refuses"),
            ("sled-log", "killed_at_work", "repeats 1"),
            ("sled-log", "broker_always", "nothing"),
        ],
    );
    assert_eq!(left_over(dir.path()), [""; 0]);
    let mut list = bench(dir.path(), &["list"]);
    list.env("PATH", nowhere.path());
    let (is_fine, text) = ended(list);
    assert!(!is_fine && text.contains("redis-server is not installed: list left out; install it"), "{text}");
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn ways_on_servers_reach_their_verdicts() {
    let _turn = turn();
    let dir = TempDir::new().unwrap();
    let ways = ["list", "pub-sub", "stream", "group", "noack", "redis-log", "table"];
    let (is_fine, text) = ended(bench(dir.path(), &[&ways[..], &["--json", "a.json"]].concat()));
    assert!(is_fine, "{text}");
    let result = result(&dir.path().join("a.json"));
    check(
        &verdicts(&result),
        &[
            ("list", "killed_at_work", "loses 1"),
            ("list", "full", "refuses"),
            ("list", "replay", "none"),
            ("list", "broker_without_log", "loses 100"),
            ("list", "broker_always", "nothing"),
            ("pub-sub", "sharing", "all to both"),
            ("pub-sub", "killed_at_work", "loses 7"),
            ("pub-sub", "full", "cuts off"),
            ("stream", "backlog", "keeps 1"),
            ("stream", "replay", "from any"),
            ("group", "order_of_two", "overtaken"),
            ("group", "killed_at_work", "repeats 1"),
            ("group", "full_length", "drops oldest"),
            ("noack", "killed_at_work", "loses 1"),
            ("noack", "killed_before_ack", "nothing"),
            ("redis-log", "killed_before_ack", "repeats 1"),
            ("redis-log", "broker_always", "nothing"),
            ("table", "sharing", "one each"),
            ("table", "killed_at_work", "repeats 1"),
            ("table", "broker_always", "nothing"),
        ],
    );
    let speeds = result["queues"]["speeds"].as_array().unwrap();
    for way in ways {
        let of_way: Vec<&Value> = speeds.iter().filter(|speed| speed["way"] == way).collect();
        assert!(!of_way.is_empty(), "{way} has no throughput");
        for speed in of_way {
            assert!(speed["sent_per_s"].is_number() && speed["received_per_s"].is_number(), "{speed}");
            assert!(speed["p50_us"].as_f64() <= speed["p99_us"].as_f64(), "{speed}");
            assert!(way == "stream" || speed["paced"] == speed["paced_received"], "{speed}");
        }
    }
    assert_eq!(left_over(dir.path()), [""; 0]);
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_killed_bench_leaves_no_process_and_no_file() {
    let _turn = turn();
    let dir = TempDir::new().unwrap();
    let mut command = bench(dir.path(), &["pub-sub", "--repeat", "50"]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Deadline::after(TIMEOUT);
    while processes_in(dir.path()) < 3 {
        assert!(!deadline.is_over() && run.try_wait().unwrap().is_none(), "no consumer was started");
        std::thread::sleep(Duration::from_millis(5));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let deadline = Deadline::after(TIMEOUT);
    while processes_in(dir.path()) > 0 || !left_over(dir.path()).is_empty() {
        let left = (processes_in(dir.path()), left_over(dir.path()));
        assert!(!deadline.is_over(), "a killed bench left {left:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
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
    let run = || {
        let mut command = bench(dir.path(), &["group", "redis-log", "table", "--json", "a.json"]);
        command.args(&flags);
        ended(command)
    };
    servers.put_key().await;
    let (is_fine, text) = run();
    assert!(!is_fine && text.contains("Redis holds 1 keys; the bench needs an empty server"), "{text}");
    servers.take_key().await;
    let (is_fine, text) = run();
    assert!(is_fine && text.contains("no broker is killed"), "{text}");
    let verdicts = verdicts(&result(&dir.path().join("a.json")));
    check(
        &verdicts,
        &[
            ("group", "killed_at_work", "repeats 1"),
            ("redis-log", "killed_at_work", "repeats 1"),
            ("table", "sharing", "one each"),
        ],
    );
    assert!(verdicts.keys().all(|(_, question)| !question.starts_with("broker")), "{verdicts:?}");
    servers.are_empty().await;
    assert_eq!(left_over(dir.path()), [""; 0]);
}
