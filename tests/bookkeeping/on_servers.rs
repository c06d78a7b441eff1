//! The export of a mall in Redis and MySQL.

use anyhow::ensure;
use mallbox::place::Place;
use mallbox_storage_production::ProductionOptions;
use mallbox_test_servers::{MariaDb, Redis};
use tempfile::TempDir;

use crate::common::mall;
use crate::common::server::{Server, verify_json_on};
use crate::export::Export;
use crate::furnished::furnish;

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn yesterday_is_exported_from_servers_with_and_without_a_running_mall() -> anyhow::Result<()> {
    let (redis_server, mysql_server) = (Redis::start()?, MariaDb::start()?);
    let (redis, mysql) = (redis_server.url(), mysql_server.url("mall"));
    let dir = TempDir::new()?;
    let place = Place::Production(ProductionOptions::new(redis.clone(), mysql.clone()));
    let furnished = mall::runtime()?.block_on(async {
        let storage = place.open().await?;
        let furnished = furnish(&storage).await?;
        storage.base.upkeep.close().await?;
        anyhow::Ok(furnished)
    })?;
    let export =
        |name: &str, flags: &[&str]| Export::of_servers(&redis, &mysql, &dir.path().join(name), flags);
    let stopped = export("stopped", &[])?;
    stopped.has_all_of_yesterday(&furnished)?;
    let server = Server::start_on(&redis, &mysql, &dir.path().join("log"))?;
    let yesterday = furnished.yesterday.to_string();
    let running = export("running", &["--from", &yesterday, "--to", &yesterday])?;
    for name in ["orders.csv", "payments.csv", "books.csv", "cash.csv"] {
        ensure!(running.text(name)? == stopped.text(name)?, "{name} of the running mall differs");
    }
    let (from, to) = (furnished.before.to_string(), furnished.today.to_string());
    let all = export("all", &["--from", &from, "--to", &to])?;
    let report = serde_json::from_slice(&verify_json_on(&redis, &mysql)?.stdout)?;
    all.agrees_with(&report)?;
    server.stop()
}
