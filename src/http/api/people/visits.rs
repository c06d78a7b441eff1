//! Visits: recorded by the calls that show content, and reported to operators by `/stats/visits`.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, State};
use axum::http::Method;
use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use mallbox_storage::{ShopId, Timestamp, VisitCounts, VisitsOfDay};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::{Calls, Input};
use crate::http::request::client_address::ClientAddress;
use crate::http::request::extract::{Now, Operator, Query, token};
use crate::http::request::page_query::DaysQuery;
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::people::visits::Caller;

/// Returns the routes of visits.
pub fn routes() -> Calls {
    Calls::of(both("访问", "Visits"))
        .get("/stats/visits", visits, both("每日访客数与浏览量", "Visitors and views per day"))
        .explained(both(
            "每天以及全部日期合计的独立访客（`uv`，误差2.5%以内）和浏览量（`pv`），最多31天；\
                指定店铺或整座商城。看到店铺、笔记、秒杀页面或店铺类型算一次访问；\
                匿名访客每天重新计数。",
            "Distinct visitors (`uv`, within 2.5 %) and views (`pv`) of each day and of all days \
                together, at most 31 days; of a shop or of the mall. A request for a shop, a note, \
                a sale page or the shop types is a visit; an anonymous visitor counts anew each day.",
        ))
}

/// The visitor of a request, counted once content is returned. `None` for `HEAD`, which shows nothing.
pub(in crate::http) struct Visitor(Option<Caller>);

impl Visitor {
    /// Records a view of `shop`, or of other content of the mall.
    pub(in crate::http) fn saw(self, app: &App, shop: Option<ShopId>, now: Timestamp) {
        if let Some(caller) = self.0 {
            app.visits.saw(caller, shop, now);
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let caller = (parts.method == Method::GET).then(|| {
            let address = parts.extensions.get::<ClientAddress>().map(|client| client.0);
            let browser = parts.headers.get(USER_AGENT).map_or(&b""[..], |browser| browser.as_bytes());
            Caller::new(token(&parts.headers), address, browser)
        });
        Ok(Self(caller))
    }
}

impl Input for Visitor {}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ShopQuery {
    /// The shop; 0 or absent: the whole mall.
    #[schemars(example = 1)]
    shop_id: Option<u64>,
}

/// Visitors and page views.
#[derive(Serialize, JsonSchema)]
struct VisitsAnswer {
    /// Distinct visitors in total, within 2.5 %: a user on two days counts once, an anonymous visitor twice.
    uv: u64,
    /// Page views in total.
    pv: u64,
    days: Vec<VisitsOfDayAnswer>,
}

/// Visits of one day.
#[derive(Serialize, JsonSchema)]
struct VisitsOfDayAnswer {
    #[schemars(example = &"2026-11-21")]
    date: String,
    /// Distinct visitors, within 2.5 %.
    uv: u64,
    /// Page views of the day.
    pv: u64,
}

impl From<VisitCounts> for VisitsAnswer {
    fn from(counts: VisitCounts) -> Self {
        let day =
            |of: VisitsOfDay| VisitsOfDayAnswer { date: of.day.to_string(), uv: of.visitors, pv: of.views };
        let pv = counts.days.iter().map(|day| day.views).fold(0, u64::saturating_add);
        Self { uv: counts.visitors, pv, days: counts.days.into_iter().map(day).collect() }
    }
}

async fn visits(
    State(app): State<App>,
    _: Operator,
    Now(now): Now,
    Query(days): Query<DaysQuery>,
    Query(query): Query<ShopQuery>,
) -> Reply<VisitsAnswer> {
    let shop = query.shop_id.filter(|shop| *shop > 0).map(ShopId::new);
    let counts = app.visits.visits(days.ends(), shop, now).await?;
    Ok(Answer::ok(VisitsAnswer::from(counts)))
}
