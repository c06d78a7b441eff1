//! What a countdown and a sale's page show: `/sale/…`.

use std::fmt::Write as _;

use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue};
use axum::routing::get;
use jiff::tz::TimeZone;
use mallbox_storage::{Timestamp, VoucherId};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::App;
use super::envelope::{Answer, Reply};
use super::error::ApiError;
use super::extract::{Now, Path};
use crate::mall::sales::{LiveSale, SalePage};
use crate::mall::wall_time;

/// The routes of this area.
pub fn routes() -> Router<App> {
    Router::new().route("/sale/{id}", get(live)).route("/sale/{id}/page", get(page))
}

/// How long a page may be kept without asking: an operator's change is seen this much later. What changes by the second
/// is not in it.
const KEEP: HeaderValue = HeaderValue::from_static("public, max-age=30");

/// A sale at this instant. The spans are for a countdown: they need neither the client's clock nor its zone.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LiveAnswer {
    voucher_id: u64,
    /// −1 = unlimited.
    stock: i64,
    server_time: String,
    state: &'static str,
    begin_time: String,
    end_time: String,
    /// Negative once it has begun.
    begins_in_ms: i64,
    /// Negative once it is over.
    ends_in_ms: i64,
}

impl LiveAnswer {
    fn new(sale: &LiveSale, zone: &TimeZone) -> Self {
        let until = |at: Timestamp| at.as_millis().saturating_sub(sale.at.as_millis());
        Self {
            voucher_id: sale.voucher.get(),
            stock: sale.stock.map_or(-1, |stock| i64::try_from(stock).unwrap_or(i64::MAX)),
            server_time: wall_time::text(sale.at, zone),
            state: sale.state.name(),
            begin_time: wall_time::text(sale.begin, zone),
            end_time: wall_time::text(sale.end, zone),
            begins_in_ms: until(sale.begin),
            ends_in_ms: until(sale.end),
        }
    }
}

async fn live(State(app): State<App>, Now(now): Now, Path(voucher): Path<u64>) -> Reply {
    let sale = app.sales.live(VoucherId::new(voucher), now).await?;
    Ok(Answer::ok(LiveAnswer::new(&sale, &app.context.zone)).no_store())
}

/// What a sale's page tells, the same for everybody.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PageAnswer {
    voucher_id: u64,
    title: String,
    sub_title: String,
    rules: String,
    pay_value: i64,
    actual_value: i64,
    begin_time: String,
    end_time: String,
    pay_within_seconds: u64,
    min_level: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    shop: Option<ShopAnswer>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShopAnswer {
    id: u64,
    name: String,
    images: String,
    area: String,
    address: String,
    open_hours: String,
}

impl PageAnswer {
    fn new(page: SalePage, zone: &TimeZone) -> Self {
        let SalePage { voucher, sale, shop } = page;
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
            min_level: sale.min_level,
            shop: shop.map(|shop| ShopAnswer {
                id: shop.id.get(),
                name: shop.text.name,
                images: shop.text.images,
                area: shop.text.area,
                address: shop.text.address,
                open_hours: shop.text.open_hours,
            }),
        }
    }
}

async fn page(State(app): State<App>, Now(now): Now, headers: HeaderMap, Path(voucher): Path<u64>) -> Reply {
    let page = app.sales.page(VoucherId::new(voucher), now).await?;
    let answer = Answer::ok(PageAnswer::new(page, &app.context.zone));
    let etag = etag(answer.bytes())?;
    let answer =
        if is_known(&headers, &etag) { Answer::not_modified(etag) } else { answer.with_header(ETAG, etag) };
    Ok(answer.with_header(CACHE_CONTROL, KEEP))
}

/// A name for exactly these bytes.
fn etag(bytes: &[u8]) -> Result<HeaderValue, ApiError> {
    let mut text = String::with_capacity(34);
    text.push('"');
    for byte in &Sha256::digest(bytes)[..16] {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text.push('"');
    HeaderValue::from_str(&text).map_err(|error| ApiError::bug(error.to_string()))
}

/// Whether the client has these bytes already.
fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut names = values.flat_map(|value| value.split(','));
    // A CDN may have made the name weak; bytes are compared all the same.
    names.any(|name| {
        let name = name.trim();
        name == "*" || name.strip_prefix("W/").unwrap_or(name).as_bytes() == etag.as_bytes()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_the_client_has_is_known_however_it_names_it() {
        let etag = etag(b"page").unwrap();
        let name = etag.to_str().unwrap().to_owned();
        for (sent, known) in [
            (name.clone(), true),
            (format!("W/{name}"), true),
            (format!("\"other\", {name}"), true),
            ("*".to_owned(), true),
            ("\"other\"".to_owned(), false),
            (name.trim_matches('"').to_owned(), false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, sent.parse().unwrap());
            assert_eq!(is_known(&headers, &etag), known, "{sent}");
        }
        assert!(!is_known(&HeaderMap::new(), &etag));
    }
}
