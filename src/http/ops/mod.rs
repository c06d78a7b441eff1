//! What operators see and do: `/ops/…`.

use axum::Router;

use super::App;
use live::Live;

pub mod audit;
pub mod live;
pub mod users;

/// The routes of this area.
pub fn routes(live: Live) -> Router<App> {
    Router::new().merge(users::routes()).merge(audit::routes()).merge(live::routes(live))
}
