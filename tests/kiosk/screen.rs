//! The installed unit under a real systemd, in a container of systemd-nspawn: the browser shows the page of a
//! running mall, and comes back after everything that dies.

use std::fs;
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox_test_patience as patience;

use crate::common::server::Server;
use crate::container::{Booted, drop_in};
use crate::recorder::{self, Recorder};
use crate::root::Root;
use crate::{KEY, UNIT, output_in, root_with_mallbox};

/// For a browser that starts on a busy machine.
const PAGE_TIMEOUT: Duration = Duration::from_secs(60);
/// `HANG_TIMEOUT` of `kiosk watch`, and a start.
const HANG_TIMEOUT: Duration = Duration::from_secs(120);
/// A key as the console makes them.
const SECRET: &str = "0123456789abcdefghijklmnopqrstuv";

/// What a container lacks: a terminal with a screen. cage draws into memory.
const WITHOUT_TERMINAL: &str = "\
[Unit]
ConditionPathExists=
[Service]
TTYPath=
TTYReset=no
TTYVHangup=no
TTYVTDisallocate=no
UtmpIdentifier=
StandardInput=null
Environment=WLR_BACKENDS=headless WLR_RENDERER=pixman MALLBOX_LANG=en
# The machine's own printers are of no concern.
Environment=CUPS_SERVER=127.0.0.1:1
";

/// Sends a signal to the browser: the child of the newest `kiosk watch`, as a former one may be on its way
/// out.
fn signal_browser(booted: &Booted, name: &str) -> anyhow::Result<()> {
    let watch = booted.run("pgrep", &["--newest", "--full", "--", "^/usr/bin/mallbox kiosk watch"])?;
    booted.run("pkill", &["--signal", name, "--parent", watch.trim()]).map(drop)
}

/// Sends SIGKILL to all processes of the account with this command line.
fn kill(booted: &Booted, command: &str) -> anyhow::Result<()> {
    let arguments = ["--signal", "KILL", "--uid", "mallbox-kiosk", "--full", "--", command];
    booted.run("pkill", &arguments).map(drop)
}

/// Gives the kiosk a key, as an operator pastes a link.
fn give_key(root: &Root, link: &str) -> anyhow::Result<String> {
    let mut command = Command::new("chroot");
    command.arg(root.path()).args(["/usr/bin/mallbox", "kiosk", "key", "--lang", "en"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    writeln!(child.stdin.take().context("no input")?, "{link}")?;
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "{}: {said}", output.status);
    Ok(said)
}

#[test]
#[cfg_attr(
    not(all(feature = "kiosk-tests", feature = "nspawn-tests")),
    ignore = "needs root, cage, chromium and systemd-nspawn; tests/run turns it on where they are there"
)]
fn a_kiosk_shows_the_mall_and_comes_back_after_every_crash() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let mall = Server::start_demo(&site.path().join("mall"), &site.path().join("mallbox.log"), free)?;
    let requests = Recorder::start(mall.address)?;
    let root = root_with_mallbox(site.path())?;
    let url = format!("http://{}", requests.address);
    let (code, said) = output_in(
        &root,
        &["mallbox", "kiosk", "install", "--url", &url, "--attract", "5", "--page-lang", "zh"],
    )?;
    ensure!(code == 0, "{said}");
    let said = give_key(&root, &format!("{url}/?kiosk#kiosk-key={SECRET}"))?;
    ensure!(said.starts_with("the key is stored"), "{said}");
    let access = root.run("stat", &["-c", "%a %U %G", &format!("/{KEY}")])?;
    ensure!(access == "640 root mallbox-kiosk\n", "{access}");
    drop_in(&root, "mallbox-kiosk.service", WITHOUT_TERMINAL)?;
    let booted = Booted::boot(&root)?;

    booted.systemctl(&["start", "mallbox-kiosk.service"])?;
    told(&booted, page_runs(&requests, 0))?;
    // The page has stored the key, which is on no command line. The browser writes it after a while.
    patience::until_ok(PAGE_TIMEOUT, || {
        booted.run("grep", &["-rqaF", SECRET, "/var/lib/mallbox-kiosk/chromium/Default"])
    })?;
    let commands = booted.run("ps", &["-eo", "args"])?;
    ensure!(commands.contains("--remote-debugging-pipe") && !commands.contains(SECRET), "{commands}");
    ensure!(!commands.contains("--no-sandbox"), "{commands}");
    let policies = booted.run("sh", &["-c", "cat /proc/$(pgrep -o -f type=renderer)/status"])?;
    ensure!(policies.contains("Seccomp:\t2"), "a page without a sandbox: {policies}");

    signal_browser(&booted, "KILL")?;
    told(&booted, comes_back(&booted, &requests, 1)).context("after a dead browser")?;
    kill(&booted, "--type=renderer")?;
    told(&booted, comes_back(&booted, &requests, 2)).context("after a dead page")?;
    // A browser that hangs keeps its profile: the next one must not wait for it.
    signal_browser(&booted, "STOP")?;
    kill(&booted, "^/usr/bin/cage ")?;
    told(&booted, comes_back(&booted, &requests, 3)).context("beside a hung browser")?;
    signal_browser(&booted, "STOP")?;
    told(&booted, comes_back(&booted, &requests, 4)).context("after a hung browser")?;
    let journal = booted.run("journalctl", &["--no-pager", "--output", "cat"])?;
    for reason in ["the browser has ended", "the page has crashed", "the browser does not respond"] {
        ensure!(journal.contains(&format!("mallbox: {reason}")), "no \"{reason}\" in {journal}");
    }

    // A page that leaves the mall, and one that prints without a printer, which no person could end.
    for (script, flags, reason) in [
        (
            "location = 'http://127.0.0.1:1/'",
            &[][..],
            "the browser has left the mall for http://127.0.0.1:1/",
        ),
        ("print()", &["--print"], "the browser does not finish printing"),
    ] {
        let url = format!("http://{}", recorder::serve_page(script)?);
        booted.run("mallbox", &[&["kiosk", "install", "--url", &url][..], flags].concat())?;
        booted.systemctl(&["restart", "mallbox-kiosk.service"])?;
        patience::until_ok(HANG_TIMEOUT, || {
            let journal = booted.run("journalctl", &["--no-pager", "--output", "cat", "--lines", "200"])?;
            ensure!(journal.contains(&format!("mallbox: {reason}")), "no \"{reason}\" in {journal}");
            Ok(())
        })?;
    }

    // Stopped, it stays stopped. Removed, nothing is left.
    booted.systemctl(&["stop", "mallbox-kiosk.service"])?;
    patience::until_ok(PAGE_TIMEOUT, || {
        let (state, processes) =
            (booted.run("systemctl", &["show", "-P", "ActiveState", "mallbox-kiosk"])?, "pgrep");
        let alive = booted.run(processes, &["--uid", "mallbox-kiosk"]);
        ensure!(state == "inactive\n" && alive.is_err(), "{state} {alive:?}");
        Ok(())
    })?;
    booted.systemctl(&["start", "mallbox-kiosk.service"])?;
    fs::remove_file(root.path().join("etc/systemd/system/mallbox-kiosk.service.d/test.conf"))?;
    let said = booted.run("mallbox", &["kiosk", "remove", "--lang", "en"])?;
    ensure!(said.starts_with("the kiosk is removed"), "{said}");
    for path in [UNIT, KEY, "var/lib/mallbox-kiosk", "etc/mallbox-kiosk"] {
        ensure!(!root.path().join(path).exists(), "{path} is left");
    }
    ensure!(booted.run("getent", &["passwd", "mallbox-kiosk"]).is_err(), "the account is left");
    mall.stop()
}

/// Waits until systemd has restarted the unit for this time, and the page runs again.
fn comes_back(booted: &Booted, requests: &Recorder, restart: u32) -> anyhow::Result<()> {
    let wanted = format!("restart counter is at {restart}.");
    patience::until_ok(HANG_TIMEOUT, || {
        let journal =
            booted.run("journalctl", &["--no-pager", "--output", "cat", "--unit", "mallbox-kiosk"])?;
        ensure!(journal.contains(&wanted), "no \"{wanted}\"");
        Ok(())
    })?;
    // The former browser is dead, and the next one starts in some seconds.
    page_runs(requests, requests.paths().len())
}

/// Waits for a request of the page and then, by its modules, for one of offers, after the first `before`
/// requests.
fn page_runs(requests: &Recorder, before: usize) -> anyhow::Result<()> {
    patience::until_ok(PAGE_TIMEOUT, || {
        let paths = requests.paths().split_off(before);
        let opened = paths.iter().skip_while(|path| *path != "/?kiosk&attract=5");
        ensure!(opened.clone().any(|path| path.starts_with("/api/")), "{paths:?}");
        Ok(())
    })
}

/// Adds what the unit has logged to an error.
fn told<T>(booted: &Booted, result: anyhow::Result<T>) -> anyhow::Result<T> {
    result.with_context(|| {
        let last = ["--no-pager", "--output", "cat", "--lines", "60"];
        booted.run("journalctl", &last).unwrap_or_else(|error| error.to_string())
    })
}
