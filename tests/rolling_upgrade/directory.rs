//! A directory of the former version, opened by this version, and led back.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use mallbox_test_checker::{History, LedgerReport, State, judge};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::common::dice::Dice;
use super::common::inspection;
use super::common::mall::Size;
use super::common::rush::Rush;
use super::common::server::Server;
use super::common::shoppers::{self, Behaviour, ShopperScript};
use super::former::Former;
use super::founding::{Founded, call};
use super::sessions::Visitors;

const CONNECTIONS: usize = 16;
const SIZE: Size = Size { people: 900, sales: 2, units: 500 };

/// A directory, and the clients of the mall in it.
struct Site {
    dir: TempDir,
    former: Former,
    founded: Founded,
    /// Settings as the former version showed them.
    settings: Value,
    history: Arc<Mutex<History>>,
    dice: Dice,
}

impl Site {
    fn data(&self) -> PathBuf {
        self.dir.path().join("mall")
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("mallbox.log")
    }

    /// Starts this version.
    fn this(&self) -> anyhow::Result<Server> {
        Server::start(&self.data(), &self.log(), "power")
    }

    /// Starts this version on a killed mall that the former version has refused: such a start of the former
    /// version may have moved the `-wal` file of the database, which this version then names.
    fn this_after_former(&self) -> anyhow::Result<Server> {
        let refusal = match self.this() {
            Ok(server) => return Ok(server),
            Err(refusal) => format!("{refusal:#}"),
        };
        let is_explained = refusal.contains("as a refused start of an earlier version does");
        let number = refusal.split("--accept-damaged-database ").nth(1).and_then(|text| text.lines().next());
        let number = number.filter(|_| is_explained).with_context(|| refusal.clone())?;
        println!("a directory goes back: {}", refusal.lines().last().unwrap_or_default());
        Server::start_with(&self.data(), &self.log(), &["--accept-damaged-database", number])
    }

    fn kill_in_rush(&mut self, server: Server) -> anyhow::Result<()> {
        let rush = self.rush(&server);
        server.kill()?;
        rush.end()?;
        Ok(())
    }

    /// Checks that settings and sessions are there.
    fn has_everything(&self, server: &Server, visitors: &Visitors) -> anyhow::Result<()> {
        let settings = self.settings(server)?;
        ensure!(settings == self.settings, "settings were {}, and are {settings}", self.settings);
        visitors.stay(&[server])
    }

    /// Starts a rush on the first sale, and waits for some responses.
    fn rush(&mut self, server: &Server) -> Rush<ShopperScript> {
        let (sale, dice) = (self.founded.mall.sales[0], self.dice.split());
        let script = ShopperScript::new(&self.history, sale, Behaviour::Live, CONNECTIONS, dice);
        let rush = Rush::start(server.address, CONNECTIONS, script);
        rush.wait_for(300 + self.dice.below(300));
        rush
    }

    /// Checks the mall that the former version serves against every response of both versions.
    fn inspect_former(&self, server: &Server) -> anyhow::Result<()> {
        let verify = self.former.run(&["verify", "--json"], &place(&self.data()))?;
        let history = self.history.lock();
        let state = State::read(server.address, &history, &self.founded.operator)
            .with_context(|| server.stderr_tail())?;
        judge(&history, &state, Some(&LedgerReport::of(&verify)?)).passed()
    }

    /// Returns settings of operators: levels, and the terms of the second sale.
    fn settings(&self, server: &Server) -> anyhow::Result<Value> {
        let read = |path: &str| call(server, "GET", path, &self.founded.operator, &Value::Null);
        let (levels, sales) = (read("/ops/levels")?, read("/ops/sales")?);
        let of_second = |sale: &&Value| sale["voucherId"] == self.founded.mall.sales[1].get();
        let sale = sales.as_array().and_then(|sales| sales.iter().find(of_second));
        let sale = sale.with_context(|| format!("the second sale is missing: {sales}"))?;
        Ok(json!([levels, sale["state"], sale["paused"], sale["added"], sale["left"], sale["endTime"]]))
    }
}

#[test]
#[cfg_attr(
    not(feature = "former-tests"),
    ignore = "needs a former version; tests/run --former REV builds one"
)]
fn a_directory_goes_forth_and_back_with_all_that_was_acknowledged() -> anyhow::Result<()> {
    let dice = Dice::from_environment("a directory goes back");
    let (dir, former) = (TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?, Former::from_environment()?);
    let (data, log) = (dir.path().join("mall"), dir.path().join("mallbox.log"));
    let server = former.serve(&place(&data), &log)?;
    let grant = |phone: &str| former.run(&["user", "grant", phone], &place(&data));
    let founded = Founded::make(&server, SIZE, grant)?;
    let history = shoppers::history(&founded.mall, &founded.mall.sales[..1]);
    let mut site = Site { dir, former, founded, settings: Value::Null, history, dice };
    let mut visitors = Visitors::default();
    visitors.log_in_at_each(&[&server])?;
    change_settings(&site, &server)?;
    site.settings = site.settings(&server)?;
    site.rush(&server).report()?;
    server.stop()?;

    // Forth: what the former version left is there, and more comes. A killed mall leaves pending claims.
    let server = site.this()?;
    site.has_everything(&server, &visitors)?;
    inspection::inspect_in(&server, &data, &site.history.lock(), &site.founded.operator)?;
    visitors.log_in_at_each(&[&server])?;
    site.kill_in_rush(server)?;

    // Back, and forth again.
    downgrade(&data)?;
    let server = site.former.serve(&place(&data), &log)?;
    site.has_everything(&server, &visitors)?;
    site.inspect_former(&server)?;
    visitors.log_in_at_each(&[&server])?;
    site.rush(&server).report()?;
    site.inspect_former(&server)?;
    server.stop()?;
    let server = site.this()?;
    site.has_everything(&server, &visitors)?;
    site.kill_in_rush(server)?;

    // Without a downgrade the former version refuses the directory, unless nothing is lost.
    if let Some(server) = site.former.serve_after_upgrade(&place(&data), &log)? {
        site.has_everything(&server, &visitors)?;
        site.inspect_former(&server)?;
        server.stop()?;
    }
    let server = site.this_after_former()?;
    site.has_everything(&server, &visitors)?;
    let (sale, summary) = (site.founded.mall.sales[0], site.history.lock().summary());
    inspection::finish(server, &data, &site.history, sale, &site.founded.operator, &mut site.dice)?;
    println!("a directory goes back: {summary:?}, then sold out");
    Ok(())
}

fn place(data: &Path) -> [String; 2] {
    ["--data".to_owned(), data.display().to_string()]
}

/// Sets the levels, and pauses the second sale with other units.
fn change_settings(site: &Site, server: &Server) -> anyhow::Result<()> {
    let (operator, sale) = (&site.founded.operator, site.founded.mall.sales[1]);
    let levels = json!({ "credits": [0, 7, 77] });
    call(server, "PUT", "/ops/levels", operator, &levels)?;
    let change = json!({ "add": 11, "requestId": "truck" });
    call(server, "POST", &format!("/ops/sales/{sale}/stock"), operator, &change)?;
    call(server, "POST", &format!("/ops/sales/{sale}/pause"), operator, &Value::Null)?;
    Ok(())
}

fn downgrade(data: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mallbox"));
    command.arg("downgrade").arg("--data").arg(data).env("LC_ALL", "C").stdin(Stdio::null());
    let Output { status, stdout, stderr } = command.output()?;
    let text = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
    ensure!(status.success(), "mallbox downgrade: {status}: {text}");
    Ok(())
}
