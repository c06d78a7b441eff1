//! A user who cannot log in, and an operator at the machine: codes, passwords, sessions and second factors by
//! command.
//! Also the warning about the budget of codes, which only the log of a real process shows.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/http.rs"]
mod http;
#[path = "common/process.rs"]
mod process;
#[path = "common/totp.rs"]
mod totp;

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use mallbox::mall::{Clock as _, SystemClock};
use process::{Process, address_in, mallbox};
use serde_json::Value;
use totp::code_at;

const PHONE: &str = "13900000001";

/// Runs a command with a standard input. Returns exit code, standard output and standard error.
fn run(arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = mallbox(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that reads nothing may have ended.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

struct Running {
    process: Process,
    address: SocketAddr,
}

impl Running {
    fn start(data: &Path, more: &[&str]) -> Self {
        Self::start_logging("info", data, more)
    }

    fn start_logging(filter: &str, data: &Path, more: &[&str]) -> Self {
        let arguments = ["serve", "--data", data.to_str().unwrap(), "--listen", "127.0.0.1:0"];
        let mut command = mallbox(&[&arguments[..], more].concat());
        let process = Process::start(command.env("MALLBOX_LOG", filter).stderr(Stdio::piped()));
        Self { address: address_in(&process.line()), process }
    }

    fn call(&self, method: &str, path: &str, token: &str, body: &str) -> String {
        http::send(self.address, method, path, token, body).unwrap().text
    }

    fn log_in(&self, name: &str, value: &str) -> String {
        self.call("POST", "/api/user/login", "", &format!(r#"{{"phone":"{PHONE}","{name}":"{value}"}}"#))
    }

    /// Logs in by the password of the test.
    fn log_in_again(&self) -> String {
        Self::token(&self.log_in("password", "correct horse"))
    }

    /// Calls the second factor's part of the API. Returns the body.
    fn factor(&self, method: &str, path: &str, token: &str, code: &str) -> Value {
        let body = format!(r#"{{"code":"{code}"}}"#);
        http::send(self.address, method, &format!("/api/user/second-factor{path}"), token, &body)
            .unwrap()
            .body
    }

    fn may_operate(&self, token: &str) -> bool {
        self.call("GET", "/api/ops/users", token, "").contains(r#""success":true"#)
    }

    /// Kills the mall, as a crash does.
    fn kill(mut self) {
        self.process.child.kill().unwrap();
        self.process.child.wait().unwrap();
    }

    /// Returns the token of a response to a log-in.
    fn token(answer: &str) -> String {
        let (_, rest) = answer.split_once(r#""data":""#).unwrap_or_else(|| panic!("{answer}"));
        rest.split('"').next().unwrap().to_owned()
    }

    /// Stops the mall. Returns the log.
    fn stop(mut self) -> String {
        self.process.terminate();
        let mut log = String::new();
        self.process.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert_eq!(self.process.child.wait().unwrap().code(), Some(0));
        log
    }
}

#[test]
fn an_operator_at_the_machine_helps_a_user_who_cannot_log_in() {
    let dir = tempfile::tempdir().unwrap();
    let (data, place) = (dir.path().join("mall"), dir.path().join("mall").to_str().unwrap().to_owned());
    let user = |step: &str, input: &str| run(&["user", step, "--data", &place, PHONE], input);
    let mall = Running::start(&data, &["--codes-per-day", "1", "--code-gap", "0"]);
    assert_eq!(user("code", "").0, 1, "nobody has this phone yet");
    assert_eq!(user("grant", "").0, 0);

    // The limit is reached; the machine's code has none.
    for is_sent in [true, false] {
        let answer = mall.call("POST", &format!("/api/user/code?phone={PHONE}"), "", "");
        assert_eq!(answer.contains(r#""success":true"#), is_sent, "{answer}");
    }
    let (status, told, _) = user("code", "");
    let code = told.lines().next().unwrap();
    assert!(status == 0 && code.len() == 16 && told.contains("within 10 minutes"), "{told}");
    for _ in 0..10 {
        assert!(mall.log_in("code", "0000000000000000").contains(r#""success":false"#));
    }
    let token = Running::token(&mall.log_in("code", code));
    assert!(mall.log_in("code", code).contains(r#""success":false"#), "it works once");

    for (input, is_set) in [("short\n", false), ("correct horse\n", true)] {
        let (status, _, error) = user("set-password", input);
        assert_eq!(status == 0, is_set, "{error}");
    }
    let is_live = |token: &str| !mall.call("GET", "/api/user/me", token, "").contains("NOT_LOGGED_IN");
    assert!(!is_live(&token), "a new password ends all sessions");
    let tokens = [(); 2].map(|()| Running::token(&mall.log_in("password", "correct horse")));
    assert!(tokens.iter().all(|token| is_live(token)));

    let (status, told, _) = user("end-sessions", "");
    assert!(status == 0 && told.contains("2 sessions ended"), "{told}");
    assert!(!tokens.iter().any(|token| is_live(token)));

    let (_, audit, _) = run(&["audit", "list", "--data", &place], "");
    for action in ["user.code", "user.password", "user.end-sessions"] {
        assert!(audit.contains(action), "{audit}");
    }
    assert!(!audit.contains(code) && !audit.contains("horse") && !audit.contains(PHONE), "{audit}");
    let log = mall.stop();
    assert!(!log.contains(code) && !log.contains("horse"), "{log}");

    // A code ends with the process, so a mall that is down makes none; a password lasts.
    let (status, _, error) = user("code", "");
    assert!(status == 1 && error.contains("is not running"), "{error}");
    assert_eq!(user("set-password", "battery staple").0, 0);
    let mall = Running::start(&data, &[]);
    assert!(mall.log_in("password", "battery staple").contains(r#""success":true"#));
}

#[test]
fn a_second_factor_outlives_a_crash_and_is_removed_at_the_machine() {
    let dir = tempfile::tempdir().unwrap();
    let (data, place) = (dir.path().join("mall"), dir.path().join("mall").to_str().unwrap().to_owned());
    let user = |step: &str, input: &str| run(&["user", step, "--data", &place, PHONE], input);
    let mall = Running::start(&data, &["--operator-second-factor"]);
    assert_eq!(user("grant", "").0, 0);
    assert_eq!(user("set-password", "correct horse\n").0, 0);
    let (status, _, error) = user("remove-second-factor", "");
    assert!(status == 1 && error.contains("second factor does not exist"), "{error}");

    let token = mall.log_in_again();
    assert!(mall.call("GET", "/api/ops/users", &token, "").contains("SECOND_FACTOR_ENROLMENT_REQUIRED"));
    let secret = mall.factor("POST", "/enrolment", &token, "")["data"]["secret"].as_str().unwrap().to_owned();
    let code = code_at(&secret, SystemClock.now());
    let confirmed = mall.factor("PUT", "", &token, &code)["data"].clone();
    let raised = confirmed["token"].as_str().unwrap();
    let recovery = |at: usize| confirmed["recoveryCodes"][at].as_str().unwrap().to_owned();
    assert!(mall.may_operate(raised), "{confirmed}");
    let other = mall.log_in_again();
    let by_recovery = mall.factor("POST", "", &other, &recovery(0));
    assert_eq!(by_recovery["success"], true, "{by_recovery}");

    mall.kill();
    let mall = Running::start(&data, &[]);
    assert!(mall.may_operate(raised), "the session and its factor outlive a crash");
    let token = mall.log_in_again();
    assert!(!mall.may_operate(&token), "with or without the flag");
    for (used, refused) in [(&*code, "SECOND_FACTOR_USED"), (&recovery(0), "SECOND_FACTOR_WRONG")] {
        let answer = mall.factor("POST", "", &token, used);
        assert!([refused, "SECOND_FACTOR_WRONG"].contains(&answer["code"].as_str().unwrap()), "{answer}");
    }
    let given = mall.factor("POST", "", &token, &recovery(1));
    assert!(mall.may_operate(given["data"]["token"].as_str().unwrap()), "{given}");

    let (status, told, _) = user("show", "");
    assert!(status == 0 && told.contains("second factor since"), "{told}");
    let (status, told, _) = user("remove-second-factor", "");
    assert!(status == 0 && told.contains("sessions ended") && !told.contains("second factor"), "{told}");
    assert!(!mall.may_operate(raised), "all sessions end");
    assert!(mall.may_operate(&mall.log_in_again()));
    let (_, audit, _) = run(&["audit", "list", "--data", &place], "");
    for action in ["user.enrol-second-factor", "user.second-factor", "user.remove-second-factor"] {
        assert!(audit.contains(action), "{audit}");
    }
    let log = mall.stop();
    for text in [&log, &audit] {
        assert!(
            ![&secret, &code, &recovery(0), &recovery(1)].into_iter().any(|part| text.contains(part)),
            "{text}"
        );
    }
    assert!(log.contains("second_factor_removed") && log.contains("recovery_code_used"), "{log}");
}

#[test]
fn no_line_of_the_log_names_the_phone_of_a_command() {
    let dir = tempfile::tempdir().unwrap();
    let (data, place) = (dir.path().join("mall"), dir.path().join("mall").to_str().unwrap().to_owned());
    let mall = Running::start_logging("info,mallbox=debug", &data, &[]);
    for (step, input) in [("grant", ""), ("code", ""), ("set-password", "correct horse\n"), ("show", "")] {
        assert_eq!(run(&["user", step, "--data", &place, PHONE], input).0, 0, "{step}");
    }
    assert_eq!(run(&["user", "show", "--data", &place, "13900000099"], "").0, 1);
    let log = mall.stop();
    assert!(log.contains("/control/users/") && log.contains("/password"), "{log}");
    assert!(!log.contains(PHONE) && !log.contains("13900000099"), "{log}");
}

#[test]
fn the_log_warns_of_the_budget_at_80_percent_and_says_what_to_do_at_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let mall = Running::start(&dir.path().join("mall"), &["--codes-per-day-of-mall", "10"]);
    for number in 0..9 {
        let answer = mall.call("POST", &format!("/api/user/code?phone=1500000000{number}"), "", "");
        assert_eq!(answer.contains(r#""success":true"#), number < 8, "{answer}");
        assert!(number < 8 || answer.contains("CODES_SPENT"), "{answer}");
    }
    let log = mall.stop();
    assert_eq!(log.matches("80 % of the day's login codes").count(), 1, "{log}");
    assert!(log.contains("mallbox user code PHONE") && !log.contains("15000000"), "{log}");
}

#[test]
fn limits_and_known_addresses_outlive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let sent = |mall: &Running, phone: &str| {
        mall.call("POST", &format!("/api/user/code?phone={phone}"), "", "").contains(r#""success":true"#)
    };
    let limits = ["--codes-per-day-of-mall", "2", "--codes-per-hour-of-address", "0"];
    let mall = Running::start(&data, &limits);
    assert!(sent(&mall, "15000000000"));
    mall.stop();
    let mall = Running::start(&data, &limits);
    assert!(!sent(&mall, "15000000000"), "the gap counts on");
    assert!(sent(&mall, "15000000001"));
    mall.stop();
    let mall = Running::start(&data, &limits);
    assert!(!sent(&mall, "15000000002"), "and so does the budget");
}
