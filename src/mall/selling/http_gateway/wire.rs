//! What the mall and a payment gateway send each other, in JSON.

use mallbox_storage::{Order, OrderId, Payment, PaymentId, Timestamp};
use serde::Deserialize;
use serde_json::json;

use crate::mall::selling::payments::GatewayState;

/// The mall's only currency, by ISO 4217.
const CURRENCY: &str = "CNY";
/// Longest URL at which a buyer pays.
const PAY_URL_MAX_BYTES: usize = 2_048;
/// Schemes of such URLs: pages, and the wallets' own.
const PAY_URL_SCHEMES: [&str; 5] = ["https://", "http://", "weixin://", "alipays://", "alipay://"];

/// Public addresses of the mall.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MallAddresses {
    /// URL of the call that receives callbacks.
    pub callback: String,
    /// URL of an order's page without the order's id at the end.
    pub order_page: String,
}

/// Purpose of a payment, for the buyer at the gateway.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::mall::selling) struct Bill {
    /// Title of the voucher.
    pub(in crate::mall::selling) title: String,
    /// Deadline of the order.
    pub(in crate::mall::selling) expires: Timestamp,
}

impl Bill {
    pub(in crate::mall::selling) fn of(order: &Order, title: String) -> Self {
        Self { title, expires: order.deadline }
    }
}

/// State of a payment in the gateway's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::mall::selling) enum NoticeState {
    /// The buyer has not paid yet.
    Pending,
    /// Money was taken.
    Captured,
    /// No money was taken, and none ever will be.
    Declined,
    /// Money is on the way back to the buyer.
    Refunding,
    /// Money went back to the buyer.
    Refunded,
    /// Money was taken back against the mall's will.
    Reversed,
}

impl NoticeState {
    /// Returns the state without its cause.
    pub(super) fn at_gateway(self) -> GatewayState {
        match self {
            Self::Pending => GatewayState::Pending,
            Self::Captured => GatewayState::Captured,
            Self::Declined => GatewayState::Declined,
            Self::Refunding | Self::Refunded | Self::Reversed => GatewayState::Refunded,
        }
    }
}

/// A gateway's report of a payment: a response, or the body of a callback.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::mall::selling) struct Notice {
    /// The payment's [`reference()`].
    id: String,
    /// Amount in cents.
    pub(super) amount: i64,
    currency: String,
    pub(in crate::mall::selling) state: NoticeState,
    pay_url: Option<String>,
}

impl Notice {
    /// Parses a report. `None` if anything is missing or of another form; unknown fields are ignored.
    pub(in crate::mall::selling) fn parse(body: &[u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }

    /// Returns the order and the payment named; `None` for a text that is no [`reference()`].
    pub(in crate::mall::selling) fn names(&self) -> Option<(OrderId, PaymentId)> {
        let (order, payment) = self.id.split_once('-')?;
        let (order, payment) = (OrderId::new(order.parse().ok()?), PaymentId::new(payment.parse().ok()?));
        // Exactly as written: `+7` and `07` name nothing.
        (self.id == text(order, payment)).then_some((order, payment))
    }

    /// Returns whether the report is about this payment, with its amount.
    pub(in crate::mall::selling) fn is_of(&self, payment: &Payment) -> bool {
        self.id == reference(payment) && self.amount == payment.amount.get() && self.currency == CURRENCY
    }

    /// Returns the URL at which the buyer pays, unless the URL is of a kind that no page may open.
    pub(super) fn pay_url(&self) -> Option<String> {
        let url = self.pay_url.as_deref()?;
        let has_scheme = PAY_URL_SCHEMES.iter().any(|scheme| url.starts_with(scheme));
        let is_fit =
            has_scheme && url.len() <= PAY_URL_MAX_BYTES && url.bytes().all(|byte| byte.is_ascii_graphic());
        is_fit.then(|| url.to_owned())
    }
}

/// Returns a payment's name at the gateway: `<order>-<payment>`. The order's id tells apart payments with one
/// number of two malls, or of a mall restored from a copy.
pub(in crate::mall::selling) fn reference(payment: &Payment) -> String {
    text(payment.order, payment.id)
}

fn text(order: OrderId, payment: PaymentId) -> String {
    format!("{}-{}", order.get(), payment.get())
}

/// Returns the body that creates a payment.
pub(super) fn creation(payment: &Payment, bill: &Bill, addresses: Option<&MallAddresses>) -> String {
    let expires = jiff::Timestamp::from_millisecond(bill.expires.as_millis()).map(|at| at.to_string());
    let mut body = json!({
        "id": reference(payment),
        "order": payment.order.get().to_string(),
        "amount": payment.amount.get(),
        "currency": CURRENCY,
        "title": bill.title,
        "expires": expires.unwrap_or_default(),
    });
    if let Some(MallAddresses { callback, order_page }) = addresses {
        body["callback"] = json!(callback);
        body["returnUrl"] = json!(format!("{order_page}{}", payment.order.get()));
    }
    body.to_string()
}

/// Returns the body that closes or refunds a payment.
pub(super) fn money(payment: &Payment) -> String {
    json!({ "amount": payment.amount.get(), "currency": CURRENCY }).to_string()
}

#[cfg(test)]
mod tests {
    use mallbox_storage::{Cents, PaymentMode, PaymentState};

    use super::*;

    const PAYMENT: Payment = Payment {
        id: PaymentId::new(17),
        order: OrderId::new(662_319_245_210_910_723),
        amount: Cents::new(4_750),
        state: PaymentState::Started,
        started: Timestamp::from_millis(0),
        gateway: PaymentMode::Webhook,
    };

    fn notice(id: &str, amount: i64, currency: &str, pay_url: &str) -> Notice {
        let body = json!({ "id": id, "amount": amount, "currency": currency, "state": "captured", "payUrl": pay_url });
        Notice::parse(body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_report_is_of_a_payment_with_its_id_amount_and_currency() {
        let id = reference(&PAYMENT);
        assert_eq!(id, "662319245210910723-17");
        let fits = notice(&id, 4_750, "CNY", "");
        assert!(fits.is_of(&PAYMENT));
        assert_eq!(fits.names(), Some((PAYMENT.order, PAYMENT.id)));
        for other in [
            notice("662319245210910723-18", 4_750, "CNY", ""),
            notice("662319245210910723-017", 4_750, "CNY", ""),
            notice(&id, 4_749, "CNY", ""),
            notice(&id, 4_750, "USD", ""),
        ] {
            assert!(!other.is_of(&PAYMENT), "{other:?}");
        }
        for name in ["", "-", "7", "7-", "-7", "+7-1", "07-1", "7-1-1", "7-99999999999999999999"] {
            assert_eq!(notice(name, 1, "CNY", "").names(), None, "{name}");
        }
    }

    #[test]
    fn a_page_opens_only_urls_of_pages_and_wallets() {
        let shown = |url: &str| notice("1-1", 1, "CNY", url).pay_url().is_some();
        assert!(shown("https://pay.example/p/1") && shown("weixin://wxpay/bizpayurl?pr=1"));
        let long = format!("https://pay.example/{}", "x".repeat(PAY_URL_MAX_BYTES));
        for bad in ["", "javascript:alert(1)", "data:text/html,x", "//pay.example", "https://a b", &long] {
            assert!(!shown(bad), "{bad}");
        }
    }

    #[test]
    fn a_report_needs_all_its_fields() {
        for text in ["", "{}", "[]", r#"{"id":"1-1","amount":1,"currency":"CNY"}"#] {
            assert_eq!(Notice::parse(text.as_bytes()), None, "{text}");
        }
        let unknown = r#"{"id":"1-1","amount":1,"currency":"CNY","state":"odd"}"#;
        assert_eq!(Notice::parse(unknown.as_bytes()), None);
        let more = r#"{"id":"1-1","amount":1,"currency":"CNY","state":"reversed","why":"x"}"#;
        assert_eq!(Notice::parse(more.as_bytes()).unwrap().state, NoticeState::Reversed);
    }

    #[test]
    fn a_repeated_creation_has_the_same_body() {
        let bill =
            Bill { title: "50元代金券".to_owned(), expires: Timestamp::from_millis(1_795_262_400_000) };
        let addresses = MallAddresses {
            callback: "https://mall.example/api/payment/callback".to_owned(),
            order_page: "https://mall.example/#/order/".to_owned(),
        };
        let body = creation(&PAYMENT, &bill, Some(&addresses));
        assert_eq!(body, creation(&PAYMENT, &bill, Some(&addresses)));
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let expected = json!({
            "id": "662319245210910723-17", "order": "662319245210910723", "amount": 4_750, "currency": "CNY",
            "title": "50元代金券", "expires": "2026-11-21T12:00:00Z",
            "callback": "https://mall.example/api/payment/callback",
            "returnUrl": "https://mall.example/#/order/662319245210910723",
        });
        assert_eq!(body, expected);
    }
}
