//! The mall's accounts, for the command line: what an export covers, and its pages.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use mallbox_storage::{DeadLetterId, OrderId, VoucherId};
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::api::operator::accounts::rows::AccountsRows;
use crate::http::request::extract::{Now, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::mall::Refusal;
use crate::mall::base::wall_time;
use crate::mall::operator::bookkeeping::AccountsPlace;

/// Returns the routes of accounts.
pub(super) fn routes() -> Router<App> {
    Router::new().route("/control/accounts", get(begin)).route("/control/accounts/page", get(page))
}

#[derive(Deserialize)]
struct ScopeQuery {
    from: Option<String>,
    to: Option<String>,
    sale: Option<u64>,
    after: Option<String>,
}

/// What an export covers. Times are in the mall's zone with its offset, as `2026-11-21T10:09:17.123+08:00`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountsHead {
    /// First day; absent for all time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Last day, inclusive; absent for all time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The only sale; absent for all vouchers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<u64>,
    /// Time of the export by the mall's clock.
    pub exported: String,
    /// The mall's time zone, such as `Asia/Shanghai`.
    pub zone: String,
    /// Whether the last day is not over.
    pub is_open: bool,
    /// Accepted claims of the days that are not yet orders.
    pub pending_claims: u64,
}

async fn begin(
    State(app): State<App>,
    Now(now): Now,
    Query(query): Query<ScopeQuery>,
) -> Reply<AccountsHead> {
    let sale = query.sale.map(VoucherId::new);
    let scope = app.bookkeeping.scope(query.from.as_deref(), query.to.as_deref(), sale, now).await?;
    let pending_claims = app.bookkeeping.pending(scope, now).await?;
    let zone = &app.context.zone;
    Ok(Answer::ok(AccountsHead {
        from: scope.days.map(|days| days.first().to_string()),
        to: scope.days.map(|days| days.last().to_string()),
        sale: query.sale,
        exported: wall_time::with_offset(app.context.now(), zone),
        zone: zone.iana_name().unwrap_or("UTC").to_owned(),
        is_open: app.bookkeeping.is_open(scope, now)?,
        pending_claims,
    }))
}

async fn page(State(app): State<App>, Now(now): Now, Query(query): Query<ScopeQuery>) -> Reply<AccountsRows> {
    let sale = query.sale.map(VoucherId::new);
    let scope = app.bookkeeping.scope(query.from.as_deref(), query.to.as_deref(), sale, now).await?;
    let place = parse_place(query.after.as_deref()).ok_or(Refusal::BadValue("accounts place"))?;
    let page = app.bookkeeping.page(scope, place).await?;
    Ok(Answer::ok(AccountsRows::new(&page, &app.context.zone)))
}

/// Parses the text of a position; `None` begins. Returns `None` for a text that no page returned.
fn parse_place(text: Option<&str>) -> Option<AccountsPlace> {
    let Some(text) = text else { return Some(AccountsPlace::Orders(None)) };
    let (kind, id) = text.split_at_checked(1)?;
    match (kind, id) {
        ("o", "") => Some(AccountsPlace::Orders(None)),
        ("o", id) => Some(AccountsPlace::Orders(Some(OrderId::new(id.parse().ok()?)))),
        ("z", "") => Some(AccountsPlace::CashReports(None)),
        ("z", number) => Some(AccountsPlace::CashReports(Some(number.parse().ok()?))),
        ("d", id) => Some(AccountsPlace::Letters(DeadLetterId::new(id.parse().ok()?))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::api::operator::accounts::rows::place_text;

    #[test]
    fn a_position_is_read_as_it_was_written() {
        for place in [
            AccountsPlace::Orders(None),
            AccountsPlace::Orders(Some(OrderId::new(u64::MAX))),
            AccountsPlace::Letters(DeadLetterId::new(0)),
            AccountsPlace::CashReports(None),
            AccountsPlace::CashReports(Some(u64::MAX)),
        ] {
            assert_eq!(parse_place(Some(&place_text(place))), Some(place));
        }
        assert_eq!(parse_place(None), Some(AccountsPlace::Orders(None)));
        for bad in ["", "x1", "d", "o-1", "o1x", "单1", "99999999999999999999"] {
            assert_eq!(parse_place(Some(bad)), None, "{bad:?}");
        }
    }
}
