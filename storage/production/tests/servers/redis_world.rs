//! What cases about Redis alone begin with: servers of their own, and the ports that are in Redis.

use std::time::Duration;

use mallbox_storage::{Claim, ClaimOutcome, OpenError, Storage, StoreError};
use mallbox_storage_production::mysql::MysqlPorts;
use mallbox_storage_production::redis::{self, DatabaseForRedis, RedisOptions, RedisPorts};
use mallbox_test_patience::Deadline;
use mallbox_test_servers::{Database, Redis, RedisOptions as ServerOptions};

use crate::world;

/// What is in Redis, of a mall whose record is empty.
pub async fn connect(options: &RedisOptions) -> Result<RedisPorts, OpenError> {
    connect_beside(options, Database::fresh().url()).await
}

/// The same of a mall with this record.
pub async fn connect_beside(options: &RedisOptions, mysql: &str) -> Result<RedisPorts, OpenError> {
    let record = world::record(mysql).await;
    let MysqlPorts { epochs, holders, orders, shops, sign_rows, feed_rows, .. } = record;
    redis::connect(options, DatabaseForRedis { epochs, holders, orders, shops, sign_rows, feed_rows }).await
}

/// A server of a case's own.
pub async fn start(options: ServerOptions) -> Redis {
    tokio::task::spawn_blocking(move || Redis::start_with(options).unwrap()).await.unwrap()
}

/// Says something to a server behind the mall's back.
pub fn tell(url: &str, words: &[&str]) {
    let mut connection = ::redis::Client::open(url).unwrap().get_connection().unwrap();
    let mut command = ::redis::cmd(words[0]);
    command.arg(&words[1..]);
    let _: ::redis::Value = command.query(&mut connection).unwrap();
}

/// What a server says of itself.
pub fn says(url: &str, section: &str) -> String {
    try_says(url, section).unwrap()
}

/// The same of one that may be away.
pub fn try_says(url: &str, section: &str) -> ::redis::RedisResult<String> {
    let mut connection = ::redis::Client::open(url)?.get_connection()?;
    ::redis::cmd("INFO").arg(section).query(&mut connection)
}

/// Whether this attempt is accepted.
pub async fn accepted(storage: &Storage, claim: Claim) -> bool {
    attempt(storage, claim).await.unwrap() == ClaimOutcome::Accepted
}

/// Claims as the mall does it: a sale that is not known, and in the record, is put.
pub async fn attempt(storage: &Storage, claim: Claim) -> Result<ClaimOutcome, StoreError> {
    match storage.sales.claim(claim).await? {
        ClaimOutcome::Unknown => {}
        answer => return Ok(answer),
    }
    if let Some(sale) = storage.vouchers.get(claim.voucher).await?.and_then(|voucher| voucher.sale) {
        storage.sales.put(sale.terms).await?;
    }
    storage.sales.claim(claim).await
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
