//! `mallbox bench feed` and `mallbox bench cache`: the verdicts on each way, servers that are missing or hold
//! data.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/bench_run.rs"]
mod bench_run;
#[path = "common/given_servers.rs"]
mod given_servers;
#[path = "common/process.rs"]
mod process;

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use bench_run::{ended, left_over, result, turn};
use given_servers::GivenServers;

/// Returns a quick bench in a directory of its own.
fn bench(dir: &Path, kind: &str, arguments: &[&str]) -> Command {
    let mut command = process::mallbox(&[&["bench", kind, "--quick"], arguments].concat());
    command.current_dir(dir);
    command
}

/// Checks that a section has these verdicts, and that all were expected: way, question, verdict.
fn check(section: &Value, want: &[(&str, &str, &str)]) {
    let verdicts = section["verdicts"].as_array().unwrap();
    assert!(verdicts.iter().all(|verdict| verdict["is_expected"] == true), "{verdicts:#?}");
    for (way, question, words) in want {
        let is_it = |verdict: &&Value| verdict["way"] == *way && verdict["question"] == *question;
        let found = verdicts.iter().find(is_it).unwrap_or_else(|| panic!("no verdict: {way}, {question}"));
        let keys: Vec<&String> = found["verdicts"].as_object().unwrap().keys().collect();
        assert_eq!(keys, [words], "{way}, {question}");
    }
}

/// Checks that every way has costs whose figures are positive.
fn check_costs(section: &Value, ways: usize, figures: &[&str]) {
    let costs = section["costs"].as_array().unwrap();
    let mut names: Vec<&str> = costs.iter().map(|cost| cost["way"].as_str().unwrap()).collect();
    names.dedup();
    assert_eq!(names.len(), ways, "{names:?}");
    for cost in costs {
        assert!(figures.iter().all(|figure| cost[*figure].as_f64() > Some(0.0)), "{cost}");
    }
}

#[test]
fn without_servers_mallbox_in_a_directory_is_compared() {
    let _turn = turn();
    let (dir, nowhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    for (kind, section, absent, want) in [
        (
            "feed",
            "feeds",
            "pull, mallbox-servers",
            ("mallbox-directory", "writer_killed", "all see it later"),
        ),
        ("cache", "caches", "aside, mallbox-servers", ("mallbox-directory", "write_in_read", "new value")),
    ] {
        let file = format!("{kind}.json");
        let first = absent.split(", ").next().unwrap();
        let ways = [first, "mallbox-directory", "mallbox-servers", "--repeat", "2", "--json", &file];
        let mut command = bench(dir.path(), kind, &ways);
        command.env("PATH", nowhere.path());
        let (is_fine, text) = ended(command);
        let sentence = format!("redis-server is not installed: {absent} left out");
        assert!(is_fine && text.contains(&sentence), "{text}");
        let result = result(&dir.path().join(&file));
        assert_eq!(result["settings"]["ways"], serde_json::json!(["mallbox-directory"]));
        assert_eq!((&result["kind"], &result["warnings"][0]["code"]), (&kind.into(), &"left_out".into()));
        check(&result[section], &[want]);
        assert_eq!(
            result[section]["verdicts"][0]["verdicts"].as_object().unwrap().values().next(),
            Some(&2.into())
        );
        let mut none = bench(dir.path(), kind, &[first]);
        none.env("PATH", nowhere.path());
        let (is_fine, text) = ended(none);
        let sentence = format!("redis-server is not installed: {first} left out; install it");
        assert!(!is_fine && text.contains(&sentence), "{text}");
    }
    assert_eq!(left_over(dir.path()), [""; 0]);
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn feeds_on_servers_reach_their_verdicts() {
    let _turn = turn();
    let dir = TempDir::new().unwrap();
    let (is_fine, text) = ended(bench(dir.path(), "feed", &["--json", "a.json"]));
    assert!(is_fine, "{text}");
    let section = &result(&dir.path().join("a.json"))["feeds"];
    check(
        section,
        &[
            ("pull", "followed_late", "30 of 30"),
            ("pull", "deleted", "10 notes"),
            ("push", "followed_late", "0 of 30"),
            ("push", "unfollowed", "stay"),
            ("push", "writer_killed", "nobody sees it"),
            ("hybrid", "writer_killed", "nobody sees it"),
            ("mallbox-servers", "unfollowed", "gone"),
            ("mallbox-servers", "writer_killed", "all see it later"),
        ],
    );
    check_costs(section, 5, &["fans", "notes", "write_us", "pages_per_s", "page_p50_us", "page_p99_us"]);
    let push = section["costs"].as_array().unwrap().iter().filter(|cost| cost["way"] == "push");
    let bytes: Vec<f64> = push.map(|cost| cost["redis_bytes_per_note"].as_f64().unwrap()).collect();
    assert!(bytes[1] > 10.0 * bytes[0], "a hundred times as many inboxes: {bytes:?}");
    assert_eq!(left_over(dir.path()), [""; 0]);
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn caches_on_servers_reach_their_verdicts() {
    let _turn = turn();
    let dir = TempDir::new().unwrap();
    let (is_fine, text) = ended(bench(dir.path(), "cache", &["--json", "a.json"]));
    assert!(is_fine, "{text}");
    let section = &result(&dir.path().join("a.json"))["caches"];
    check(
        section,
        &[
            ("none", "absent", "100 of 100"),
            ("aside", "hot_expired", "each loads"),
            ("aside", "write_in_read", "old value stays"),
            ("delete-first", "read_in_write", "old value stays"),
            ("double-delete", "write_in_read", "new value"),
            ("null-value", "absent", "10 of 100"),
            ("bloom", "absent", "0 of 100"),
            ("jitter", "filled_together", "spread"),
            ("mutex", "hot_expired", "one loads"),
            ("mutex", "holder_killed", "wait for its end"),
            ("logical-expiry", "while_loading", "old value at once"),
            ("mallbox-servers", "write_in_read", "new value"),
            ("mallbox-servers", "holder_killed", "go on"),
        ],
    );
    check_costs(section, 11, &["reads_per_s", "p50_us", "p99_us"]);
    assert_eq!(left_over(dir.path()), [""; 0]);
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
    let run = |kind: &str, ways: &[&str]| {
        let mut command = bench(dir.path(), kind, ways);
        command.args(&flags);
        ended(command)
    };
    servers.put_key().await;
    let (is_fine, text) = run("cache", &["aside"]);
    assert!(!is_fine && text.contains("Redis holds 1 keys; the bench needs an empty server"), "{text}");
    servers.take_key().await;
    for (kind, ways) in
        [("cache", ["aside", "mutex", "mallbox-servers"]), ("feed", ["pull", "hybrid", "mallbox-servers"])]
    {
        let (is_fine, text) = run(kind, &ways);
        assert!(is_fine, "{text}");
        servers.are_empty().await;
    }
    assert_eq!(left_over(dir.path()), [""; 0]);
}
