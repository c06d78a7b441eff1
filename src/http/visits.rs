//! Who visits: counted where something is shown, and told to operators by `/stats/visits`.

use std::convert::Infallible;
use std::net::IpAddr;

use axum::extract::{FromRequestParts, State};
use axum::http::Method;
use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use mallbox_storage::{ShopId, Timestamp, VisitCounts, VisitsOfDay};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::App;
use super::describe::{Calls, Input};
use super::envelope::{Answer, Reply};
use super::extract::{Now, Operator, Query, token};
use crate::language::both;
use crate::mall::visits::Caller;

/// The routes of this area.
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

/// The address that a request comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// Who asks, to be counted once they are shown what they ask for. Nobody, if it is asked for without being looked at: by
/// `HEAD`.
pub(super) struct Visiting(Option<Caller>);

impl Visiting {
    /// They are shown this shop or something about it; or, without one, something of the mall.
    pub(super) fn saw(self, app: &App, shop: Option<ShopId>, now: Timestamp) {
        if let Some(caller) = self.0 {
            app.visits.saw(caller, shop, now);
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Visiting {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let caller = (parts.method == Method::GET).then(|| {
            let address = parts.extensions.get::<Peer>().map(|peer| peer.0);
            let browser = parts.headers.get(USER_AGENT).map_or(&b""[..], |browser| browser.as_bytes());
            Caller::new(token(&parts.headers), address, browser)
        });
        Ok(Self(caller))
    }
}

impl Input for Visiting {}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Between {
    /// The first day: six before the last, unless told.
    #[schemars(example = &"2026-11-15")]
    #[serde(default)]
    from: String,
    /// The last day: today, unless told.
    #[schemars(example = &"2026-11-21")]
    #[serde(default)]
    to: String,
    /// 0 or absent: the mall as a whole.
    #[schemars(example = 1)]
    shop_id: Option<u64>,
}

/// How many visit, and how often they look.
#[derive(Serialize, JsonSchema)]
struct VisitsAnswer {
    /// Different visitors in all, to within 2.5 %: a user who comes on two days is one, a stranger is two.
    uv: u64,
    /// Views in all.
    pv: u64,
    days: Vec<VisitsOfDayAnswer>,
}

/// Visits of a day.
#[derive(Serialize, JsonSchema)]
struct VisitsOfDayAnswer {
    #[schemars(example = &"2026-11-21")]
    date: String,
    /// Different visitors, to within 2.5 %.
    uv: u64,
    /// Views.
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
    Query(query): Query<Between>,
) -> Reply<VisitsAnswer> {
    let Between { from, to, shop_id } = query;
    let shop = shop_id.filter(|shop| *shop > 0).map(ShopId::new);
    let counts = app.visits.visits((&from, &to), shop, now).await?;
    Ok(Answer::ok(VisitsAnswer::from(counts)).no_store())
}
