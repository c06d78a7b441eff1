//! Vouchers for customers, under the path `/voucher/…`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{ShopId, Timestamp, Voucher, VoucherStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::InputError;
use crate::mall::base::{AuditedAction, By, run_audited, wall_time};
use crate::mall::catalogue::vouchers::{ListedVoucher, RemainingStock, SaleForm, VoucherForm};

/// Returns the routes of vouchers.
pub fn routes() -> Calls {
    Calls::of(both("优惠券", "Vouchers"))
        .get("/voucher/list/{shopId}", of_shop, both("店铺在售的券", "Vouchers on the shelf of a shop"))
        .post("/voucher", add, both("新增普通券，返回编号", "Add an ordinary voucher; returns the id"))
        .post("/voucher/seckill", add_sale, both("新增秒杀，返回编号", "Add a flash sale; returns the id"))
        .explained(both(
            "可选：支付期限`payWithinSeconds`，以及可以购买的最低会员等级`minLevel`。",
            "Optional: the time to pay (`payWithinSeconds`), and the lowest member level allowed \
                to buy (`minLevel`).",
        ))
}

/// The stock shown for an unlimited sale: pages refuse to buy below 1 and know no "unlimited".
const UNLIMITED: u64 = 999_999;

/// The fields of a voucher visible to all users.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct CommonAnswer {
    id: u64,
    shop_id: u64,
    #[schemars(example = &"50元代金券")]
    title: String,
    #[schemars(example = &"周末可用")]
    sub_title: String,
    #[schemars(example = &"全场通用")]
    rules: String,
    /// Price in cents.
    #[schemars(example = 4_750)]
    pay_value: i64,
    /// Face value in cents.
    #[schemars(example = 5_000)]
    actual_value: i64,
    /// 0 ordinary, 1 flash sale.
    r#type: u8,
    /// 1 on the shelf, 2 off the shelf, 3 expired.
    #[schemars(example = 1)]
    status: u8,
}

impl CommonAnswer {
    pub(in crate::http) fn new(voucher: Voucher) -> Self {
        let text = voucher.text;
        Self {
            id: voucher.id.get(),
            shop_id: text.shop.get(),
            title: text.title,
            sub_title: text.sub_title,
            rules: text.rules,
            pay_value: text.pay_value.get(),
            actual_value: text.actual_value.get(),
            r#type: u8::from(voucher.sale.is_some()),
            status: shelf_number(text.status),
        }
    }
}

/// A voucher as the pages expect it.
#[derive(Serialize, JsonSchema)]
struct VoucherAnswer {
    #[serde(flatten)]
    voucher: CommonAnswer,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    sale: Option<SaleAnswer>,
}

/// Additional fields of a flash sale.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SaleAnswer {
    /// Units left; 999999 for an unlimited sale.
    #[schemars(example = 20)]
    stock: u64,
    #[schemars(example = &"2026-11-21T10:09:17")]
    begin_time: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    end_time: String,
}

impl VoucherAnswer {
    fn new(offer: ListedVoucher, zone: &TimeZone) -> Self {
        let ListedVoucher { voucher, left } = offer;
        let sale = voucher.sale.as_ref().zip(left).map(|(sale, left)| SaleAnswer {
            stock: match left {
                RemainingStock::Units(units) => units,
                RemainingStock::Unlimited => UNLIMITED,
            },
            begin_time: wall_time::text(sale.terms.begin, zone),
            end_time: wall_time::text(sale.terms.end, zone),
        });
        Self { voucher: CommonAnswer::new(voucher), sale }
    }
}

/// Returns a voucher's status by hm-dianping's numbers.
pub(in crate::http) fn shelf_number(status: VoucherStatus) -> u8 {
    match status {
        VoucherStatus::OnShelf => 1,
        VoucherStatus::OffShelf => 2,
        VoucherStatus::Expired => 3,
    }
}

async fn of_shop(State(app): State<App>, Path(shop): Path<u64>, Now(now): Now) -> Reply<Vec<VoucherAnswer>> {
    let offers = app.vouchers.of_shop(ShopId::new(shop), now).await?;
    let zone = &app.context.zone;
    Ok(Answer::ok(offers.into_iter().map(|offer| VoucherAnswer::new(offer, zone)).collect::<Vec<_>>()))
}

/// A voucher from an operator. An `id` or a `type` is ignored, and so are the terms of a sale for an ordinary
/// voucher.
// Shares no struct with `EditBody` of `ops/vouchers`: with `serde(flatten)`, an error could not name the
// wrong field.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct VoucherBody {
    shop_id: Option<u64>,
    #[schemars(example = &"50元代金券")]
    title: Option<String>,
    #[schemars(example = &"周末可用")]
    sub_title: Option<String>,
    #[schemars(example = &"全场通用")]
    rules: Option<String>,
    /// Price in cents.
    #[schemars(example = 4_750)]
    pay_value: Option<i64>,
    /// Face value in cents.
    #[schemars(example = 5_000)]
    actual_value: Option<i64>,
    /// 1 on the shelf, 2 off the shelf, 3 expired.
    #[schemars(example = 1)]
    status: Option<u8>,
    /// Units of a flash sale; −1 = unlimited.
    #[schemars(example = 20)]
    stock: Option<i64>,
    #[schemars(example = &"2026-11-21T10:09:17")]
    begin_time: Option<String>,
    #[schemars(example = &"2026-11-21T10:09:17")]
    end_time: Option<String>,
    /// Time to pay an order of a flash sale, 1 to 2592000 s (30 days); default: the mall's setting.
    #[schemars(example = 900)]
    pay_within_seconds: Option<u64>,
    /// Lowest member level allowed to buy from a flash sale, 0 to 9; default 0.
    #[schemars(example = 0)]
    min_level: Option<u8>,
}

/// Converts hm-dianping's number to a status.
pub(in crate::http) fn shelf_status(number: Option<u8>) -> Result<Option<VoucherStatus>, InputError> {
    Ok(match number {
        None => None,
        Some(1) => Some(VoucherStatus::OnShelf),
        Some(2) => Some(VoucherStatus::OffShelf),
        Some(3) => Some(VoucherStatus::Expired),
        Some(_) => return Err(InputError::OutOfRange("status")),
    })
}

impl VoucherBody {
    fn form(self) -> Result<VoucherForm, InputError> {
        Ok(VoucherForm {
            shop: self.shop_id.map(ShopId::new),
            title: self.title,
            sub_title: self.sub_title,
            rules: self.rules,
            pay_value: self.pay_value,
            actual_value: self.actual_value,
            status: shelf_status(self.status)?,
        })
    }
}

async fn add(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Json(body): Json<VoucherBody>,
) -> Reply<u64> {
    let form = body.form()?;
    let action = audited("voucher.add", &form, json!({ "payValue": form.pay_value }));
    let mall = Arc::clone(&app);
    let work = async move { mall.vouchers.add(&form, now).await };
    Ok(Answer::ok(run_audited(&app.audit, By::operator(user, now), action, work).await?.get()))
}

async fn add_sale(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Json(mut body): Json<VoucherBody>,
) -> Reply<u64> {
    let zone = &app.context.zone;
    let sale = SaleForm {
        stock: body.stock,
        begin: optional_time(body.begin_time.take(), zone, InputError::OutOfRange("beginTime"))?,
        end: optional_time(body.end_time.take(), zone, InputError::OutOfRange("endTime"))?,
        pay_within: body.pay_within_seconds.map(Duration::from_secs),
        min_level: body.min_level.unwrap_or_default(),
    };
    let pay_within_seconds = body.pay_within_seconds;
    let form = body.form()?;
    let (begin, end) = (sale.begin.map(Timestamp::as_millis), sale.end.map(Timestamp::as_millis));
    let detail = json!({
        "payValue": form.pay_value, "stock": sale.stock, "beginMs": begin, "endMs": end,
        "payWithinSeconds": pay_within_seconds, "minLevel": sale.min_level,
    });
    let action = audited("sale.add", &form, detail);
    let mall = Arc::clone(&app);
    let work = async move { mall.vouchers.add_sale(&form, &sale, now).await };
    Ok(Answer::ok(run_audited(&app.audit, By::operator(user, now), action, work).await?.get()))
}

/// Builds the audited action, without texts: before validation a text may have any length.
fn audited(action: &'static str, form: &VoucherForm, detail: Value) -> AuditedAction {
    let subject = form.shop.map_or_else(|| "no shop".to_owned(), |shop| format!("shop {shop}"));
    AuditedAction { action, subject, detail }
}

/// Parses an optional wall time. `error` says that the time is invalid.
pub(in crate::http) fn optional_time<E>(
    text: Option<String>,
    zone: &TimeZone,
    error: E,
) -> Result<Option<Timestamp>, E> {
    text.map(|text| wall_time::parse(&text, zone).ok_or(error)).transpose()
}
