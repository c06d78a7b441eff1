//! What operators see and do: `/ops/…`.

use axum::Router;

use super::App;

pub mod audit;
pub mod users;

/// The routes of this area.
pub fn routes() -> Router<App> {
    Router::new().merge(users::routes()).merge(audit::routes())
}
