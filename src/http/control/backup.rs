//! What a backup or a point of a stream begins with, for the command line.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde::Serialize;

use crate::backup::manifest::ClaimLine;
use crate::http::App;
use crate::http::response::envelope::{Answer, Reply};
use crate::mall::operator::backups::{BackupBasis, backup_basis, point_basis};

/// Returns the routes of backups.
pub(super) fn routes() -> Router<App> {
    Router::new().route("/control/backup", get(of_backup)).route("/control/backup/point", get(of_point))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BasisAnswer {
    claims: Vec<ClaimLine>,
    damaged_pages: u64,
    incarnation: Option<String>,
}

async fn of_backup(State(app): State<App>) -> Reply<BasisAnswer> {
    reply(backup_basis(&app.context).await?)
}

async fn of_point(State(app): State<App>) -> Reply<BasisAnswer> {
    reply(point_basis(&app.context).await?)
}

fn reply(basis: BackupBasis) -> Reply<BasisAnswer> {
    let BackupBasis { claims, damaged_pages, incarnation } = basis;
    let claims = claims.into_iter().map(ClaimLine::from).collect();
    Ok(Answer::ok(BasisAnswer { claims, damaged_pages, incarnation }))
}
