//! The operator's side of the mall: `/ops/…`. Every call requires the operator role.

use std::sync::Arc;

use crate::http::describe::Calls;
use crate::http::server::security::SecurityEvents;
use live::Live;

pub mod audit;
mod dead_letters;
mod levels;
pub mod live;
mod orders;
mod overview;
mod receipts;
mod reports;
mod reviews;
mod sales;
mod security;
pub mod users;
pub mod vote_archive;
mod vouchers;

/// Returns the routes of operators.
pub fn routes(live: Live, events: Arc<SecurityEvents>) -> Calls {
    overview::routes()
        .merge(sales::routes())
        .merge(vouchers::routes())
        .merge(orders::routes())
        .merge(receipts::routes())
        .merge(dead_letters::routes())
        .merge(reports::routes())
        .merge(reviews::routes())
        .merge(vote_archive::routes())
        .merge(users::routes())
        .merge(levels::routes())
        .merge(audit::routes())
        .merge(security::routes(events))
        .merge(live::routes(live))
}
