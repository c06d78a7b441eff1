//! The token of a claim gateway.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use mallbox_storage::ClaimGateway;

use super::extract::token;
use crate::http::App;
use crate::http::response::error::ApiError;
use crate::mall::ClaimGatewayRefusal;
use crate::mall::base::Failure;

/// The claim gateway of the request's token; 401 without a valid token. The token is no session: no other
/// call knows it.
#[derive(Clone, Debug)]
pub struct FromGateway(pub ClaimGateway);

impl FromRequestParts<App> for FromGateway {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Some(token) = token(&parts.headers) else {
            return Err(Failure::from(ClaimGatewayRefusal::TokenInvalid).into());
        };
        Ok(Self(app.batch_claims.gateway(token, app.context.now()).await?))
    }
}
