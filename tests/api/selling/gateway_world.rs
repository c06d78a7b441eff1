//! A mall with the reference gateway.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mallbox::http::Profile;
use mallbox::mall::selling::http_gateway::HttpGateway;
use mallbox_storage::{OrderId, PaymentMode, PaymentState};
use mallbox_test_payment_gateway::{Payment, PaymentGateway};
use serde_json::{Value, json};

use super::counter_payments::set_payment_mode;
use super::world::{CUSTOMER, Response, World};

pub const SECRET: &str = "a secret of both sides";
/// Price of voucher 1.
pub const PRICE: i64 = 4_750;
/// Time to pay.
pub const PAY_WITHIN: Duration = Duration::from_secs(15 * 60);
/// Longer than the first wait of the background job for a callback.
pub const POLL_DELAY: Duration = Duration::from_secs(25);
/// Longer than an order waits for a gateway that does not respond.
pub const GRACE: Duration = Duration::from_secs(6 * 60);

/// A mall with its gateway.
pub struct Shop {
    pub gateway: PaymentGateway,
    pub w: World,
}

pub fn shop_with(profile: Profile) -> Shop {
    let gateway = PaymentGateway::start(SECRET);
    let http_gateway = HttpGateway::new(&gateway.url(), SECRET).unwrap();
    let w = World::with("/api", |mall| mall.http_gateway(http_gateway).profile(profile));
    set_payment_mode(&w, PaymentMode::Webhook);
    gateway.call_back_to(&format!("{}/payment/callback", w.url()));
    Shop { gateway, w }
}

pub fn shop() -> Shop {
    shop_with(Profile::Strict)
}

impl Shop {
    /// Buys the ordinary voucher.
    pub fn order(&self) -> String {
        self.bought("/voucher-order/1")
    }

    /// Buys a unit of the sale.
    pub fn unit(&self) -> String {
        let order = self.bought("/voucher-order/seckill/2");
        self.w.settle_log();
        order
    }

    pub fn bought(&self, path: &str) -> String {
        let customer = self.w.log_in(CUSTOMER);
        self.w.ok("POST", path, &customer)["dataText"].as_str().unwrap().to_owned()
    }

    /// Takes a step once, without a repeat after 503.
    pub fn step(&self, order: &str, step: &str) -> Response {
        let customer = self.w.log_in(CUSTOMER);
        self.w.call_once("POST", &format!("/voucher-order/{order}/{step}"), &customer, "")
    }

    /// Starts a payment that waits for its buyer. Returns the payment at the gateway.
    pub fn pending(&self, order: &str) -> Payment {
        let response = self.step(order, "pay");
        assert_eq!(response.body["data"]["status"], 1, "{response:?}");
        self.gateway.of_order(order).pop().unwrap()
    }

    pub fn shown(&self, order: &str) -> Value {
        let customer = self.w.log_in(CUSTOMER);
        self.w.ok("GET", &format!("/voucher-order/{order}"), &customer)["data"].clone()
    }

    pub fn status(&self, order: &str) -> Value {
        self.shown(order)["status"].clone()
    }

    pub fn states(&self, order: &str) -> Vec<PaymentState> {
        let payments = self.w.mall.app().unwrap().context.storage.selling.payments.clone();
        let order = OrderId::new(order.parse().unwrap());
        let rows = self.w.mall.wait_for(async move { payments.of_order(order).await.unwrap() }).unwrap();
        rows.iter().map(|row| row.state).collect()
    }

    /// Checks the mall's ledger, and compares its money with the gateway's.
    pub fn assert_balanced(&self) {
        self.w.assert_balanced();
        let report = self.w.mall.books().unwrap();
        assert_eq!(report.totals.payments.captured_cents, self.gateway.money().kept(), "{report}");
    }

    /// Sends a callback, and returns status and code.
    pub fn callback(&self, headers: &(String, String), body: &str) -> (u16, String) {
        let response = self.send_callback(headers, body);
        (response.status, response.body["code"].as_str().unwrap_or_default().to_owned())
    }

    pub fn send_callback(&self, (time, signature): &(String, String), body: &str) -> Response {
        let headers = format!("x-mallbox-timestamp: {time}\r\nx-mallbox-signature: {signature}\r\n");
        self.w.ask_once("POST", "/api/payment/callback", &headers, body.as_bytes())
    }

    pub fn left(&self) -> Value {
        self.w.ok("GET", "/sale/2", "")["data"]["stock"].clone()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "signatures have the machine's time, as other machines know it"
)]
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().try_into().unwrap()
}

pub fn notice(id: &str, amount: i64, state: &str) -> String {
    json!({ "id": id, "amount": amount, "currency": "CNY", "state": state }).to_string()
}
