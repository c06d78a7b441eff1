//! Set-up for cases about Redis alone: dedicated servers, and the ports backed by Redis.

use std::time::Duration;

use mallbox_storage::{Claim, ClaimOutcome, OpenError, Storage, StoreError};
use mallbox_storage_production::mysql::MysqlPorts;
use mallbox_storage_production::redis::{self, DatabaseForRedis, RedisOptions, RedisPorts};
use mallbox_test_patience::Deadline;
use mallbox_test_servers::{Database, Redis, RedisOptions as ServerOptions};

use crate::world;

/// Connects the Redis ports of a mall with an empty database.
pub async fn connect(options: &RedisOptions) -> Result<RedisPorts, OpenError> {
    connect_beside(options, Database::fresh().url()).await
}

/// Connects the Redis ports of a mall with the given database.
pub async fn connect_beside(options: &RedisOptions, mysql: &str) -> Result<RedisPorts, OpenError> {
    let record = world::record(mysql).await;
    let MysqlPorts { epochs, holders, orders, shops, sign_rows, feed_rows, .. } = record;
    redis::connect(options, DatabaseForRedis { epochs, holders, orders, shops, sign_rows, feed_rows }).await
}

/// A server of a case's own.
pub async fn start(options: ServerOptions) -> Redis {
    tokio::task::spawn_blocking(move || Redis::start_with(options).unwrap()).await.unwrap()
}

/// Sends a command to a server directly, bypassing the mall.
pub fn tell(url: &str, words: &[&str]) {
    let mut connection = ::redis::Client::open(url).unwrap().get_connection().unwrap();
    let mut command = ::redis::cmd(words[0]);
    command.arg(&words[1..]);
    let _: ::redis::Value = command.query(&mut connection).unwrap();
}

/// Returns a section of a server's `INFO`.
pub fn says(url: &str, section: &str) -> String {
    try_says(url, section).unwrap()
}

/// Returns a section of a server's `INFO`, or the error of an unreachable server.
pub fn try_says(url: &str, section: &str) -> ::redis::RedisResult<String> {
    let mut connection = ::redis::Client::open(url)?.get_connection()?;
    ::redis::cmd("INFO").arg(section).query(&mut connection)
}

/// Whether the claim is accepted.
pub async fn accepted(storage: &Storage, claim: Claim) -> bool {
    attempt(storage, claim).await.unwrap() == ClaimOutcome::Accepted
}

/// Claims as the mall does: puts a sale that memory does not know, if the database has the sale.
pub async fn attempt(storage: &Storage, claim: Claim) -> Result<ClaimOutcome, StoreError> {
    match storage.selling.sales.claim(claim).await? {
        ClaimOutcome::Unknown => {}
        answer => return Ok(answer),
    }
    if let Some(sale) = storage.catalogue.vouchers.get(claim.voucher).await?.and_then(|voucher| voucher.sale)
    {
        let _ = storage.selling.sales.put(sale.terms, world::TOKEN).await?;
    }
    storage.selling.sales.claim(claim).await
}

/// Repeats a claim until the mall responds to claims again.
pub async fn recovers(storage: &Storage, claim: Claim) -> ClaimOutcome {
    let until = Deadline::after(Duration::from_secs(20));
    loop {
        match attempt(storage, claim).await {
            Ok(answer) => return answer,
            Err(error) => assert!(!until.is_over(), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
