//! `kill -9` in the middle of the deletion of an account: the account is whole or deleted, never in between,
//! and a repeat deletes it.
//!
//! `MALLBOX_CRASH_CYCLES` sets the number of kills, `MALLBOX_SEED` repeats a plan.

mod common;

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context as _, ensure};
use mallbox_storage::{OrderStatus, Page, UserId};
use serde_json::{Value, json};

use common::dice::{Dice, number_from};
use common::server::{self, Server};
use common::{http, mall};

/// In the language of the machine.
const DELETED: [&str; 2] = ["已注销用户", "Deleted user"];
/// Unpaid orders of each user: every cancellation is a step of the deletion.
const ORDERS: usize = 4;
/// Longest time from the request to the kill, in milliseconds; a deletion takes some ten.
const KILL_WITHIN_MS: u64 = 60;

#[test]
fn an_account_is_whole_or_deleted_after_a_kill_at_any_moment() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(6).min(40);
    let mut dice = Dice::from_environment("deletion");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let mut users = Vec::new();
    let mut deleted_at_once = 0;
    for cycle in 0..cycles {
        let server = start(&data, &log)?;
        let client = Client::new(server.address, 13_900_002_000 + cycle)?;
        client.furnish()?;
        let body = client.fresh_code()?;
        let request = std::thread::spawn({
            let (address, token) = (server.address, client.token.clone());
            // No response after the kill.
            move || drop(http::send(address, "DELETE", "/api/user/me", &token, &body))
        });
        std::thread::sleep(dice.millis(0, KILL_WITHIN_MS));
        server.kill()?;
        request.join().ok().context("the client panicked")?;

        let server = start(&data, &log)?;
        let client = Client { address: server.address, ..client };
        if client.is_deleted()? {
            deleted_at_once += 1;
        } else {
            let again = Client::new(client.address, client.phone)?;
            ensure!(again.id == client.id, "the account is whole, and belongs to the phone");
            let body = again.fresh_code()?;
            let said = http::send(again.address, "DELETE", "/api/user/me", &again.token, &body)?;
            ensure!(said.body["success"] == true, "{}", said.body);
            ensure!(again.is_deleted()?, "a repeat deletes the account");
        }
        users.push(client.id);
        server.stop()?;
    }
    server::verify(&data)?;
    mall::runtime()?.block_on(async {
        let storage = mall::open(&data).await?;
        for user in users {
            let orders = storage.selling.orders.of_user(UserId::new(user), Page::new(1, 50)).await?;
            let statuses: Vec<OrderStatus> = orders.iter().map(|order| order.status).collect();
            ensure!(statuses == [OrderStatus::Cancelled; ORDERS], "user {user}: {statuses:?}");
        }
        Ok(storage.base.upkeep.close().await?)
    })?;
    println!("deletion: {cycles} times kill -9, {deleted_at_once} accounts were deleted before");
    Ok(())
}

fn start(data: &Path, log: &Path) -> anyhow::Result<Server> {
    Server::start_demo(data, log, "127.0.0.1:0".parse()?)
}

/// A logged-in user.
struct Client {
    address: SocketAddr,
    phone: u64,
    token: String,
    id: u64,
}

impl Client {
    fn new(address: SocketAddr, phone: u64) -> anyhow::Result<Self> {
        let mut client = Self { address, phone, token: String::new(), id: 0 };
        let form = json!({ "phone": phone.to_string(), "code": client.code()? });
        let token = client.call("POST", "/api/user/login", &form)?;
        client.token = token.as_str().context("no token")?.to_owned();
        client.id = client.call("GET", "/api/user/me", &Value::Null)?["id"].as_u64().context("no id")?;
        Ok(client)
    }

    /// Sends a request that must succeed. Returns its data.
    fn call(&self, method: &str, path: &str, body: &Value) -> anyhow::Result<Value> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let said = http::send(self.address, method, path, &self.token, &body)?;
        ensure!(said.body["success"] == true, "{method} {path}: {} {}", said.status, said.body);
        Ok(said.body["data"].clone())
    }

    fn code(&self) -> anyhow::Result<Value> {
        let phone = self.phone;
        self.call("POST", &format!("/api/user/code?phone={phone}"), &Value::Null)?;
        Ok(self.call("GET", &format!("/api/demo/inbox?phone={phone}"), &Value::Null)?["code"].clone())
    }

    /// Returns the body of a deletion.
    fn fresh_code(&self) -> anyhow::Result<String> {
        Ok(json!({ "code": self.code()? }).to_string())
    }

    /// Gives the account a profile, a follow, a note and unpaid orders.
    fn furnish(&self) -> anyhow::Result<()> {
        self.call("PUT", "/api/user/info", &json!({ "nickName": "小鱼", "city": "杭州" }))?;
        self.call("PUT", "/api/follow/1/true", &Value::Null)?;
        self.call("POST", "/api/blog", &json!({ "title": "一碗面", "content": "好吃" }))?;
        let vouchers = self.call("GET", "/api/voucher/list/1", &Value::Null)?;
        let ordinary = vouchers.as_array().context("no vouchers")?;
        let ordinary = ordinary.iter().find(|voucher| voucher["beginTime"].is_null());
        let ordinary = ordinary.context("no ordinary voucher")?["id"].clone();
        for _ in 0..ORDERS {
            self.call("POST", &format!("/api/voucher-order/{ordinary}"), &Value::Null)?;
        }
        Ok(())
    }

    /// Returns whether the account is deleted; fails unless it is either whole or deleted.
    fn is_deleted(&self) -> anyhow::Result<bool> {
        let name = self.call("GET", &format!("/api/user/{}", self.id), &Value::Null)?["nickName"].clone();
        let reader = Self::new(self.address, 13_900_003_999)?;
        let card = reader.call("GET", &format!("/api/user/info/{}", self.id), &Value::Null)?;
        let facts = (name.as_str(), card["city"].as_str(), card["followee"].as_u64());
        match facts {
            (Some(name), Some(""), Some(0)) if DELETED.contains(&name) => {
                let session = http::ask(self.address, "GET", "/api/user/me", &self.token)?;
                ensure!(session.status == 401, "a session outlived the account: {}", session.body);
                Ok(true)
            }
            (Some("小鱼"), Some("杭州"), Some(1)) => Ok(false),
            other => anyhow::bail!("the account is neither whole nor deleted: {other:?}"),
        }
    }
}
