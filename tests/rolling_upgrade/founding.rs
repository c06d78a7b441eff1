//! A mall made through the HTTP API of a running server, whatever the server's version.

use std::process::Output;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use mallbox_storage::{UserId, VoucherId};
use mallbox_test_checker::Client;
use serde_json::{Value, json};

use super::common::http;
use super::common::log_ins;
use super::common::mall::{Mall, Person, Size};
use super::common::server::Server;

const OPERATOR: &str = "13900000001";

/// A mall with one shop, its sales and its users, and an operator who buys nothing.
pub struct Founded {
    pub mall: Mall,
    pub operator: String,
}

impl Founded {
    /// Makes the mall. `grant` makes the user with a phone number an operator.
    pub fn make(
        server: &Server,
        size: Size,
        grant: impl FnOnce(&str) -> anyhow::Result<Output>,
    ) -> anyhow::Result<Self> {
        let granted = grant(OPERATOR)?;
        ensure!(granted.status.success(), "user grant: {}", String::from_utf8_lossy(&granted.stderr));
        let operator = log_in(server, OPERATOR)?;
        let kind = json!({ "name": "美食", "icon": "/types/1.svg", "sort": 1 });
        let kind = number(&call(server, "POST", "/shop-type", &operator, &kind)?)?;
        number(&call(server, "POST", "/shop", &operator, &shop(kind, "103茶餐厅"))?)?;
        let sale = json!({
            "shopId": 1, "title": "100元秒杀券", "subTitle": "", "rules": "", "payValue": 100,
            "actualValue": 10_000, "stock": size.units,
            "beginTime": "2020-01-01T00:00:00", "endTime": "2088-01-01T00:00:00",
        });
        let mut sales = Vec::new();
        for _ in 0..size.sales {
            let sale = number(&call(server, "POST", "/voucher/seckill", &operator, &sale)?)?;
            sales.push(VoucherId::new(sale));
        }
        let mut people = Vec::new();
        for number in 0..size.people {
            let token = log_in(server, &format!("19{number:09}"))?;
            let user = Client::of_session(server.address, &token)?.user;
            people.push(Person { id: UserId::new(user), token });
        }
        Ok(Self { mall: Mall { people: Arc::new(people), sales, units: size.units }, operator })
    }
}

/// Returns the form of a shop.
pub fn shop(kind: u64, name: &str) -> Value {
    json!({
        "name": name, "typeId": kind, "images": "/imgs/a.jpg", "area": "大关", "address": "金华路29号",
        "x": 120.149_192, "y": 30.316_078, "avgPrice": 80, "openHours": "10:00-22:00",
    })
}

/// Logs a user in by code. Returns the session's token.
pub fn log_in(server: &Server, phone: &str) -> anyhow::Result<String> {
    call(server, "POST", &format!("/user/code?phone={phone}"), "", &Value::Null)?;
    let code = log_ins::code(&server.lines, phone).context("no login code was printed")?;
    let proof = json!({ "phone": phone, "code": code });
    let token = call(server, "POST", "/user/login", "", &proof)?;
    Ok(token.as_str().with_context(|| format!("no token: {token}"))?.to_owned())
}

/// Sends an API request that must succeed. Returns the `data` of the response.
pub fn call(server: &Server, method: &str, path: &str, token: &str, body: &Value) -> anyhow::Result<Value> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let reply = http::send(server.address, method, &format!("/api{path}"), token, &body)?;
    if reply.status != 200 || reply.body["success"] != true {
        bail!("{method} {path}: {} {}", reply.status, reply.text);
    }
    Ok(reply.body["data"].clone())
}

fn number(data: &Value) -> anyhow::Result<u64> {
    data.as_u64().with_context(|| format!("no id: {data}"))
}
