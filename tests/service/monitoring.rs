//! What operators watch: every metric that the alert rules and the dashboard name is one of `/metrics`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use mallbox_test_servers::{MariaDb, Redis};
use regex::Regex;

use crate::common::http;
use crate::common::server::Server;

/// Returns the names of the metrics of a mall, with those of the parts of its histograms.
fn names(server: &Server) -> anyhow::Result<BTreeSet<String>> {
    let text = http::ask(server.address, "GET", "/metrics", "")?.text;
    let mut names = BTreeSet::from(["up".to_owned()]);
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').with_context(|| line.to_owned())?;
        names.insert(name.to_owned());
        if kind == "histogram" {
            names.extend(["bucket", "sum", "count"].map(|part| format!("{name}_{part}")));
        }
    }
    Ok(names)
}

#[test]
#[cfg_attr(
    not(feature = "production-tests"),
    ignore = "needs redis-server and mariadbd; tests/run turns it on where they are there"
)]
fn alert_rules_and_dashboard_name_metrics_that_exist() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let log = site.path().join("mallbox.log");
    let in_directory = Server::start(&site.path().join("mall"), &log, "power")?;
    let (redis, mariadb) = (Redis::start()?, MariaDb::start()?);
    let on_servers = Server::start_on(&redis.url(), &mariadb.url("mall"), &log)?;
    let known: BTreeSet<String> = names(&in_directory)?.into_iter().chain(names(&on_servers)?).collect();
    let metric = Regex::new(r"\b(?:mallbox|process)_[a-z_]+|\bup\b")?;
    for (file, count) in [("alerts.yml", 11), ("dashboard.json", 20)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".packaging/monitoring").join(file);
        let text = fs::read_to_string(path)?;
        let named: BTreeSet<&str> = text
            .lines()
            .filter(|line| line.contains("expr"))
            .flat_map(|line| metric.find_iter(line))
            .map(|found| found.as_str())
            .collect();
        ensure!(named.len() >= count, "{file} names {named:?}");
        let unknown: Vec<_> = named.iter().filter(|name| !known.contains(**name)).collect();
        ensure!(unknown.is_empty(), "{file} names {unknown:?}; known: {known:?}");
    }
    in_directory.stop()?;
    on_servers.stop()
}
