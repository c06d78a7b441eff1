//! `mallbox bench ladder` and `mallbox learn`: verdicts on real servers, what a killed run leaves, and who
//! may use the page.
#![cfg(feature = "ladder")]
#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/process.rs"]
mod process;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use mallbox_test_patience::Deadline;
use mallbox_test_servers::{MariaDb, Redis};
use mysql_async::prelude::Queryable as _;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Time limit for something to begin or to be gone, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(50);

/// Returns a run without a measurement of rates, in a directory of its own.
fn ladder(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = process::mallbox(&[&["bench", "ladder", "--span", "0"], arguments].concat());
    command.current_dir(dir);
    command
}

fn ended(mut command: Command) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

/// Returns the verdict of a rung under a trigger.
fn case<'r>(result: &'r Value, rung: &str, trigger: &str) -> &'r Value {
    let rungs = result["rungs"].as_array().unwrap();
    let rung = rungs.iter().find(|one| one["id"] == rung).unwrap();
    rung["cases"].as_array().unwrap().iter().find(|case| case["trigger"] == trigger).unwrap()
}

/// Returns what lies in a directory beside the results.
fn left_over(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.contains(".json")).collect()
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn wrong_rungs_fail_under_their_trigger_and_right_ones_pass() {
    let dir = TempDir::new().unwrap();
    let rungs = ["0b", "1", "6b", "8", "9e", "11", "13"];
    let (code, text) = ended(ladder(dir.path(), &[&rungs[..], &["--json", "a.json"]].concat()));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("Every verdict is the expected one."), "{text}");
    let result = fs::read_to_string(dir.path().join("a.json")).unwrap();
    let result: Value = serde_json::from_str(&result).unwrap();
    assert_eq!(result["kind"], "ladder");
    for (rung, trigger, failures) in [
        ("1", "three_at_once", &["bought_twice", "oversold"][..]),
        ("6b", "stopped_before_release", &["bought_twice"]),
        ("8", "stopped_before_write", &["bought_twice"]),
        ("8", "stopped_before_release", &[]),
        ("9e", "stopped_before_write", &[]),
        ("11", "killed", &[]),
        ("13", "three_at_once", &[]),
        ("13", "killed", &[]),
        ("0b", "returned", &["books_off", "refused_while_left"]),
    ] {
        let case = case(&result, rung, trigger);
        let seen: BTreeSet<&str> = case["seen"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(seen, failures.iter().copied().collect(), "{rung} {trigger}: {text}");
        assert_eq!(case["as_expected"], true, "{rung} {trigger}: {text}");
        let story = case["story"].as_array().unwrap();
        assert!(story.len() > 1, "{rung} {trigger} tells nothing: {case}");
        assert_eq!(case["mistake"].is_null(), failures.is_empty(), "{rung} {trigger}: {case}");
    }
    // The decisive moment of a lock that is deleted blindly: the late holder deletes another one's.
    let blind = case(&result, "6b", "stopped_before_release");
    let moment = &blind["story"][usize::try_from(blind["mistake"].as_u64().unwrap()).unwrap()];
    assert_eq!(
        (&moment["kind"]["text"], &moment["kind"]["result"]),
        (&"DEL lock:order:1".into(), &"1".into())
    );
    assert_eq!(left_over(dir.path()), [""; 0]);
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn servers_that_are_given_are_left_empty_and_full_ones_are_refused() {
    let (dir, redis, mariadb) = (TempDir::new().unwrap(), Redis::start().unwrap(), MariaDb::start().unwrap());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sql = |statement: &'static str| {
        runtime.block_on(async {
            let opts = mysql_async::Opts::from_url(&mariadb.url("mysql")).unwrap();
            let mut connection = mysql_async::Conn::new(opts).await.unwrap();
            let rows: Vec<String> = connection.query(statement).await.unwrap();
            connection.disconnect().await.unwrap();
            rows
        })
    };
    sql("CREATE DATABASE given");
    let (redis_url, mysql) = (redis.url(), mariadb.url("given"));
    let servers = ["--redis", &redis_url, "--mysql", &mysql, "--may-destroy-data"];
    let (code, text) = ended(ladder(dir.path(), &[&["8"], &servers[..]].concat()));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("what needs a failover or further servers is left out"), "{text}");
    assert!(text.contains("stopped-before-write    bought twice (1 of 1)"), "{text}");
    assert!(!text.contains("failed-over"), "{text}");
    assert_eq!(sql("SHOW TABLES IN given"), [""; 0]);
    sql("CREATE TABLE given.kept (id INT)");
    let (code, text) = ended(ladder(dir.path(), &[&["8"], &servers[..]].concat()));
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("the database of --mysql holds 1 tables; pass an empty or a new database"),
        "{text}"
    );
    assert_eq!(sql("SHOW TABLES IN given"), ["kept"]);
}

#[test]
fn a_missing_server_is_named() {
    let (dir, nowhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut command = ladder(dir.path(), &["1"]);
    command.env("PATH", nowhere.path());
    let (code, text) = ended(command);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("redis-server is not installed; install it, or pass --redis URL"), "{text}");
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_killed_run_leaves_no_process_and_no_file() {
    let dir = TempDir::new().unwrap();
    let mut run = ladder(dir.path(), &["8", "--trigger", "stopped-before-write", "--repeat", "100"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let below = || processes(dir.path());
    let wait = |what: &str, is_so: &dyn Fn() -> bool| {
        let deadline = Deadline::after(PATIENCE);
        while !is_so() {
            assert!(!deadline.is_over(), "{what}: {:?}", below());
            std::thread::sleep(PAUSE);
        }
    };
    // One of the two instances is stopped, and would not notice the end of its input.
    let is_stopped = |(name, state): &(String, char)| name == "mallbox" && *state == 'T';
    wait("no instance was stopped", &|| below().iter().any(is_stopped));
    run.kill().unwrap();
    run.wait().unwrap();
    wait("processes are left", &|| below().is_empty());
    wait("files are left", &|| left_over(dir.path()).is_empty());
}

/// Returns name and state of each process whose working directory is in `dir`.
fn processes(dir: &Path) -> Vec<(String, char)> {
    processes_with_id(dir).map(|(_, name, state)| (name, state)).collect()
}

fn processes_with_id(dir: &Path) -> impl Iterator<Item = (String, String, char)> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(move |entry| {
        let place = fs::read_link(entry.path().join("cwd")).ok()?;
        let status = fs::read_to_string(entry.path().join("status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let found = (field("Pid:")?.to_owned(), field("Name:")?.to_owned(), field("State:")?.chars().next()?);
        (place.starts_with(dir) && found.2 != 'Z').then_some(found)
    })
}

/// Sends a signal to the processes of a name whose working directory is in `dir`. Returns their number.
fn signal(dir: &Path, name: &str, signal: &str) -> usize {
    let ids = processes_with_id(dir).filter(|(_, found, _)| found == name).map(|(id, ..)| id);
    ids.filter(|id| Command::new("kill").args(["-s", signal, id]).status().unwrap().success()).count()
}

/// A running `mallbox learn`.
struct Learn {
    child: Child,
    address: String,
    key: String,
    dir: TempDir,
}

impl Drop for Learn {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Learn {
    fn start(path: Option<&Path>) -> Self {
        let dir = TempDir::new().unwrap();
        let mut command = process::mallbox(&["learn", "--lang", "en"]);
        command.current_dir(dir.path()).stdout(Stdio::piped());
        if let Some(path) = path {
            command.env("PATH", path);
        }
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("open http://").unwrap();
        let (address, key) = url.split_once("/#key=").unwrap();
        let (address, key) = (address.to_owned(), key.to_owned());
        Self { child, address, key, dir }
    }

    /// Sends a request with the headers given. Returns the status and the body.
    fn send(&self, start: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let host = if headers.iter().any(|(name, _)| *name == "host") { "" } else { &self.address };
        let host = if host.is_empty() { String::new() } else { format!("host: {host}\r\n") };
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let text = format!(
            "{start} HTTP/1.1\r\n{host}{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let status = response.split(' ').nth(1).unwrap().parse().unwrap();
        let body = response.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        (status, body.unwrap_or_default())
    }

    fn call(&self, start: &str, body: &str) -> (u16, String) {
        self.send(start, &[("x-learn-key", &self.key)], body)
    }

    /// Waits for a state of the newest job.
    fn job(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let deadline = Deadline::after(PATIENCE);
        loop {
            let job = serde_json::from_str(&self.call("GET /api/learn/job", "").1).unwrap();
            if is_so(&job) {
                return job;
            }
            assert!(!deadline.is_over(), "{what}: {job}");
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits for the end of the newest job.
    fn ended(&self, what: &str) -> Value {
        self.job(what, |job| job["state"] != "running")
    }

    /// Starts a comparison of queues, and waits until `steps` steps are over.
    fn compare(&self, steps: u64) {
        assert_eq!(self.call("POST /api/learn/job", r#"{"comparison":"queues"}"#).0, 202);
        let is_there = |job: &Value| !job["doing"].is_null() && job["done"].as_u64() >= Some(steps);
        let job = self.job("the comparison does not begin", is_there);
        assert_eq!((&job["comparison"], &job["rungs"]), (&"queues".into(), &json!([])));
        assert_eq!((&job["total"], &job["doing"]["way"]), (&80.into(), &"list".into()), "{job}");
    }

    /// Fails if servers, stations or files of a comparison are left.
    fn runs_nothing(&self) {
        let names: Vec<String> = processes(self.dir.path()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["mallbox"], "only the page's own server stays");
        assert_eq!(left_over(self.dir.path()), [""; 0]);
    }
}

#[test]
fn the_page_is_for_whoever_has_its_key_and_runs_nothing_without_servers() {
    let nowhere = TempDir::new().unwrap();
    let learn = Learn::start(Some(nowhere.path()));
    let (status, page) = learn.send("GET /", &[], "");
    assert!(status == 200 && page.contains("learn/main.js"), "{status} {page}");
    assert_eq!(learn.send("GET /api/learn", &[], "").0, 401);
    assert_eq!(learn.send("GET /api/learn", &[("x-learn-key", "guessed")], "").0, 401);
    assert_eq!(learn.send("GET /", &[("host", "evil.example")], "").0, 403);
    let foreign = [("x-learn-key", &*learn.key), ("origin", "http://evil.example")];
    assert_eq!(learn.send("POST /api/learn/job", &foreign, r#"{"rungs":["1"]}"#).0, 403);
    assert_eq!(learn.send("POST /", &[], "").0, 405);
    let (status, body) = learn.call("GET /api/learn", "");
    let overview: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &overview["missing"]), (200, &json!(["redis-server", "mariadbd"])));
    let rungs = overview["rungs"].as_array().unwrap();
    assert_eq!(rungs.len(), 27, "{body}");
    for rung in rungs {
        let (source, file) = (rung["source"].as_str().unwrap(), rung["file"].as_str().unwrap());
        let kept = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        assert_eq!(source, kept, "{file}");
    }
    let comparisons = overview["comparisons"].as_array().unwrap();
    let names: Vec<&Value> = comparisons.iter().map(|comparison| &comparison["name"]).collect();
    assert_eq!(names, ["queues", "feeds", "caches"], "{body}");
    assert_eq!(comparisons[0]["ways"][0], json!({"way": "list", "about": "Redis list: LPUSH, BRPOP"}));
    assert_eq!(comparisons[0]["section"], Value::Null);
    assert_eq!(learn.call("GET /api/learn/job", "").0, 404);
    for (order, status, words) in [
        (r#"{"rungs":["1"]}"#, 503, "redis-server"),
        (r#"{"rungs":["99"]}"#, 400, "no rung \"99\""),
        (r#"{"rungs":[]}"#, 400, "name at least one"),
        (r#"{"rungs":["1"],"repeat":0}"#, 400, "1 to 20"),
        (r#"{"rungs":["1"],"repeat":21}"#, 400, "1 to 20"),
        (r#"{"rungs":["1"],"speed":1}"#, 400, "unknown field `speed`"),
        ("nothing", 400, "not an order for a job"),
        ("{}", 400, "neither rungs nor a comparison"),
        (r#"{"rungs":["1"],"comparison":"queues"}"#, 400, "both rungs and a comparison"),
        (r#"{"comparison":"taxis"}"#, 400, "no comparison \"taxis\"; there are: queues, feeds, caches"),
        (r#"{"comparison":"queues","repeat":2}"#, 400, "a comparison runs once"),
        (r#"{"comparison":"queues"}"#, 503, "redis-server"),
    ] {
        let (found, body) = learn.call("POST /api/learn/job", order);
        assert!(found == status && body.contains(words), "{order}: {found} {body}");
    }
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_button_of_the_page_runs_a_rung_and_one_job_at_a_time() {
    let learn = Learn::start(None);
    let (status, body) = learn.call("POST /api/learn/job", r#"{"rungs":["6","1"]}"#);
    assert_eq!(status, 202, "{body}");
    assert_eq!(learn.call("POST /api/learn/job", r#"{"rungs":["2"]}"#).0, 409);
    let done = learn.ended("the job does not end");
    assert_eq!(
        (&done["state"], &done["done"], &done["total"]),
        (&"done".into(), &11.into(), &11.into()),
        "{done}"
    );
    assert_eq!(done["reports"].as_array().unwrap().len(), 2);
    let killed = case(&json!({"rungs": done["reports"]}), "6", "killed").clone();
    assert_eq!(killed["seen"], json!({"stuck": {"runs": 1, "most": 1}}));
    // The next job uses the servers that are up, and can be cancelled.
    assert_eq!(learn.call("POST /api/learn/job", r#"{"rungs":["8","9"],"repeat":5}"#).0, 202);
    assert_eq!(learn.call("DELETE /api/learn/job", "").0, 204);
    assert_eq!(learn.ended("the job is not cancelled")["state"], "cancelled");
    let overview: Value = serde_json::from_str(&learn.call("GET /api/learn", "").1).unwrap();
    assert_eq!(overview["reports"].as_array().unwrap().len(), 2, "a cancelled job reports nothing");
    let Learn { ref dir, .. } = learn;
    assert!(!left_over(dir.path()).is_empty(), "the servers keep their data here");
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_comparison_is_a_job_that_leaves_nothing_however_it_ends() {
    let learn = Learn::start(None);
    learn.compare(1);
    assert_eq!(learn.call("POST /api/learn/job", r#"{"rungs":["2"]}"#).0, 409);
    assert_eq!(learn.call("DELETE /api/learn/job", "").0, 204);
    assert_eq!(learn.ended("the comparison is not cancelled")["state"], "cancelled");
    learn.runs_nothing();
    // An error in the middle: the servers are gone.
    learn.compare(0);
    let killed = signal(learn.dir.path(), "redis-server", "KILL");
    assert_eq!(killed, 3);
    let failed = learn.ended("the comparison does not fail");
    assert_eq!(failed["state"], "failed", "{failed}");
    assert!(failed["error"].as_str().unwrap().starts_with("list: "), "{failed}");
    learn.runs_nothing();
    // To its end.
    assert_eq!(learn.call("POST /api/learn/job", r#"{"comparison":"feeds"}"#).0, 202);
    let done = learn.ended("the comparison does not end");
    assert_eq!((&done["state"], &done["done"]), (&"done".into(), &done["total"]), "{done}");
    let verdicts = done["section"]["verdicts"].as_array().unwrap();
    assert_eq!(verdicts.len(), 5 * 4, "five ways, four questions");
    assert!(verdicts.iter().all(|verdict| verdict["is_expected"] == true), "{done}");
    let overview: Value = serde_json::from_str(&learn.call("GET /api/learn", "").1).unwrap();
    assert_eq!(overview["comparisons"][1]["section"], done["section"]);
    learn.runs_nothing();
    // Ctrl-C.
    learn.compare(0);
    signal(learn.dir.path(), "mallbox", "INT");
    let deadline = Deadline::after(PATIENCE);
    while !processes(learn.dir.path()).is_empty() || !left_over(learn.dir.path()).is_empty() {
        let left = (processes(learn.dir.path()), left_over(learn.dir.path()));
        assert!(!deadline.is_over(), "Ctrl-C left {left:?}");
        std::thread::sleep(PAUSE);
    }
}

#[test]
fn a_mall_has_no_page_that_runs_the_ladder() {
    let dir = TempDir::new().unwrap();
    let data = dir.path().join("mall");
    let mut command =
        process::mallbox(&["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()]);
    let mut mall = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(mall.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut addresses = lines.filter_map(|line| {
        let rest = line.split_once("http://")?.1.to_owned();
        Some(rest.split(|sign: char| sign == '/' || sign.is_whitespace()).next()?.to_owned())
    });
    let address = addresses.next().unwrap();
    for path in ["/learn.html", "/mall/learn.html", "/api/learn", "/api/learn/job"] {
        let mut stream = TcpStream::connect(&address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        assert!(response.starts_with("HTTP/1.1 404"), "{path}: {response}");
    }
    mall.kill().unwrap();
    mall.wait().unwrap();
}
