//! The operator's side of the mall: `/ops/…`, and the counter: `/staff/…`. Every call requires the operator
//! role, or is one of the calls of staff.

use std::sync::Arc;

use crate::http::describe::Calls;
use crate::http::server::security::SecurityEvents;
use live::Live;

pub mod accounts;
mod attack;
pub mod audit;
mod cash;
mod claim_gateways;
mod claim_limits;
mod clock;
mod counter;
mod dead_letters;
mod event_subscribers;
pub(in crate::http) mod events;
mod guards;
mod judgement;
mod kiosks;
mod levels;
pub mod live;
mod orders;
mod overview;
mod printer;
mod receipts;
mod reports;
mod retries;
mod reviews;
mod sales;
mod security;
mod server_sent;
mod staff;
mod thresholds;
mod units_per_user;
pub mod users;
pub mod vote_archive;
mod vouchers;
mod waiting_lists;
mod waiting_rooms;
mod waves;

/// Returns the routes of operators.
pub fn routes(live: Live, security_events: Arc<SecurityEvents>) -> Calls {
    overview::routes()
        .merge(sales::routes())
        .merge(waves::routes())
        .merge(claim_limits::routes())
        .merge(guards::routes())
        .merge(kiosks::routes())
        .merge(claim_gateways::routes())
        .merge(judgement::routes())
        .merge(attack::routes())
        .merge(thresholds::routes())
        .merge(units_per_user::routes())
        .merge(waiting_lists::routes())
        .merge(waiting_rooms::routes())
        .merge(vouchers::routes())
        .merge(orders::routes())
        .merge(receipts::routes())
        .merge(staff::routes())
        .merge(counter::routes())
        .merge(printer::routes())
        .merge(clock::routes())
        .merge(cash::routes())
        .merge(accounts::routes())
        .merge(dead_letters::routes())
        .merge(retries::routes())
        .merge(reports::routes())
        .merge(reviews::routes())
        .merge(vote_archive::routes())
        .merge(users::routes())
        .merge(levels::routes())
        .merge(audit::routes())
        .merge(security::routes(security_events))
        .merge(events::routes(live.event_places()))
        .merge(event_subscribers::routes())
        .merge(live::routes(live))
}
