//! The real binary, a directory for it, and a server on the imported mall.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mallbox_test_checker::{History, LedgerReport, State, judge};
use mallbox_test_patience as patience;
use mallbox_test_servers::without_settings;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Returns the path of a dump.
pub fn dump(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/dumps").join(name)
}

/// A directory for a mall and for dumps.
pub struct Place {
    dir: TempDir,
}

/// Result of a command.
pub struct CommandOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns the mall's directory.
    pub fn mall(&self) -> PathBuf {
        self.path("mall")
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs `mallbox import FILE --data mall …`
    pub fn import(&self, file: &Path, more: &[&str]) -> CommandOutput {
        output_of(self.import_command(file).args(more))
    }

    pub fn import_command(&self, file: &Path) -> Command {
        let mut command = mallbox(&["import"]);
        command.arg(file).arg("--data").arg(self.mall());
        command
    }

    /// Runs an import that must succeed. Returns its report.
    pub fn imported(&self, file: &Path, more: &[&str]) -> String {
        let CommandOutput { code, out, err } = self.import(file, more);
        assert_eq!(code, 0, "{err}");
        out
    }

    /// Runs any command on the mall.
    pub fn on_mall(&self, arguments: &[&str]) -> CommandOutput {
        output_of(mallbox(arguments).arg("--data").arg(self.mall()))
    }

    /// Runs the ledger check of a mall without recorded clients.
    pub fn verify(&self) {
        judge(&History::default(), &State::default(), Some(&self.ledger())).passed().unwrap();
    }

    /// Returns the report of `mallbox verify --json`.
    pub fn ledger(&self) -> LedgerReport {
        let mut verify = mallbox(&["verify", "--json"]);
        LedgerReport::of(&verify.arg("--data").arg(self.mall()).output().unwrap()).unwrap()
    }

    /// Opens the database of a stopped mall.
    pub fn database(&self) -> Connection {
        Connection::open(self.mall().join("mall.sqlite")).unwrap()
    }

    /// Returns the rows of a query, with columns separated by blanks.
    pub fn rows(&self, sql: &str) -> Vec<String> {
        let record = self.database();
        let mut select = record.prepare(sql).unwrap();
        let columns = select.column_count();
        let line = |row: &rusqlite::Row<'_>| {
            let text = |column| match row.get_ref(column).unwrap() {
                rusqlite::types::ValueRef::Null => "NULL".to_owned(),
                rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            };
            Ok((0..columns).map(text).collect::<Vec<_>>().join(" "))
        };
        select.query_map([], line).unwrap().map(Result::unwrap).collect()
    }
}

pub fn mallbox(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mallbox"));
    without_settings(&mut command);
    command.args(arguments).stdin(Stdio::null()).env("TZ", "Asia/Shanghai");
    command
}

pub fn output_of(command: &mut Command) -> CommandOutput {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    CommandOutput { code: status.code().unwrap(), out: text(stdout), err: text(stderr) }
}

/// A mall, served until dropped.
pub struct Served {
    child: Child,
    address: String,
    lines: Receiver<String>,
}

impl Served {
    pub fn start(place: &Place) -> Self {
        let mut command = mallbox(&["serve", "--listen", "127.0.0.1:0", "--limits", "off", "--data"]);
        let command = command.arg(place.mall()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = output.next().expect("a banner").unwrap();
        let address = first.split("http://").nth(1).unwrap().trim_end_matches('/').to_owned();
        let (tell, lines) = channel();
        // Drains the pipe even without a receiver: a full pipe would block the mall.
        std::thread::spawn(move || output.map_while(Result::ok).for_each(|line| drop(tell.send(line))));
        Self { child, address, lines }
    }

    /// Sends SIGTERM. Returns the exit code.
    pub fn stop(mut self) -> i32 {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().code().unwrap()
    }

    /// Sends a request. Returns head and body of the response.
    pub fn ask(&self, method: &str, path: &str, token: &str, body: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(patience::scaled(Duration::from_secs(20)))).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: {token}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        (String::from_utf8(answer[..head].to_vec()).unwrap(), answer[head + 4..].to_vec())
    }

    pub fn address(&self) -> SocketAddr {
        self.address.parse().unwrap()
    }

    /// Checks the mall against every response to the clients, and against its ledger check.
    pub fn assert_history_holds(&self, place: &Place, history: &History, operator: &str) {
        let state = State::read(self.address(), history, operator).unwrap();
        judge(history, &state, Some(&place.ledger())).passed().unwrap();
    }

    /// Sends an API request. Returns the JSON response.
    pub fn call(&self, method: &str, path: &str, token: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (_, answer) = self.ask(method, &format!("/api{path}"), token, &body);
        serde_json::from_slice(&answer).unwrap()
    }

    pub fn get(&self, path: &str) -> Value {
        self.call("GET", path, "", &Value::Null)
    }

    /// Logs in with the code sent by the mall. Returns the token.
    pub fn log_in(&self, phone: &str) -> String {
        let code_reply = self.call("POST", &format!("/user/code?phone={phone}"), "", &Value::Null);
        assert_eq!(code_reply["success"], true, "{code_reply}");
        let code = loop {
            let line = self.lines.recv_timeout(patience::scaled(Duration::from_secs(20))).unwrap();
            if let Some(code) = line.strip_prefix(&format!("SMS {phone} code ")) {
                break code.to_owned();
            }
        };
        token(&self.call("POST", "/user/login", "", &json!({"phone": phone, "code": code})))
    }

    pub fn log_in_by_password(&self, phone: &str, password: &str) -> Value {
        self.call("POST", "/user/login", "", &json!({"phone": phone, "password": password}))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn token(body: &Value) -> String {
    body["data"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
}
