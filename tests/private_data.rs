//! Other accounts of the machine get nothing out of a data directory: neither files nor login codes.
//!
//! Where the tests run as root, a second account tries; elsewhere the permissions are read.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/http.rs"]
mod http;
#[path = "common/process.rs"]
mod process;

use std::fs::{self, Permissions};
use std::io::Read as _;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use process::{Process, address_in, mallbox, mallbox_under};

/// The account `nobody`.
const SECOND_ACCOUNT: [&str; 6] = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];

/// A mall that runs until stopped or dropped.
struct Running {
    process: Process,
    address: SocketAddr,
}

impl Running {
    fn start(data: &Path) -> Self {
        let data = data.to_str().unwrap();
        let arguments = ["serve", "--data", data, "--listen", "127.0.0.1:0", "--limits", "off"];
        let process = Process::start(mallbox(&arguments).stderr(Stdio::null()));
        Self { address: address_in(&process.line()), process }
    }

    fn post(&self, path: &str, body: &str) -> String {
        http::send(self.address, "POST", path, "", body).unwrap().text
    }

    /// Requests a login code and reads it from standard output.
    fn code(&self, phone: &str) -> String {
        let answer = self.post(&format!("/api/user/code?phone={phone}"), "");
        assert!(answer.contains(r#""success":true"#), "{answer}");
        self.process.code(phone)
    }

    fn log_in(&self, phone: &str, code: &str) -> String {
        self.post("/api/user/login", &format!(r#"{{"phone":"{phone}","code":"{code}"}}"#))
    }

    fn stop(self) {
        assert_eq!(self.process.stop(), 0);
    }
}

/// Returns everything below a directory, itself included.
fn everything(dir: &Path) -> Vec<PathBuf> {
    let mut found = vec![dir.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        if path.is_dir() {
            found.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Gives a directory the permissions that it had before malls were private.
fn open_up(dir: &Path) {
    for path in everything(dir) {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }
}

/// Returns a directory that other accounts can reach.
fn site() -> tempfile::TempDir {
    let site = tempfile::tempdir().unwrap();
    fs::set_permissions(site.path(), Permissions::from_mode(0o755)).unwrap();
    site
}

fn is_root() -> bool {
    // The owner of a new file is the account of this process.
    use std::os::unix::fs::MetadataExt as _;
    tempfile::tempfile().unwrap().metadata().unwrap().uid() == 0
}

fn doctor(data: &Path) -> String {
    let Output { stdout, .. } = mallbox(&["doctor", "--data", data.to_str().unwrap()]).output().unwrap();
    let text = String::from_utf8(stdout).unwrap();
    text.lines().find(|line| line.contains("access")).unwrap_or_default().to_owned()
}

#[test]
fn a_mall_that_was_open_to_all_is_closed_and_says_so() {
    let site = site();
    let data = site.path().join("mall");
    fs::create_dir(&data).unwrap();
    Running::start(&data).stop();
    open_up(&data);
    let report = doctor(&data);
    assert!(report.starts_with("BAD") && report.contains("chmod -R go-rwx"), "{report}");
    let mall = Running::start(&data);
    for path in everything(&data) {
        assert_eq!(mode(&path) & 0o077, 0, "{} is {:o}", path.display(), mode(&path));
    }
    assert!(data.join("control.sock").exists() && data.join("mall.sqlite-wal").exists());
    assert!(doctor(&data).starts_with("ok"), "{}", doctor(&data));
    if is_root() {
        for words in [["cat", "mall.sqlite"], ["ls", "log"], ["cat", "log/store-1/db"]] {
            let mut command = Command::new(SECOND_ACCOUNT[0]);
            command.args(&SECOND_ACCOUNT[1..]).arg(words[0]).arg(data.join(words[1]));
            let Output { status, stdout, stderr } = command.output().unwrap();
            let error = String::from_utf8_lossy(&stderr);
            assert!(!status.success() && stdout.is_empty() && error.contains("ermission denied"), "{error}");
        }
    }
    mall.stop();
}

#[test]
fn a_directory_that_cannot_be_closed_is_refused_with_the_command_to_type() {
    if !is_root() {
        return;
    }
    let site = site();
    let data = site.path().join("mall");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o777)).unwrap();
    let arguments = ["serve", "--data", data.to_str().unwrap(), "--listen", "127.0.0.1:0"];
    let Output { status, stderr, .. } = mallbox_under(&SECOND_ACCOUNT, &arguments).output().unwrap();
    let complaint = String::from_utf8(stderr).unwrap();
    let command = format!("sudo chmod -R go-rwx '{}'", data.display());
    assert!(
        status.code() == Some(1) && complaint.contains(&command) && complaint.lines().count() == 1,
        "{complaint}"
    );
    assert_eq!(fs::read_dir(&data).unwrap().count(), 0, "nothing was made there");
}

#[test]
fn login_codes_and_tokens_are_not_on_the_disk_and_codes_end_with_the_process() {
    let site = site();
    let data = site.path().join("mall");
    let mall = Running::start(&data);
    let phones: Vec<String> = (0..5).map(|n| format!("1390000100{n}")).collect();
    let codes: Vec<String> = phones.iter().map(|phone| mall.code(phone)).collect();
    let used = mall.log_in(&phones[0], &codes[0]);
    let (_, token) = used.split_once(r#""data":""#).unwrap_or_else(|| panic!("{used}"));
    let token = token.split('"').next().unwrap();
    assert_eq!(token.len(), 48, "{used}");
    let secrets = codes.iter().map(String::as_str).chain([token]);
    let mut bytes = 0;
    for path in everything(&data).iter().filter(|path| path.is_file()) {
        let content = fs::read(path).unwrap();
        bytes += content.len();
        for secret in secrets.clone() {
            let is_there = content.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!is_there, "{secret} is in {}", path.display());
        }
    }
    assert!(bytes > 10_000, "only {bytes} bytes were looked at");
    mall.stop();
    let mall = Running::start(&data);
    let late = mall.log_in(&phones[1], &codes[1]);
    assert!(late.contains("CODE_WRONG"), "{late}");
    mall.stop();
}

/// Serves a mall, stops it at once, and returns its log.
fn log_of(under: &[&str], data: &Path) -> String {
    let arguments = ["serve", "--data", data.to_str().unwrap(), "--listen", "127.0.0.1:0"];
    let mut mall = Process::start(mallbox_under(under, &arguments).stderr(Stdio::piped()));
    assert!(mall.line().contains("http://"));
    mall.terminate();
    let mut log = String::new();
    mall.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(mall.child.wait().unwrap().code(), Some(0), "{log}");
    log
}

#[test]
fn a_mall_that_runs_as_root_says_so_and_under_another_account_does_not() {
    const WARNING: &str = "running as root";
    let site = site();
    let log = log_of(&[], &site.path().join("own"));
    assert_eq!(log.contains(WARNING), is_root(), "{log}");
    if is_root() {
        fs::set_permissions(site.path(), Permissions::from_mode(0o777)).unwrap();
        let log = log_of(&SECOND_ACCOUNT, &site.path().join("other"));
        assert!(!log.contains(WARNING), "{log}");
    }
}

#[test]
fn new_files_of_every_command_are_for_their_owner_only() {
    let site = site();
    let data = site.path().join("mall");
    let arguments = ["demo", "--data", data.to_str().unwrap(), "--listen", "127.0.0.1:0"];
    let mall = Process::start(mallbox(&arguments).stderr(Stdio::null()));
    assert!(mall.line().contains("http://"));
    for path in everything(&data) {
        assert_eq!(mode(&path) & 0o077, 0, "{} is {:o}", path.display(), mode(&path));
    }
}
