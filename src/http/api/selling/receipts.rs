//! The receipt of a paid order: `/voucher-order/{id}/receipt`, also as a text.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{OrderId, Shop};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Login, Now, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::error::ApiError;
use crate::http::response::qr::QrAnswer;
use crate::language::{Language, both};
use crate::mall::base::wall_time;
use crate::mall::selling::receipts::{Receipt, receipt_text};

/// Returns the routes of receipts.
pub fn routes() -> Calls {
    Calls::of(both("券码", "Receipts"))
        .get(
            "/voucher-order/{id}/receipt",
            receipt,
            both("已支付订单的券码和二维码", "The receipt code of a paid order"),
        )
        .explained(both(
            "券码是20个字母和数字，无法伪造；另有内容相同的二维码（SVG路径）。",
            "20 letters and digits that cannot be forged, and a QR code with the same content (an SVG path).",
        ))
        .get(
            "/voucher-order/{id}/receipt/text",
            receipt_as_text,
            both("可以带走的券码文字", "A receipt to take along, as a text"),
        )
        .explained(both(
            "文字和它的二维码：手机扫一扫，离开商场的网络也能看到券码。语言随请求。",
            "The text and its QR code: a phone that scans it has the receipt without the mall's network. The \
             language is the request's.",
        ))
}

/// A paid order, to be shown at the counter.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct ReceiptAnswer {
    /// The order's id, as text.
    #[schemars(example = &"662319245210910723")]
    id: String,
    /// The code to type at the counter: case, spaces and dashes are ignored, and no two characters look
    /// alike.
    #[schemars(example = &"0JC8-0W1M-0002-3Q7D-K9PZ")]
    code: String,
    #[schemars(example = &"50元代金券")]
    title: String,
    rules: String,
    /// The price paid, in cents.
    #[schemars(example = 4_750)]
    pay_value: i64,
    /// Face value in cents.
    #[schemars(example = 5_000)]
    actual_value: i64,
    /// 2 paid, 3 used.
    #[schemars(example = 2)]
    status: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T10:09:17")]
    pay_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T10:09:17")]
    use_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shop: Option<CounterAnswer>,
    /// The code without dashes, for a scanner.
    qr: QrAnswer,
}

/// A receipt as a text.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReceiptTextAnswer {
    /// Shop, voucher, code, amounts and order, one per line.
    #[schemars(example = &"103茶餐厅\n50元代金券\n券码 0JC8-0W1M-0002-3Q7D-K9PZ")]
    text: String,
    /// The text, for a phone.
    qr: QrAnswer,
}

/// The shop that redeems the order.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CounterAnswer {
    id: u64,
    #[schemars(example = &"103茶餐厅")]
    name: String,
    address: String,
    #[schemars(example = &"10:00-22:00")]
    open_hours: String,
}

impl From<Shop> for CounterAnswer {
    fn from(shop: Shop) -> Self {
        let text = shop.text;
        Self { id: shop.id.get(), name: text.name, address: text.address, open_hours: text.open_hours }
    }
}

impl ReceiptAnswer {
    pub(in crate::http) fn new(receipt: Receipt, zone: &TimeZone) -> Result<Self, ApiError> {
        let Receipt { order, voucher, shop, code } = receipt;
        let text = |at| wall_time::text(at, zone);
        Ok(Self {
            id: order.id.to_string(),
            code: code.to_string(),
            title: voucher.text.title,
            rules: voucher.text.rules,
            pay_value: order.pay_value.get(),
            actual_value: voucher.text.actual_value.get(),
            status: order.status as u8,
            pay_time: order.paid.map(text),
            use_time: order.used.map(text),
            shop: shop.map(CounterAnswer::from),
            qr: QrAnswer::of(&code.plain())?,
        })
    }
}

async fn receipt(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(order): Path<u64>,
) -> Reply<ReceiptAnswer> {
    let receipt = app.receipts.of(user, OrderId::new(order), now).await?;
    Ok(Answer::ok(ReceiptAnswer::new(receipt, &app.context.zone)?))
}

async fn receipt_as_text(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(order): Path<u64>,
) -> Reply<ReceiptTextAnswer> {
    let receipt = app.receipts.of(user, OrderId::new(order), now).await?;
    let text = receipt_text(&receipt, &app.context.zone, Language::current());
    let qr = QrAnswer::of(&text)?;
    Ok(Answer::ok(ReceiptTextAnswer { text, qr }))
}
