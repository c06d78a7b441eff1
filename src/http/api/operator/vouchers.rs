//! `/ops/vouchers`: lists all vouchers; `PUT /voucher/{id}` changes a voucher.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{ShopId, VoucherId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sales::TermsAnswer;
use crate::http::App;
use crate::http::api::catalogue::vouchers::{CommonAnswer, shelf_status};
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path, Query};
use crate::http::request::staff_calls::StaffOrOperator;
use crate::http::response::envelope::{Answer, Paged, Reply};
use crate::language::both;
use crate::mall::base::{By, wall_time};
use crate::mall::catalogue::vouchers::VoucherForm;
use crate::mall::operator::vouchers::VoucherView;

/// Returns the routes of vouchers for operators.
pub(super) fn routes() -> Calls {
    Calls::of(both("优惠券管理", "All vouchers"))
        .get(
            "/ops/vouchers",
            page,
            both("所有优惠券，下架的也在内", "All vouchers, including vouchers off the shelf"),
        )
        .explained(both("新的在前，每页20张。", "Newest first, 20 a page."))
        .get("/ops/vouchers/{id}", one, both("一张优惠券", "A voucher"))
        .explained(both("秒杀券带秒杀的全部条件。", "With the terms of the sale for a flash sale."))
        .put("/voucher/{id}", edit, both("修改优惠券", "Change a voucher"))
        .explained(both(
            "没有给出的字段保持不变。秒杀接受抢购期间不能改价（`SALE_IS_ON`：请先暂停）；\
                订单按抢购时的价格计算。",
            "Omitted fields stay unchanged. The price of a sale is fixed while the sale takes \
                claims (`SALE_IS_ON`: pause first); an order costs the price at the time of the \
                claim.",
        ))
}

/// A voucher for its operator.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct VoucherAnswer {
    #[serde(flatten)]
    voucher: CommonAnswer,
    /// Absent if the shop no longer exists.
    #[schemars(example = &"103茶餐厅")]
    #[serde(skip_serializing_if = "Option::is_none")]
    shop_name: Option<String>,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    update_time: String,
    /// The terms of the sale, for a flash sale.
    #[serde(skip_serializing_if = "Option::is_none")]
    sale: Option<TermsAnswer>,
}

impl VoucherAnswer {
    fn new(view: VoucherView, zone: &TimeZone) -> Self {
        let VoucherView { voucher, sale, shop_name } = view;
        Self {
            shop_name,
            create_time: wall_time::text(voucher.created, zone),
            update_time: wall_time::text(voucher.updated, zone),
            voucher: CommonAnswer::new(voucher),
            sale: sale.map(|sale| TermsAnswer::new(&sale, zone)),
        }
    }
}

fn answer(app: &App, view: VoucherView) -> Reply<VoucherAnswer> {
    Ok(Answer::ok(VoucherAnswer::new(view, &app.context.zone)))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PageQuery {
    /// The shop; all shops if absent.
    #[schemars(example = 1)]
    shop_id: Option<u64>,
    /// The page, from 1.
    #[schemars(example = 1)]
    current: Option<u32>,
}

async fn page(
    State(app): State<App>,
    _: StaffOrOperator,
    Now(now): Now,
    Query(query): Query<PageQuery>,
) -> Reply<Paged<VoucherAnswer>> {
    let shop = query.shop_id.map(ShopId::new);
    let (views, total) = app.voucher_admin.page(shop, query.current.unwrap_or(1), now).await?;
    let zone = &app.context.zone;
    let list: Vec<_> = views.into_iter().map(|view| VoucherAnswer::new(view, zone)).collect();
    Ok(Answer::page(&list, total))
}

async fn one(
    State(app): State<App>,
    _: Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
) -> Reply<VoucherAnswer> {
    answer(&app, app.voucher_admin.one(VoucherId::new(voucher), now).await?)
}

/// Changes of a voucher. A sale's window and units are changed below `/ops/sales`.
// Shares no struct with `VoucherBody`: with `serde(flatten)`, an error could not name the wrong field.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EditBody {
    #[schemars(example = &"50元代金券")]
    title: Option<String>,
    #[schemars(example = &"周末可用")]
    sub_title: Option<String>,
    #[schemars(example = &"全场通用")]
    rules: Option<String>,
    /// Price in cents. The price of a sale is fixed while the sale accepts claims.
    #[schemars(example = 4_750)]
    pay_value: Option<i64>,
    /// Face value in cents.
    #[schemars(example = 5_000)]
    actual_value: Option<i64>,
    /// 1 on the shelf, 2 off the shelf, 3 expired.
    #[schemars(example = 1)]
    status: Option<u8>,
}

async fn edit(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
    Json(body): Json<EditBody>,
) -> Reply<VoucherAnswer> {
    let form = VoucherForm {
        shop: None,
        title: body.title,
        sub_title: body.sub_title,
        rules: body.rules,
        pay_value: body.pay_value,
        actual_value: body.actual_value,
        status: shelf_status(body.status)?,
    };
    let by = By::operator(user, now);
    answer(&app, app.voucher_admin.edit(by, VoucherId::new(voucher), &form).await?)
}
