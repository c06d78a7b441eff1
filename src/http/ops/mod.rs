//! The operator's side of the mall: `/ops/…`. Every call needs the operator's role.

use axum::Router;

use super::App;

pub mod audit;
mod dead_letters;
mod orders;
mod sales;
pub mod users;

/// The routes of this area.
pub fn routes() -> Router<App> {
    Router::new()
        .merge(sales::routes())
        .merge(orders::routes())
        .merge(dead_letters::routes())
        .merge(users::routes())
        .merge(audit::routes())
}
