//! What a backup begins with, for the command line.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde::Serialize;

use crate::backup::manifest::ClaimLine;
use crate::http::App;
use crate::http::response::envelope::{Answer, Reply};
use crate::mall::operator::backups::{BackupBasis, backup_basis};

/// Returns the routes of backups.
pub(super) fn routes() -> Router<App> {
    Router::new().route("/control/backup", get(basis))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BasisAnswer {
    claims: Vec<ClaimLine>,
    damaged_pages: u64,
    incarnation: Option<String>,
}

async fn basis(State(app): State<App>) -> Reply<BasisAnswer> {
    let BackupBasis { claims, damaged_pages, incarnation } = backup_basis(&app.context).await?;
    let claims = claims.into_iter().map(ClaimLine::from).collect();
    Ok(Answer::ok(BasisAnswer { claims, damaged_pages, incarnation }))
}
