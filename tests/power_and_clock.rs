//! Starts of a kiosk: after a power cut, and with a clock that is wrong. Real processes; the wrong clock is
//! made by moving the stored time of the last run.

mod common;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox::mall::{Clock as _, SystemClock};
use mallbox_storage::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

use common::http::{self, Reply};
use common::mall;
use common::pending::{Left, Pending};
use common::server::Server;

const PEOPLE: usize = 6;
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);
const LAST_RUN: &str = "clock: last run ms";
const SENTENCE: &str = "the last run did not end in order";

struct Site {
    dir: TempDir,
    pending: Pending,
    operator: String,
}

impl Site {
    /// Makes a mall, stopped in order.
    fn make() -> anyhow::Result<Self> {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
        let pending = Pending::make(&dir.path().join("mall"), PEOPLE, Left::Stopped)?;
        let operator = mall::appoint_operator(&dir.path().join("mall"), &pending.mall)?;
        Ok(Self { dir, pending, operator })
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("mall")
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("mallbox.log")
    }

    fn start(&self) -> anyhow::Result<Server> {
        let _ = std::fs::remove_file(self.log());
        Server::start(&self.data(), &self.log(), "power")
    }

    fn ask(&self, server: &Server, method: &str, path: &str, body: &str) -> anyhow::Result<Reply> {
        http::send(server.address, method, path, &self.operator, body)
    }
}

/// Returns the stored time of the last run of a stopped mall, after storing `at` if given.
fn last_run(data: &Path, at: Option<Timestamp>) -> anyhow::Result<Timestamp> {
    mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        let upkeep = &storage.base.upkeep;
        if let Some(at) = at {
            upkeep.put_setting(LAST_RUN, &at.as_millis().to_string()).await?;
        }
        let stored = upkeep.setting(LAST_RUN).await?.context("no time is stored")?;
        upkeep.close().await?;
        Ok(Timestamp::from_millis(stored.parse()?))
    })
}

/// Stops a server. Returns everything that it printed after its address, and its log.
fn stopped(mut server: Server, site: &Site) -> anyhow::Result<(String, String)> {
    let lines = server.take_lines();
    server.stop()?;
    Ok((lines.iter().collect::<Vec<_>>().join("\n"), std::fs::read_to_string(site.log())?))
}

fn readiness(server: &Server) -> anyhow::Result<(u16, Value)> {
    let reply = http::ask(server.address, "GET", "/readyz", "")?;
    Ok((reply.status, reply.body))
}

fn metrics(server: &Server) -> anyhow::Result<String> {
    Ok(http::ask(server.address, "GET", "/metrics", "")?.text)
}

#[test]
fn a_start_after_a_kill_says_so_and_a_start_after_a_stop_does_not() -> anyhow::Result<()> {
    let site = Site::make()?;
    let server = site.start()?;
    ensure!(readiness(&server)?.1.get("recovery").is_none(), "the first start follows a clean stop");
    let (printed, logged) = stopped(server, &site)?;
    ensure!(!printed.contains(SENTENCE) && !logged.contains(SENTENCE), "{printed}\n{logged}");

    // A run of a few milliseconds may not have stored its time yet.
    last_run(&site.data(), Some(SystemClock.now()))?;
    site.start()?.kill()?;
    let server = site.start()?;
    let (status, state) = readiness(&server)?;
    ensure!(status == 200 && state["ready"] == true, "{state}");
    let recovery = &state["recovery"];
    ensure!(recovery["databaseChecked"] == true && recovery["tookMs"].is_u64(), "{recovery}");
    ensure!(recovery["lastTime"].is_string(), "{recovery}");
    ensure!(metrics(&server)?.contains("\nmallbox_recovery_milliseconds "), "no metric of the recovery");
    let (printed, logged) = stopped(server, &site)?;
    for text in [&printed, &logged] {
        ensure!(text.matches(SENTENCE).count() == 1, "once: {text}");
        ensure!(text.contains("its last stored time is ") && text.contains("checked the database"), "{text}");
    }

    let server = site.start()?;
    ensure!(!metrics(&server)?.contains("mallbox_recovery"), "a clean start recovers nothing");
    let (printed, logged) = stopped(server, &site)?;
    ensure!(!printed.contains(SENTENCE) && !logged.contains(SENTENCE), "{printed}\n{logged}");
    Ok(())
}

/// The claims of a killed run are counted as what they are: queued again.
#[test]
fn a_start_after_a_kill_counts_the_claims_that_it_queues_again() -> anyhow::Result<()> {
    let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (dir.path().join("mall"), dir.path().join("mallbox.log"));
    let pending = Pending::make(&data, PEOPLE, Left::Killed)?;
    let server = Server::start(&data, &log, "power")?;
    let recovery = readiness(&server)?.1["recovery"].clone();
    ensure!(recovery["claims"] == pending.orders.len(), "{recovery}");
    ensure!(recovery["commits"].as_u64() >= Some(1) && recovery.get("lastTime").is_none(), "{recovery}");
    pending.are_shown(&server)?;
    server.stop()
}

fn is_sure(server: &Server) -> anyhow::Result<bool> {
    let (status, state) = readiness(server)?;
    let is_sure = state["clock"] == "sure";
    // A load balancer keeps the mall in any case, and a monitor sees the reason.
    ensure!(status == 200 && state["ready"] == true, "{state}");
    let names_it = state["warnings"].to_string().contains("clock is unsure");
    ensure!(names_it != is_sure, "{state}");
    let gauge = format!("\nmallbox_clock_unsure {}\n", u8::from(!is_sure));
    ensure!(metrics(server)?.contains(&gauge), "no {gauge}");
    Ok(is_sure)
}

#[test]
fn a_start_with_a_wrong_clock_refuses_claims_until_an_operator_confirms_the_time() -> anyhow::Result<()> {
    let site = Site::make()?;
    let now = SystemClock.now();
    for (last_run_at, doubt) in [(now + HOUR, "behind"), (now - 500 * DAY, "ahead")] {
        last_run(&site.data(), Some(last_run_at))?;
        let server = site.start()?;
        ensure!(!is_sure(&server)?, "{doubt}");
        let refused = site.pending.claim(&server)?;
        ensure!((refused.status, refused.code()) == (503, "CLOCK_UNSURE"), "{}", refused.text);
        ensure!(refused.retry_after() == Some(30), "{refused:?}");
        let words = refused.body["errorMsg"].as_str().unwrap_or_default();
        ensure!(words.contains("抢购和签到暂停"), "{words}");
        site.pending.are_shown(&server)?;
        ensure!(site.ask(&server, "POST", "/api/user/sign", "")?.code() == "CLOCK_UNSURE", "sign-in");

        let clock = site.ask(&server, "GET", "/api/ops/clock", "")?.body["data"].clone();
        ensure!(clock["state"] == "unsure" && clock["doubt"] == doubt, "{clock}");
        let wrong = json!({ "timeMs": last_run_at.as_millis() }).to_string();
        let moved = site.ask(&server, "POST", "/api/ops/clock/confirm", &wrong)?;
        ensure!((moved.status, moved.code()) == (200, "CLOCK_MOVED"), "{}", moved.text);
        ensure!(!is_sure(&server)?, "{doubt}");

        let seen = json!({ "timeMs": clock["timeMs"] }).to_string();
        let confirmed = site.ask(&server, "POST", "/api/ops/clock/confirm", &seen)?;
        ensure!(confirmed.body["data"]["state"] == "sure", "{}", confirmed.text);
        ensure!(is_sure(&server)?, "{doubt}");
        let audit = site.ask(&server, "GET", "/api/ops/audit", "")?.text;
        ensure!(audit.contains("clock.confirm"), "{audit}");
        if doubt == "ahead" {
            let claimed = site.pending.claim(&server)?;
            ensure!(claimed.status == 200 && claimed.body["success"] == true, "{}", claimed.text);
        }
        server.stop()?;
        // The time of the stopped mall is the confirmed one, not the former.
        let stored = last_run(&site.data(), None)?;
        ensure!(stored.since(now) < HOUR && stored >= now, "{stored:?}");
        let server = site.start()?;
        ensure!(is_sure(&server)?, "after {doubt}");
        server.stop()?;
    }
    Ok(())
}

/// A power cut beside a wrong clock: nothing of the doubtful time is stored.
#[test]
fn a_kill_while_the_clock_is_unsure_leaves_the_last_sure_time() -> anyhow::Result<()> {
    let site = Site::make()?;
    let sure = SystemClock.now() - 500 * DAY;
    last_run(&site.data(), Some(sure))?;
    for _ in 0..2 {
        let server = site.start()?;
        ensure!(!is_sure(&server)?, "500 days ahead");
        server.kill()?;
    }
    let stored = last_run(&site.data(), None)?;
    ensure!(stored >= sure && stored.since(sure) < HOUR, "{stored:?} after {sure:?}");
    Ok(())
}
