//! `mallbox bench compare`: what it finds on each system, and what it says when a system cannot be compared.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/process.rs"]
mod process;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use mallbox_test_foreign_mall::{DIALECT, Fault, ForeignMall, Options};
use mallbox_test_patience::Deadline;
use mallbox_test_servers::{MariaDb, Redis};
use process::mallbox;
use serde_json::Value;
use tempfile::TempDir;

/// A single short round.
const SHORT: [&str; 6] = ["--rounds", "1", "--span", "1", "--connections", "8"];
/// Users of a small mall.
const FEW: &str = "200";

/// A directory to compare in, and its result.
struct Bench {
    dir: TempDir,
}

/// How a comparison ended.
struct Ended {
    is_fine: bool,
    /// Everything printed.
    text: String,
    /// The result; null without one.
    result: Value,
}

impl Bench {
    fn new() -> Self {
        // Not in /tmp: the data of servers belongs on a disk.
        Self { dir: TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap() }
    }

    fn command(&self, users: &str, arguments: &[&str]) -> Command {
        let (bench, further) = (["bench", "compare"], ["--users", users, "--json", "r.json"]);
        let mut command = mallbox(&[&bench, arguments, &SHORT, &further].concat());
        command.current_dir(self.dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        self.ended(self.command(FEW, arguments).spawn().unwrap())
    }

    fn ended(&self, child: std::process::Child) -> Ended {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let file = self.dir.path().join("r.json");
        let result =
            fs::read_to_string(&file).map_or(Value::Null, |json| serde_json::from_str(&json).unwrap());
        // The next run of the test writes it anew.
        let _ = fs::remove_file(file);
        Ended { is_fine: output.status.success(), text, result }
    }

    /// Waits for the directory of a server with a file.
    fn server(&self, file: &str) -> PathBuf {
        let limit = Deadline::after(Duration::from_secs(60));
        loop {
            if let Some(dir) = self.left().into_iter().find(|dir| dir.join(file).exists()) {
                return dir;
            }
            assert!(!limit.is_over(), "no server has a {file}");
            sleep(Duration::from_millis(20));
        }
    }

    /// Returns what lies in the directory beside the result.
    fn left(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_none_or(|extension| extension != "json")).collect()
    }
}

impl Ended {
    fn run(&self, system: &str, workload: &str) -> &Value {
        let runs = self.result["runs"].as_array().unwrap();
        let is_it = |run: &&Value| run["system"] == system && run["workload"] == workload;
        runs.iter().find(is_it).unwrap_or_else(|| panic!("{system}, {workload}: {}", self.text))
    }

    fn class(&self, system: &str) -> &Value {
        let systems = self.result["systems"].as_array().unwrap();
        &systems.iter().find(|one| one["id"] == system).unwrap()["class"]
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_directory_has_every_workload_and_loses_nothing_by_a_kill() {
    let bench = Bench::new();
    let ended = bench.run(&["directory", "directory-process"]);
    assert!(ended.is_fine, "{}", ended.text);
    for workload in ["browse", "feed", "sign-in morning", "mixed day", "flash sale", "sold out"] {
        for system in ["directory", "directory-process"] {
            let run = ended.run(system, workload);
            assert!(run["answers"]["accepted"].as_u64().unwrap() > 0, "{run}");
            assert!(run["cost"]["cpu_us_per_operation"].as_f64().unwrap() > 0.0, "{run}");
            let ratio = run["cost"]["cpu_ratio_persisted"].as_f64();
            assert_eq!(ratio.is_some_and(|ratio| ratio > 0.0), workload == "flash sale", "{run}");
            for unexpected in ["refused", "rejected", "lost"] {
                assert_eq!(run["answers"][unexpected], 0, "{run}");
            }
        }
    }
    let sign_ins = ended.run("directory", "sign-in morning");
    assert!(sign_ins["answers"]["accepted"].as_u64().unwrap() <= 400, "{sign_ins}");
    let sale = ended.run("directory", "flash sale");
    assert_eq!((&sale["books"]["balance"], &sale["books"]["lost_after_kill"]), (&true.into(), &0.into()));
    assert!(sale["rates"]["persisted_per_s"].as_f64().unwrap() > 0.0, "{sale}");
    // One user in twenty gets a unit, and nobody a second one.
    let scarce = ended.run("directory", "sold out");
    assert_eq!(scarce["answers"]["accepted"], 10, "{scarce}");
    assert_eq!((&scarce["books"]["oversold"], &scarce["books"]["bought_twice"]), (&0.into(), &0.into()));
    let class = ended.class("directory");
    assert_eq!((&class["durable"], &class["exactly_once_after_kill"]), (&"power".into(), &true.into()));
    assert_eq!(ended.class("directory-process")["durable"], "process");
    assert!(ended.text.contains("not ranked against each other"), "{}", ended.text);
    assert_eq!(bench.left(), <[PathBuf; 0]>::default());
}

#[test]
fn a_single_read_is_compared_with_a_bare_handler() {
    let bench = Bench::new();
    let calls = "sale-page,hot-notes,shops-nearby,shop";
    let ended = bench.run(&["directory", "--workload", calls, "--no-kill"]);
    assert!(ended.is_fine, "{}", ended.text);
    for workload in ["shop", "shops nearby", "hot notes", "sale page"] {
        let run = ended.run("directory", workload);
        assert!(run["answers"]["accepted"].as_u64().unwrap() > 0, "{run}");
        assert!(run["ceiling_per_s"]["before"].as_f64().unwrap() > 0.0, "{run}");
        assert!(run["cost"]["cpu_ratio"].as_f64().unwrap() > 0.0, "{run}");
        assert_eq!(
            (&run["answers"]["rejected"], &run["answers"]["refused"]),
            (&0.into(), &0.into()),
            "{run}"
        );
    }
    assert!(
        ended.text.contains("% of the bare handler") && ended.text.contains("CPU ratio"),
        "{}",
        ended.text
    );
}

#[test]
fn a_mall_of_others_that_oversells_is_named() {
    let (bench, mall) = (
        Bench::new(),
        ForeignMall::start(&Options { units: 50, fault: Fault::Oversells, ..Options::default() }),
    );
    fs::write(bench.dir.path().join("dialect.json"), DIALECT).unwrap();
    let file = bench.dir.path().join("mall.json");
    let text = format!(
        "name = 'theirs'\ntarget = '{}'\ndialect = 'dialect.json'\nvouchers = [7]\nunits = 50\nusers = 120\n\
         processes = [{}]\ndurable = 'memory'\nsettle-seconds = 1\n",
        mall.url(),
        std::process::id()
    );
    fs::write(&file, &text).unwrap();
    let quick = ["directory", "--workload", "sold-out", "--no-kill", "--foreign", path(&file)];
    let ended = bench.run(&quick);
    assert!(
        !ended.is_fine && ended.text.contains("! OVERSOLD: 10 units more than there were"),
        "{}",
        ended.text
    );
    // Fewer units than claims: not the workload in which every claim gets one.
    let sale = ended.run("theirs", "sold out");
    assert_eq!((&sale["books"]["oversold"], &sale["answers"]["accepted"]), (&10.into(), &60.into()));
    assert!(sale["cost"]["memory_bytes"].as_u64().unwrap() > 0, "{sale}");
    assert_eq!(ended.class("theirs")["durable"], "memory");
    assert!(ended.run("directory", "sold out")["books"]["balance"].as_bool().unwrap());
    let warnings = ended.result["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["code"] == "system_wrong"), "{warnings:?}");
    // Each round needs a sale with all its units.
    let rounds = ["bench", "compare", "directory", "--rounds", "2", "--foreign", path(&file)];
    let refused = mallbox(&rounds).output().unwrap();
    let refusal = String::from_utf8(refused.stderr).unwrap();
    assert!(refusal.contains("theirs: 1 vouchers for 2 rounds"), "{refusal}");
}

#[test]
fn servers_that_are_not_installed_are_left_out_aloud() {
    let bench = Bench::new();
    let run = |systems: &[&str]| {
        let quick = ["--workload", "sold-out", "--no-kill"];
        let mut command = bench.command(FEW, &[systems, &quick].concat());
        bench.ended(command.env("PATH", "/nowhere").spawn().unwrap())
    };
    let ended = run(&["redis-no", "directory", "redis-cluster"]);
    let words = "redis-server and mariadbd not installed: redis-no, redis-cluster left out";
    assert!(ended.text.contains(words), "{}", ended.text);
    assert_eq!(ended.result["warnings"][0]["code"], "left_out");
    assert_eq!(ended.run("directory", "sold out")["answers"]["accepted"], 10);
    assert!(ended.is_fine, "{}", ended.text);
    let refused = run(&["redis-no"]);
    assert!(!refused.is_fine && refused.text.contains("no other system is named"), "{}", refused.text);
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn redis_without_a_file_loses_claims_and_redis_with_one_does_not() {
    let bench = Bench::new();
    // Users enough for claims that are not yet in the database when everything is killed.
    let systems = ["redis-always", "redis-no", "--workload", "flash-sale,sold-out"];
    let ended = bench.ended(bench.command("3000", &systems).spawn().unwrap());
    assert!(ended.is_fine, "{}", ended.text);
    for (system, durable) in [("redis-always", "power"), ("redis-no", "memory")] {
        assert_eq!(ended.class(system)["durable"], durable);
        let sale = ended.run(system, "flash sale");
        assert_eq!(sale["books"]["balance"], true, "{sale}");
        assert!(sale["cost"]["memory_bytes"].as_u64().unwrap() > 50 << 20, "{sale}");
    }
    assert_eq!(ended.run("redis-always", "flash sale")["books"]["lost_after_kill"], 0);
    assert_eq!(ended.class("redis-always")["exactly_once_after_kill"], true);
    let lost = ended.run("redis-no", "flash sale")["books"]["lost_after_kill"].as_u64().unwrap();
    assert!(lost > 0, "{}", ended.text);
    assert_eq!(ended.class("redis-no")["exactly_once_after_kill"], false);
    assert_eq!(bench.left(), <[PathBuf; 0]>::default());
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_server_that_dies_ends_the_round_of_its_system_only() {
    let bench = Bench::new();
    let systems = ["redis-no", "directory", "--workload", "browse"];
    let child = bench.command(FEW, &systems).spawn().unwrap();
    // Redis is up once MariaDB starts.
    bench.server("mariadbd.log");
    let redis = fs::read_to_string(bench.server("redis-server.log").join("server.pid")).unwrap();
    let killed = Command::new("kill").args(["-KILL", redis.trim()]).status().unwrap();
    assert!(killed.success());
    let ended = bench.ended(child);
    assert!(!ended.is_fine && ended.text.contains("! start failed: "), "{}", ended.text);
    assert!(ended.run("redis-no", "start")["failure"].is_string());
    assert!(ended.run("directory", "browse")["failure"].is_null());
    assert_eq!(bench.left(), <[PathBuf; 0]>::default());
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn given_servers_must_be_empty_and_are_left_as_they_were() {
    let (bench, redis, mariadb) = (Bench::new(), Redis::start().unwrap(), MariaDb::start().unwrap());
    let (redis, mysql) = (redis.url(), mariadb.url("empty"));
    let run = |mysql: &str, further: &[&str]| {
        let servers = ["--redis", &redis, "--mysql", mysql, "--workload", "sold-out", "--no-kill"];
        bench.run(&[&["directory"], &servers[..], further].concat())
    };
    let unconfirmed = run(&mysql, &[]);
    assert!(unconfirmed.text.contains("--may-destroy-data"), "{}", unconfirmed.text);
    let ended = run(&mysql, &["--may-destroy-data"]);
    assert!(ended.is_fine, "{}", ended.text);
    let sale = ended.run("servers", "sold out");
    assert_eq!((&sale["answers"]["accepted"], &sale["cost"]["memory_bytes"]), (&10.into(), &Value::Null));
    let again = run(&mysql, &["--may-destroy-data"]);
    assert!(again.is_fine, "the first run left something: {}", again.text);
    let full = run(&mariadb.url("mysql"), &["--may-destroy-data"]);
    assert!(
        !full.is_fine && full.text.contains("the servers are not empty: 0 keys in Redis"),
        "{}",
        full.text
    );
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn nothing_outlives_a_bench_that_is_killed_or_interrupted() {
    for signal in ["KILL", "TERM"] {
        let bench = Bench::new();
        let systems = ["redis-no", "directory", "--workload", "browse", "--no-kill"];
        let mut child = bench.command(FEW, &systems).spawn().unwrap();
        bench.server("mariadbd.log");
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        assert!(!child.wait().unwrap().success());
        let limit = Deadline::after(Duration::from_secs(30));
        // Every process of the bench names its directory, as argument or as working directory.
        while !processes_in(bench.dir.path()).is_empty() || (signal == "TERM" && !bench.left().is_empty()) {
            let left = (processes_in(bench.dir.path()), bench.left());
            assert!(!limit.is_over(), "after SIG{signal}: {left:?}");
            sleep(Duration::from_millis(100));
        }
    }
}

/// Returns the processes that work in a directory.
fn processes_in(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|process| fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(dir)))
        .collect()
}
