//! The command line from a user's point of view: messages, exit codes, and the discovery of a running mall.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/http.rs"]
mod http;
#[path = "common/process.rs"]
mod process;

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use http::Reply;
use process::{Process, address_in};

fn mallbox(arguments: &[&str]) -> Command {
    let mut command = process::mallbox(arguments);
    command.env("TZ", "Asia/Shanghai");
    command
}

/// Runs a command. Returns exit code, standard output and standard error.
fn output_of(arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = mallbox(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// A mall that runs until dropped.
struct Running {
    process: Process,
    address: SocketAddr,
    banner: String,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        Self::start_until(arguments, "\nlimits")
    }

    /// Starts a mall that writes its log to a file.
    fn start_logging(arguments: &[&str], log: File) -> Self {
        Self::start_with(arguments, "\nlimits", log.into())
    }

    /// Starts a mall and reads the banner up to the line with `last`.
    fn start_until(arguments: &[&str], last: &str) -> Self {
        Self::start_with(arguments, last, Stdio::null())
    }

    fn start_with(arguments: &[&str], last: &str, log: Stdio) -> Self {
        let process = Process::start(mallbox(arguments).stderr(log));
        let mut banner = String::new();
        while !banner.contains(last) {
            banner += &(process.line() + "\n");
        }
        Self { process, address: address_in(&banner), banner }
    }

    fn get(&self, path: &str) -> Reply {
        self.ask("GET", path)
    }

    fn ask(&self, method: &str, path: &str) -> Reply {
        http::ask(self.address, method, path, "").unwrap()
    }

    /// Sends SIGTERM. Returns the exit code.
    fn stop(self) -> i32 {
        self.process.stop()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn wrong_use_is_one_sentence_and_exit_code_2() {
    let dir = tempfile::tempdir().unwrap();
    let nothing = dir.path().join("nothing");
    for (arguments, want) in [
        (vec!["serve"], "no mall given; pass --data DIR, or --redis URL and --mysql URL"),
        (vec!["verify", "--data", text(&nothing)], "there is no mall in"),
        (vec!["user", "grant", "--data", text(&nothing), "13900000001"], "there is no mall in"),
        (vec!["serve", "--data", text(&nothing), "--web", text(&nothing)], "no such directory"),
        (vec!["demo", "--data", text(&nothing), "--web", text(&nothing)], "no such directory"),
        (vec!["serve", "--data", text(&nothing), "--sms", "http://x"], "must begin with https://"),
    ] {
        let (code, _, error) = output_of(&arguments);
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.contains(want) && error.lines().count() == 1, "{arguments:?}: {error}");
    }
    for arguments in [
        vec!["serve", "--zone", "Asia/Atlantis"],
        vec!["serve", "--limits", "some"],
        vec!["serve", "--connections", "0"],
        vec!["serve", "--max-backlog", "0"],
        vec!["sell"],
    ] {
        assert_eq!(output_of(&arguments).0, 2, "{arguments:?}");
    }
    assert!(!nothing.exists(), "nobody made a directory on the way");
}

#[test]
fn a_demo_goes_by_known_names_and_warns_when_others_can_reach_it() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("demo");
    let ask = |mall: &Running, host: &str| {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, mall.address.port())).unwrap();
        let request = format!("GET /readyz HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        let answer = http::exchange(stream, request.as_bytes()).unwrap();
        http::read(&answer).unwrap().status
    };
    let flags = ["--data", text(&data), "--lang", "en", "--host", "mall.test", "--listen"];
    for (listen, warns) in [("127.0.0.1:0", false), ("0.0.0.0:0", true)] {
        let mall = Running::start_until(&[&["demo"][..], &flags, &[listen]].concat(), "\ndemo ");
        assert_eq!(mall.banner.contains("\nwarning     0.0.0.0:"), warns, "{}", mall.banner);
        let statuses =
            ["localhost", "127.0.0.1:80", "MALL.test", "evil.example"].map(|host| ask(&mall, host));
        assert_eq!(statuses, [200, 200, 200, 421]);
        assert_eq!(mall.stop(), 0);
    }
    // A mall in earnest takes any name, unless told its own.
    let data = dir.path().join("mall");
    let flags = ["serve", "--data", text(&data), "--listen", "127.0.0.1:0"];
    for (more, want) in [(&[][..], 200), (&["--host", "mall.test"], 421)] {
        let mall = Running::start(&[&flags[..], more].concat());
        assert_eq!([ask(&mall, "mall.test"), ask(&mall, "evil.example")], [200, want]);
        assert_eq!(mall.stop(), 0);
    }
}

#[test]
fn a_directory_that_is_somebody_elses_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (data, file) = (dir.path().join("var"), dir.path().join("file"));
    std::fs::create_dir_all(data.join("log")).unwrap();
    std::fs::write(data.join("log/messages"), "theirs").unwrap();
    std::fs::write(&file, "theirs").unwrap();
    for command in ["serve", "demo"] {
        for (path, want) in [(&data, "holds no mall, but other files (log)"), (&file, "is a file")] {
            let (code, _, error) = output_of(&[command, "--data", text(path), "--listen", "127.0.0.1:0"]);
            assert!(code == 2 && error.contains(want) && error.lines().count() == 1, "{command}: {error}");
        }
    }
    for path in [&data, &file] {
        let (code, out, _) = output_of(&["doctor", "--data", text(path)]);
        assert!(code == 1 && out.contains("BAD  directory"), "{out}");
    }
    assert_eq!(std::fs::read_to_string(data.join("log/messages")).unwrap(), "theirs");
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "theirs");

    // The root of a file system is not empty either.
    let disk = dir.path().join("disk");
    std::fs::create_dir_all(disk.join("lost+found")).unwrap();
    let mall = Running::start(&["serve", "--data", text(&disk), "--listen", "127.0.0.1:0"]);
    assert_eq!(mall.stop(), 0);
}

#[test]
fn a_mall_is_served_checked_and_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let serve = ["serve", "--data", text(&data), "--listen", "127.0.0.1:0"];
    let mall = Running::start(&serve);
    for line in ["durability  power", "zone        Asia/Shanghai", "limits      on", "backend     embedded"] {
        assert!(mall.banner.contains(line), "{}", mall.banner);
    }
    assert_eq!(mall.get("/healthz").status, 200);
    assert!(mall.get("/readyz").text.contains(r#""ready":true,"backend":"embedded","durability":"power""#));
    assert!(mall.get("/metrics").text.contains("\nmallbox_order_log_pending 0\n"));
    assert_eq!(mall.get("/api/demo/inbox?phone=13900000002").status, 404);

    let port_taken =
        output_of(&["serve", "--data", text(&dir.path().join("two")), "--listen", &mall.address.to_string()]);
    assert_eq!(port_taken.0, 1);
    assert!(port_taken.2.contains("is in use by another program"), "{}", port_taken.2);
    assert!(!dir.path().join("two").exists());
    let (code, _, error) = output_of(&serve);
    assert_eq!(code, 1);
    assert!(error.contains("in use by another mallbox") && error.contains("process"), "{error}");

    assert!(data.join("control.sock").exists());
    let (code, out, error) = output_of(&["verify", "--data", text(&data)]);
    assert!(code == 0 && out.contains("the ledger balances"), "{out}{error}");
    assert_eq!(mall.stop(), 0);
    assert!(!data.join("control.sock").exists());
    let (code, out, error) = output_of(&["verify", "--data", text(&data), "--json"]);
    assert_eq!(code, 0, "{error}");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["findings"], serde_json::json!([]));
    assert_eq!((&report["version"], &report["balances"]), (&1.into(), &true.into()), "{out}");
    assert_eq!(report["totals"]["orders"], 0, "{out}");

    let (code, _, error) = output_of(&[&serve[..], &["--zone", "Europe/Berlin"]].concat());
    assert_eq!(code, 1);
    assert!(error.contains("Asia/Shanghai and cannot be changed"), "{error}");
}

/// Returns everything below a directory: path, content, and time of the last change.
fn everything(dir: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.metadata().unwrap();
            // The socket of a killed mall is present, too.
            let bytes = if meta.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            if meta.is_dir() {
                folders.push(path.clone());
            }
            found.push((path, bytes, meta.modified().unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn a_mall_that_may_not_be_written_to_is_verified_and_stays_as_it_is_to_the_last_byte() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let mut mall = Running::start(&["demo", "--data", text(&data), "--listen", "127.0.0.1:0"]);
    // Killed: the last writes are in files that a start has to read.
    mall.process.child.kill().unwrap();
    mall.process.child.wait().unwrap();
    let chmod = |mode: &str| {
        assert!(Command::new("chmod").args(["-R", mode, text(&data)]).status().unwrap().success());
    };
    chmod("a-w");
    let before = everything(&data);
    let elsewhere = dir.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    for words in [&["verify"][..], &["verify", "--json"], &["user", "list"], &["audit", "verify"]] {
        let arguments = [words, &["--data", text(&data)]].concat();
        let done = mallbox(&arguments).env("TMPDIR", &elsewhere).output().unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
    }
    assert!(everything(&data) == before, "something was written beside the data");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0, "a copy stays");
    chmod("u+w");
}

#[test]
fn a_stop_that_is_signalled_twice_within_a_moment_is_a_clean_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut mall = Running::start(&["serve", "--data", text(dir.path()), "--listen", "127.0.0.1:0"]);
    let id = mall.process.child.id().to_string();
    // Like `timeout`: signals the program, then its group. The pause prevents two pending signals from
    // merging into one.
    let twice = format!("kill -s TERM {id}; sleep 0.01; kill -s TERM {id}");
    assert!(Command::new("sh").args(["-c", &twice]).status().unwrap().success());
    assert_eq!(mall.process.child.wait().unwrap().code(), Some(0));
}

#[test]
fn operators_are_named_on_a_mall_that_runs_and_on_one_that_does_not() {
    let dir = tempfile::tempdir().unwrap();
    // Deep enough that the socket's path exceeds an address, and the socket is placed elsewhere.
    let data = dir.path().join("d".repeat(60)).join("e".repeat(60));
    let user = |step: &str, phone: &str| output_of(&["user", step, "--data", text(&data), phone]);
    let operators = || output_of(&["user", "list", "--operators", "--data", text(&data)]).1;
    let mall = Running::start(&["serve", "--data", text(&data), "--listen", "127.0.0.1:0"]);
    assert!(data.join("control").exists() && !data.join("control.sock").exists());
    assert_eq!(user("grant", "13900000007").0, 0);
    assert!(operators().contains("13900000007"));
    let (code, _, error) = user("grant", "12345");
    assert!(code == 1 && error.contains("not a valid mainland mobile number"), "{error}");
    let (code, _, error) = user("revoke", "13900000008");
    assert!(code == 1 && error.contains("This user does not exist"), "{error}");
    assert_eq!(mall.stop(), 0);
    assert!(operators().contains("13900000007"));
    assert_eq!(user("revoke", "13900000007").0, 0);
    assert_eq!(operators(), "");
    assert!(output_of(&["user", "list", "--data", text(&data)]).1.contains("customer"));
}

#[test]
fn whom_the_command_line_blocks_is_in_the_audit_log_whether_the_mall_runs_or_not() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let user =
        |step: &[&str]| output_of(&[&["user"], step, &["--data", text(&data), "13900000007"]].concat());
    let audit = |step: &[&str]| output_of(&[&["audit"], step, &["--data", text(&data)]].concat());
    let mall = Running::start(&["serve", "--data", text(&data), "--listen", "127.0.0.1:0"]);
    assert_eq!(user(&["grant"]).0, 0);
    let (code, out, error) = user(&["block", "--reason", "卖 & 买 100%"]);
    assert!(code == 0 && out.contains("卖 & 买 100%)  0 sessions ended"), "{out}{error}");
    assert_eq!(mall.stop(), 0);

    let (code, out, error) = user(&["show"]);
    assert!(code == 0 && out.contains("operator ") && out.contains("(blocked since 20"), "{out}{error}");
    assert_eq!(output_of(&["user", "list", "--blocked", "--phone", "1390", "--data", text(&data)]).1, out);
    assert_eq!(output_of(&["user", "list", "--name", "%", "--data", text(&data)]).1, "");
    assert_eq!(user(&["unblock"]).0, 0);
    assert_eq!(user(&["block"]).0, 2, "a block has a reason");
    let (code, _, error) = user(&["block", "--reason", " "]);
    assert!(code == 1 && error.contains("reason: expected 1 to 200 characters"), "{error}");

    let (code, out, error) = audit(&["list"]);
    assert_eq!(code, 0, "{error}");
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.len(), 3, "{out}");
    for (line, want) in lines.iter().zip([
        &["     3  20", "command line", "user.unblock", "user 1", "{}"],
        &["     2  20", "command line", "user.block", "user 1", r#"{"reason":"卖 & 买 100%"}"#],
        &["     1  20", "command line", "user.role", "user 1", r#"{"role":"operator"}"#],
    ]) {
        assert!(want.iter().all(|part| line.contains(part)), "{line}");
    }
    assert!(!out.contains("13900000007"), "a log for ever holds no phone number");
    assert_eq!(audit(&["list", "--max", "1", "--before", "3"]).1.lines().collect::<Vec<_>>(), lines[1..2]);
}

#[test]
fn an_audit_log_that_was_changed_is_found_out_and_the_entry_named() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let audit = |more: &[&str]| output_of(&[&["audit", "verify", "--data", text(&data)], more].concat());
    let mall = Running::start(&["serve", "--data", text(&data), "--listen", "127.0.0.1:0"]);
    for phone in ["13900000001", "13900000002", "13900000003"] {
        assert_eq!(output_of(&["user", "grant", "--data", text(&data), phone]).0, 0);
    }
    let (code, whole, error) = audit(&[]);
    assert!(code == 0 && whole.contains("the audit log is intact: 3 entries"), "{whole}{error}");
    assert_eq!(mall.stop(), 0);
    assert_eq!(audit(&[]).1, whole, "a mall that does not run says the same");
    let noted = whole.trim().rsplit(' ').next().unwrap();
    assert_eq!(audit(&["--noted", noted]).0, 0);
    let (code, out, _) = audit(&["--noted", &format!("2{}", &noted[1..])]);
    assert!(code == 1 && out.contains("entry 2 does not match the noted hash"), "{out}");
    for bad in ["", "3", "3:abc", "0:", &format!("x{}", &noted[1..])] {
        assert_eq!(audit(&["--noted", bad]).0, 2, "{bad}");
    }

    let record = rusqlite::Connection::open(data.join("mall.sqlite")).unwrap();
    let change = "UPDATE audit SET subject = 'user 9' WHERE number = 2";
    assert!(record.execute(change, []).unwrap_err().to_string().contains("only grows"));
    record.execute_batch(&format!("DROP TRIGGER audit_is_not_changed; {change}")).unwrap();
    drop(record);
    let (code, out, error) = audit(&[]);
    assert!(code == 1 && out.contains("BROKEN: entry 2 does not match its hash"), "{out}{error}");
    let (code, out, error) = output_of(&["verify", "--data", text(&data)]);
    assert!(
        code == 1 && out.contains("audit log: expected an unbroken hash chain, found entry 2"),
        "{out}{error}"
    );
}

#[test]
fn a_demo_fills_its_mall_once_and_is_not_served_by_mistake() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("demo");
    let demo = ["demo", "--data", text(&data), "--listen", "127.0.0.1:0"];
    let mall = Running::start(&demo);
    assert!(mall.banner.contains("limits      off"), "{}", mall.banner);
    let shop = mall.get("/api/shop/84").text;
    assert!(shop.contains(r#""success":true"#), "{shop}");
    assert!(mall.ask("POST", "/api/user/code?phone=13900000002").text.contains(r#""success":true"#));
    let inbox = mall.get("/api/demo/inbox?phone=13900000002").text;
    assert!(inbox.contains(r#""phone":"13900000002","code":""#), "{inbox}");
    assert!(mall.get("/imgs//shops/1-1.svg").text.trim_end().ends_with("</svg>"));
    assert!(output_of(&["user", "list", "--operators", "--data", text(&data)]).1.contains("13900000001"));
    assert_eq!(mall.stop(), 0);

    let (code, _, error) = output_of(&["serve", "--data", text(&data), "--listen", "127.0.0.1:0"]);
    assert!(code == 2 && error.contains("--demo-data"), "{error}");
    let again = Running::start(&demo);
    assert!(again.get("/api/shop/85").text.contains("NOT_FOUND"), "the shops are there once");
    let sales = output_of(&["verify", "--data", text(&data)]).1;
    assert!(sales.contains("2 sales"), "one runs, and the one that nobody bought in opens again: {sales}");
    assert_eq!(again.stop(), 0);

    let real = dir.path().join("real");
    assert_eq!(Running::start(&["serve", "--data", text(&real), "--listen", "127.0.0.1:0"]).stop(), 0);
    let (code, _, error) = output_of(&["demo", "--data", text(&real), "--listen", "127.0.0.1:0"]);
    assert!(code == 2 && error.contains("a mall that is not a demo"), "{error}");
}

#[test]
fn the_payment_mode_is_stored_with_the_mall_and_named_where_it_starts() {
    let dir = tempfile::tempdir().unwrap();
    let (data, web) = (dir.path().join("mall"), dir.path().join("web"));
    std::fs::create_dir(&web).unwrap();
    let serve = ["serve", "--data", text(&data), "--listen", "127.0.0.1:0"];
    let pages = ["--web", text(&web)];
    let starts: [(&[&str], &str, &str); 5] = [
        (&pages, "none", "original"),
        (&[], "none", "strict"),
        (&["--payment", "sandbox"], "sandbox", "strict"),
        (&pages, "sandbox", "original"),
        (&["--web", text(&web), "--profile", "strict", "--payment", "none"], "none", "strict"),
    ];
    for (more, payment, profile) in starts {
        let mall = Running::start(&[&serve[..], more].concat());
        let lines = [format!("payment     {payment} ("), format!("profile     {profile} (")];
        assert!(lines.iter().all(|line| mall.banner.contains(line)), "{more:?}: {}", mall.banner);
        let ready = mall.get("/readyz").text;
        assert!(ready.contains(&format!(r#""payment":"{payment}""#)), "{more:?}: {ready}");
        let (_, out, error) = output_of(&["doctor", "--data", text(&data)]);
        assert!(out.contains(&format!("payment     {payment} (")), "{out}{error}");
        let status = if profile == "original" { 200 } else { 400 };
        assert_eq!(mall.get("/api/shop/x").status, status, "{more:?}");
        assert_eq!(mall.stop(), 0);
    }
    let new = dir.path().join("new");
    let mall = Running::start(&["serve", "--data", text(&new), "--listen", "127.0.0.1:0"]);
    assert!(mall.banner.contains("payment     counter ("), "{}", mall.banner);
    assert_eq!(mall.stop(), 0);
    let (_, out, error) = output_of(&["doctor", "--data", text(&new)]);
    assert!(out.contains("payment     counter ("), "{out}{error}");
}

/// An unpaid order of a version without payment modes keeps imaginary money.
#[test]
fn a_ramp_prints_its_trials_and_says_when_it_runs_out_of_users() {
    let dir = tempfile::tempdir().unwrap();
    // 50 claims in all: trials at 5, 10 and 20 a second leave 15. No machine is too slow for the goal.
    let ramp = ["bench", "ramp", "--users", "1", "--from", "5", "--span", "1", "--p99", "600000"];
    let output = mallbox(&ramp).current_dir(dir.path()).output().unwrap();
    let (out, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let met: Vec<&str> = out.lines().filter(|line| line.contains("  met")).collect();
    assert_eq!(output.status.code(), Some(1), "{out}{error}");
    assert!(met.len() == 3 && met[2].trim_start().starts_with("20 /s"), "{out}");
    assert!(out.contains("the ledger balances: 51 sales"), "{out}");
    assert!(error.contains("no claims left") && error.contains("--users"), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "something stays behind");
}

#[test]
fn a_start_after_an_upgrade_names_the_new_default_and_touches_no_order() {
    let dir = tempfile::tempdir().unwrap();
    let (data, log) = (dir.path().join("mall"), dir.path().join("log"));
    let serve = ["serve", "--data", text(&data), "--listen", "127.0.0.1:0"];
    assert_eq!(Running::start(&serve).stop(), 0);
    let database = rusqlite::Connection::open(data.join("mall.sqlite")).unwrap();
    database
        .execute_batch(
            "DELETE FROM meta WHERE name = 'setting.payment';
             INSERT INTO orders (id, user_id, voucher_id, slot, status, pay_value, pay_type, created_ms, deadline_ms)
             VALUES (7, 1, 1, 7, 1, 100, 1, 1795262400000, 4000000000000)",
        )
        .unwrap();
    drop(database);
    let start = || {
        let log = File::create(&log).unwrap();
        let mall = Running::start_logging(&serve, log);
        assert!(mall.banner.contains("payment     counter ("), "{}", mall.banner);
        assert_eq!(mall.stop(), 0);
        std::fs::read_to_string(dir.path().join("log")).unwrap()
    };
    let first = start();
    assert!(first.contains("unpaid orders keep their own mode and deadline"), "{first}");
    assert!(first.contains("unpaid_orders=1") && first.contains("counter"), "{first}");
    assert!(!start().contains("unpaid_orders"));
    let database = rusqlite::Connection::open(data.join("mall.sqlite")).unwrap();
    let kept: (i64, i64, i64) = database
        .query_row("SELECT status, payment_mode, deadline_ms FROM orders WHERE id = 7", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(kept, (1, 2, 4_000_000_000_000));
}

#[test]
fn imaginary_money_is_named_in_banner_and_log() {
    let dir = tempfile::tempdir().unwrap();
    let (data, log) = (dir.path().join("mall"), dir.path().join("log"));
    let serve = ["serve", "--data", text(&data), "--listen", "127.0.0.1:0", "--payment", "sandbox"];
    let mall = Running::start_logging(&serve, File::create(&log).unwrap());
    assert!(mall.banner.contains("(imaginary money: buyers mark their own orders"), "{}", mall.banner);
    assert_eq!(mall.stop(), 0);
    let log = std::fs::read_to_string(&log).unwrap();
    assert!(log.contains("payments are simulated"), "{log}");
}

#[test]
fn doctor_prints_a_table() {
    let dir = tempfile::tempdir().unwrap();
    let (_, out, error) = output_of(&["doctor", "--data", text(dir.path())]);
    let findings = ["SQLite", "sled", "directory", "free space", "open files", "disk sync", "log writes"];
    for what in findings.into_iter().chain(["mallbox", "clock"]) {
        assert!(out.contains(what), "{what}: {out}{error}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "and leaves nothing behind");
}
