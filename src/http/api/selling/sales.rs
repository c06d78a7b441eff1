//! Flash sales for countdowns and sale pages: `/sale/…`.

use axum::extract::State;
use axum::http::HeaderValue;
use jiff::tz::TimeZone;
use mallbox_storage::{PaymentMode, Shop, Thresholds, Timestamp, VoucherId};
use schemars::JsonSchema;
use serde::Serialize;

use super::guards::PageGuard;
use super::waiting_rooms::PageRoom;
use crate::http::App;
use crate::http::api::people::visits::Visitor;
use crate::http::describe::Calls;
use crate::http::request::extract::{Now, Path, Query};
use crate::http::request::if_none_match::IfNoneMatch;
use crate::http::request::page_query::PageQuery;
use crate::http::response::envelope::{Answer, Paged, Reply};
use crate::http::response::messages::{NextWave, millis};
use crate::http::response::picture_list::PictureList;
use crate::language::both;
use crate::mall::Context;
use crate::mall::base::wall_time;
use crate::mall::selling::sales::{ListedSale, LiveSale, PageWave, SalePage};

/// Returns the routes of flash sales.
pub fn routes() -> Calls {
    Calls::of(both("秒杀", "Flash sales"))
        .get(
            "/sale/on",
            on,
            both("进行中和即将开始的秒杀，每页10场", "Running and upcoming flash sales, 10 a page"),
        )
        .explained(both(
            "能抢的在前，按结束时间排列；其次是即将开始的，按开始时间排列；已暂停或抢光的在最后。\
                各带店铺和剩余数量。",
            "Selling sales first, by end; then upcoming sales, by begin; paused and sold-out sales last. \
             Each with the shop and the units left.",
        ))
        .get("/sale/{voucherId}", live, both("秒杀的实时数据，供倒计时使用", "Live data for a countdown"))
        .get("/sale/{voucherId}/page", page, both("秒杀页面的内容", "The content of a sale page"))
        .explained(both("可以由CDN缓存。", "A CDN may cache the response."))
}

/// Cache time of a page: the delay until an operator's change is visible. The page has no content that
/// changes by the second.
const CACHE_30_SECONDS: HeaderValue = HeaderValue::from_static("public, max-age=30");

/// A sale at this instant. The intervals are for a countdown, independent of the client's clock and zone.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LiveAnswer {
    voucher_id: u64,
    /// Units left; −1 = unlimited.
    stock: i64,
    /// Total units, including sold units; −1 = unlimited.
    units: i64,
    #[schemars(example = &"2026-11-21T10:09:17")]
    server_time: String,
    /// `NOT_OPEN`, `OPEN`, `PAUSED`, `SOLD_OUT` or `ENDED`.
    #[schemars(example = &"OPEN")]
    state: &'static str,
    #[schemars(example = &"2026-11-21T10:09:17")]
    begin_time: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    end_time: String,
    /// Milliseconds to the begin; negative after the begin.
    begins_in_ms: i64,
    /// Milliseconds to the end; negative after the end.
    ends_in_ms: i64,
    /// Milliseconds for which a page disables its button after a claim.
    #[schemars(example = 10_000)]
    press_again_ms: u64,
    /// The next release of units before the end; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_wave: Option<NextWave>,
    /// Whether a claim needs a pass.
    guarded: bool,
    /// Whether buyers can wait for units after the last is taken.
    waiting_list: bool,
    /// Whether a claim needs an admission from the waiting room.
    waiting_room: bool,
}

/// Converts units to a count in a response: −1 = unlimited.
pub(in crate::http) fn counted(units: Option<u64>) -> i64 {
    units.map_or(-1, |units| i64::try_from(units).unwrap_or(i64::MAX))
}

impl LiveAnswer {
    fn new(sale: &LiveSale, context: &Context) -> Self {
        let zone = &context.zone;
        let until = |at: Timestamp| at.as_millis().saturating_sub(sale.at.as_millis());
        Self {
            voucher_id: sale.voucher.get(),
            stock: counted(sale.stock),
            units: counted(sale.units),
            server_time: wall_time::text(sale.at, zone),
            state: sale.state.name(),
            begin_time: wall_time::text(sale.begin, zone),
            end_time: wall_time::text(sale.end, zone),
            begins_in_ms: until(sale.begin),
            ends_in_ms: until(sale.end),
            press_again_ms: u64::try_from(context.settings.press_again.as_millis()).unwrap_or(u64::MAX),
            next_wave: sale.next_wave.map(|wave| NextWave::new(wave.at.since(sale.at), wave.units)),
            guarded: sale.is_guarded,
            waiting_list: sale.has_waiting_list,
            waiting_room: sale.has_room,
        }
    }
}

/// A sale on the home page.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OnAnswer {
    #[schemars(example = &"100元秒杀券")]
    title: String,
    sub_title: String,
    /// Price in cents.
    #[schemars(example = 100)]
    pay_value: i64,
    /// Face value in cents.
    #[schemars(example = 10_000)]
    actual_value: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    shop: Option<SellerAnswer>,
    #[serde(flatten)]
    live: LiveAnswer,
}

impl OnAnswer {
    fn new(on: ListedSale, context: &Context) -> Self {
        let ListedSale { voucher, live, shop } = on;
        let text = voucher.text;
        Self {
            title: text.title,
            sub_title: text.sub_title,
            pay_value: text.pay_value.get(),
            actual_value: text.actual_value.get(),
            shop: shop.map(SellerAnswer::new),
            live: LiveAnswer::new(&live, context),
        }
    }
}

/// Lists selling sales by end, then sales to come by begin, then paused and sold out sales; at most the first
/// 200.
async fn on(State(app): State<App>, Now(now): Now, Query(query): Query<PageQuery>) -> Reply<Paged<OnAnswer>> {
    let (sales, total) = app.sales.on(query.number(), now).await?;
    let list: Vec<_> = sales.into_iter().map(|sale| OnAnswer::new(sale, &app.context)).collect();
    Ok(Answer::page(&list, total))
}

/// A sale at this instant, for its page.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WatchedAnswer {
    #[serde(flatten)]
    live: LiveAnswer,
    /// Milliseconds after which the page asks again. The mall chooses them so that all pages together make no
    /// more calls than it can serve, and none while the sale opens.
    #[schemars(example = 3_000)]
    poll_in_ms: u64,
}

async fn live(State(app): State<App>, Now(now): Now, Path(voucher): Path<u64>) -> Reply<WatchedAnswer> {
    let (sale, poll_in) = app.sales.watch(VoucherId::new(voucher), now).await?;
    Ok(Answer::ok(WatchedAnswer { live: LiveAnswer::new(&sale, &app.context), poll_in_ms: millis(poll_in) }))
}

/// The content of a sale page, equal for all callers.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PageAnswer {
    voucher_id: u64,
    #[schemars(example = &"100元秒杀券")]
    title: String,
    sub_title: String,
    rules: String,
    /// Price in cents.
    #[schemars(example = 100)]
    pay_value: i64,
    /// Face value in cents.
    #[schemars(example = 10_000)]
    actual_value: i64,
    #[schemars(example = &"2026-11-21T10:09:17")]
    begin_time: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    end_time: String,
    pay_within_seconds: u64,
    /// Payment mode of new orders: `none`, `sandbox`, `webhook`, or `counter`, where there is more time to
    /// pay; absent while the database is away.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"counter")]
    payment: Option<&'static str>,
    min_level: u8,
    /// Units that a user may hold at the same time.
    #[schemars(example = 1)]
    per_user: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    shop: Option<SellerAnswer>,
    /// Releases of units at instants, in order of time; absent once no release is to come.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waves: Vec<PageWaveAnswer>,
    /// Absent without a guard.
    #[serde(skip_serializing_if = "Option::is_none")]
    guard: Option<PageGuard>,
    /// Absent if the sale is for everybody of the level.
    #[serde(skip_serializing_if = "Option::is_none")]
    thresholds: Option<PageThresholds>,
    /// Absent without a waiting room.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_room: Option<PageRoom>,
}

/// A release of units.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PageWaveAnswer {
    #[schemars(example = &"2026-11-21T14:00:00")]
    time: String,
    units: u64,
    /// Whether the units are on sale already.
    is_released: bool,
}

/// The shop of a sale.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SellerAnswer {
    id: u64,
    #[schemars(example = &"103茶餐厅")]
    name: String,
    images: PictureList,
    area: String,
    address: String,
    #[schemars(example = &"10:00-22:00")]
    open_hours: String,
}

impl SellerAnswer {
    fn new(shop: Shop) -> Self {
        let text = shop.text;
        Self {
            id: shop.id.get(),
            name: text.name,
            images: text.images.into(),
            area: text.area,
            address: text.address,
            open_hours: text.open_hours,
        }
    }
}

/// Whom a sale is for, besides the level.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PageThresholds {
    /// Least age of an account in hours; 0 = any.
    #[schemars(example = 72)]
    account_hours: u16,
    /// Whether the session has to be one that began with an SMS code.
    sms_code: bool,
}

impl PageThresholds {
    fn new(Thresholds { account_hours, sms_code }: Thresholds) -> Self {
        Self { account_hours, sms_code }
    }
}

impl PageAnswer {
    fn new(page: SalePage, payment: Option<PaymentMode>, zone: &TimeZone) -> Self {
        let SalePage { voucher, sale, shop, waves } = page;
        let text = voucher.text;
        Self {
            voucher_id: voucher.id.get(),
            title: text.title,
            sub_title: text.sub_title,
            rules: text.rules,
            pay_value: text.pay_value.get(),
            actual_value: text.actual_value.get(),
            begin_time: wall_time::text(sale.terms.begin, zone),
            end_time: wall_time::text(sale.terms.end, zone),
            pay_within_seconds: sale.pay_within.as_secs(),
            payment: payment.map(PaymentMode::name),
            min_level: sale.min_level,
            per_user: sale.terms.per_user.get(),
            shop: shop.map(SellerAnswer::new),
            waves: waves.iter().map(|wave| PageWaveAnswer::new(wave, zone)).collect(),
            guard: sale.guard.as_ref().map(PageGuard::new),
            thresholds: sale.thresholds.map(PageThresholds::new),
            waiting_room: sale.room.as_ref().map(PageRoom::new),
        }
    }
}

impl PageWaveAnswer {
    fn new(PageWave { wave, is_released }: &PageWave, zone: &TimeZone) -> Self {
        Self { time: wall_time::text(wave.at, zone), units: wave.units, is_released: *is_released }
    }
}

async fn page(
    State(app): State<App>,
    Now(now): Now,
    known: IfNoneMatch,
    Path(voucher): Path<u64>,
    visiting: Visitor,
) -> Reply<PageAnswer> {
    let page = app.sales.page(VoucherId::new(voucher), now).await?;
    visiting.saw(&app, Some(page.voucher.text.shop), now);
    let payment = app.context.payment_mode().await.ok();
    let answer = Answer::ok(PageAnswer::new(page, payment, &app.context.zone));
    Ok(known.answer_for(answer, CACHE_30_SECONDS))
}
