//! `mallbox bench agent`: claims that come from other processes, and what a leader says when an agent is
//! gone, silent, or not its own.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/process.rs"]
mod process;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use mallbox_test_foreign_mall::{DIALECT, Fault, ForeignMall, Options};
use mallbox_test_patience::{self as patience, Deadline};
use process::{Process, mallbox};
use tempfile::TempDir;

/// A mall with 50 units, and a directory for the leader.
struct Site {
    mall: ForeignMall,
    dir: TempDir,
}

impl Site {
    fn new(fault: Fault) -> Self {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("dialect"), DIALECT).unwrap();
        Self { mall: ForeignMall::start(&Options { units: 50, fault, ..Options::default() }), dir }
    }

    /// Starts an agent for this mall. Returns also the line for the leader.
    fn agent(&self) -> (Process, String) {
        let agent = Process::start(&mut mallbox(&["bench", "agent", "--target", &self.mall.url()]));
        let line = agent.line();
        (agent, line)
    }

    /// Starts a leader of agents, given as lines.
    fn lead(&self, agents: &[&str], arguments: &[&str]) -> Child {
        let (dialect, file) = (self.dir.path().join("dialect"), self.dir.path().join("agents"));
        fs::write(&file, agents.join("\n")).unwrap();
        let url = self.mall.url();
        let target =
            ["bench", "load", "--target", &url, "--dialect", path(&dialect), "--agents", path(&file)];
        let load = ["--voucher", "1", "--units", "50", "--connections", "4", "--settle", "1"];
        let mut command = mallbox(&[&target[..], &load, arguments].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Waits for a leader. Returns whether it succeeded, and all its output.
fn ended(leader: Child) -> (bool, String) {
    let Output { status, stdout, stderr } = leader.wait_with_output().unwrap();
    (status.success(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

fn signal(process: u32, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &process.to_string()]).status().unwrap().success());
}

#[test]
fn claims_of_two_agents_add_up() {
    let site = Site::new(Fault::None);
    let (agents, lines): (Vec<_>, Vec<_>) = [site.agent(), site.agent()].into_iter().unzip();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    // Closed, then open: an agent serves one leader after another.
    let (is_fine, text) = ended(site.lead(&lines, &["--users", "151", "--claims-per-user", "2"]));
    assert!(is_fine && text.contains(": 50 accepted, "), "{text}");
    let count = |text: &str, name: &str| -> u64 {
        let before = text.split(name).next().unwrap().trim_end();
        before.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert_eq!(count(&text, " sold out") + count(&text, " already bought"), 252, "{text}");
    let json = site.dir.path().join("result.json");
    let open = ["--users", "60", "--rate", "100", "--threads", "2", "--json", path(&json)];
    let (is_fine, text) = ended(site.lead(&lines, &open));
    assert!(is_fine && text.contains(": 0 accepted, 60 sold out"), "{text}");
    let result: serde_json::Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(
        (&result["settings"]["agents"], &result["runs"][0]["latency"]["count"]),
        (&2.into(), &60.into())
    );
    // The arrivals are shared: 60 at 100 a second take no less than 0.59 s, of both agents together.
    assert!(result["runs"][0]["elapsed_s"].as_f64().unwrap() > 0.58, "{result}");
    drop(agents);
}

#[test]
fn only_the_leader_with_the_secret_loads_only_the_agents_targets() {
    let (site, other) = (Site::new(Fault::None), Site::new(Fault::None));
    let (_agent, line) = site.agent();
    let address = line.split(' ').next().unwrap();
    let (is_fine, text) = ended(site.lead(&[&format!("{address} guessed")], &["--users", "4"]));
    assert!(!is_fine && text.contains("wrong secret"), "{text}");
    let (is_fine, text) = ended(other.lead(&[&line], &["--users", "4"]));
    assert!(!is_fine && text.contains(&format!("does not load {}", other.mall.url())), "{text}");
    let (is_fine, text) = ended(site.lead(&[&line], &["--users", "4"]));
    assert!(is_fine && text.contains("4 accepted"), "{text}");
}

#[test]
fn an_agent_that_is_killed_or_never_was_is_named() {
    let site = Site::new(Fault::FallsSilent);
    let (agent, line) = site.agent();
    let leader = site.lead(&[&line], &["--users", "8"]);
    sleep(patience::scaled(Duration::from_secs(2)));
    signal(agent.child.id(), "KILL");
    let (is_fine, text) = ended(leader);
    assert!(!is_fine && text.contains("went away"), "{text}");
    let (is_fine, text) = ended(site.lead(&[&line], &["--users", "8"]));
    assert!(!is_fine && text.contains("cannot reach the agent at 127.0.0.1:"), "{text}");
}

#[test]
fn an_agent_that_falls_silent_is_named_after_ten_seconds() {
    let site = Site::new(Fault::FallsSilent);
    let (agent, line) = site.agent();
    let leader = site.lead(&[&line], &["--users", "8"]);
    sleep(patience::scaled(Duration::from_secs(2)));
    signal(agent.child.id(), "STOP");
    let (is_fine, text) = ended(leader);
    signal(agent.child.id(), "CONT");
    assert!(!is_fine && text.contains("has been silent for 10 s"), "{text}");
}

#[test]
fn an_agent_whose_leader_is_gone_ends_the_load_and_serves_the_next() {
    let site = Site::new(Fault::None);
    let (agent, line) = site.agent();
    // The other lines of the banner.
    agent.line();
    agent.line();
    let mut leader = site.lead(&[&line], &["--users", "40", "--rate", "1"]);
    assert!(agent.line().contains("40 users claim"));
    signal(leader.id(), "KILL");
    leader.wait().unwrap();
    let deadline = Deadline::after(Duration::from_secs(20));
    assert_eq!(agent.line(), "done");
    assert!(!deadline.is_over(), "a load of 40 s went on without its leader");
    let (is_fine, text) = ended(site.lead(&[&line], &["--users", "4"]));
    assert!(is_fine, "{text}");
}

#[test]
fn an_agent_refuses_targets_beyond_its_machine_and_leaders_without_agents() {
    for (arguments, words) in [
        (&["--target", "http://192.0.2.1"][..], "is another machine"),
        (&["--target", "https://localhost"], "expected http://HOST"),
        (&["--target", "http://127.0.0.1:1"], "cannot connect to 127.0.0.1:1"),
        (&[], "--target"),
    ] {
        let refused = mallbox(&[&["bench", "agent"], arguments].concat()).output().unwrap();
        let text = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && text.contains(words), "{words}: {text}");
    }
    let site = Site::new(Fault::None);
    for lines in [&[][..], &["127.0.0.1:1"], &["secret"]] {
        let (is_fine, text) = ended(site.lead(lines, &[]));
        assert!(!is_fine && text.contains("is not an agent"), "{text}");
    }
    let (_agent, line) = site.agent();
    let (is_fine, text) = ended(site.lead(&[&line, &line], &["--users", "1"]));
    assert!(!is_fine && text.contains("pass at least as many users as agents"), "{text}");
}
