//! Limits per endpoint: the calls of all clients together, and all calls for one value, such as one sale or
//! one shop, so that a hot one does not starve the others.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use axum::RequestExt as _;
use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::Method;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};

use crate::http::response::error::ApiError;
use crate::mall::base::crowd_limit::{CrowdLimit, CrowdLimitOfValue};

/// A limit on the calls of an endpoint of the API, per second and process.
///
/// As text: `METHOD PATH=CALLS`, `METHOD PATH=CALLS/CALLS-OF-ONE-VALUE`, with the path as in the API
/// description. The value is the path's first parameter; 0 = no limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndpointLimit {
    method: Method,
    path: &'static str,
    in_all: Option<NonZeroU32>,
    of_value: Option<NonZeroU32>,
}

impl EndpointLimit {
    /// Parses a limit on one of these endpoints.
    ///
    /// # Errors
    /// What is wrong, and what was expected.
    pub(in crate::http) fn parse(text: &str, endpoints: &[(Method, &'static str)]) -> Result<Self, String> {
        const FORM: &str = "expected METHOD PATH=CALLS or METHOD PATH=CALLS/CALLS-OF-ONE-VALUE, such as \
            POST /voucher-order/seckill/{voucherId}=20000/5000";
        let (endpoint, limits) = text.rsplit_once('=').ok_or(FORM)?;
        let (in_all, of_value) = limits.split_once('/').unwrap_or((limits, "0"));
        let calls = |text: &str| text.trim().parse::<u32>().map(NonZeroU32::new).map_err(|_| FORM);
        let (in_all, of_value) = (calls(in_all)?, calls(of_value)?);
        let endpoint = endpoint.trim();
        let known = endpoints.iter().find(|(method, path)| format!("{method} {path}") == endpoint);
        let (method, path) = known.cloned().ok_or_else(|| {
            format!("the API has no call {endpoint:?}; the API description lists them, without the prefix")
        })?;
        if of_value.is_some() && !path.contains('{') {
            return Err(format!("the path of {endpoint} has no parameter, so only CALLS may be set"));
        }
        Ok(Self { method, path, in_all, of_value })
    }
}

struct Limits {
    in_all: Option<CrowdLimit>,
    of_value: Option<CrowdLimitOfValue>,
}

type Endpoints = HashMap<(Method, &'static str), Limits>;

/// Adds limits to the routes of the API. No effect without limits.
pub(in crate::http) fn limited(api: Router, limits: &[EndpointLimit]) -> Router {
    if limits.is_empty() {
        return api;
    }
    let by_endpoint: Endpoints = limits
        .iter()
        .map(|EndpointLimit { method, path, in_all, of_value }| {
            let limits = Limits {
                in_all: in_all.map(CrowdLimit::new),
                of_value: of_value.map(CrowdLimitOfValue::new),
            };
            ((method.clone(), *path), limits)
        })
        .collect();
    api.route_layer(from_fn_with_state(Arc::new(by_endpoint), pass))
}

async fn pass(State(endpoints): State<Arc<Endpoints>>, mut request: Request<Body>, next: Next) -> Response {
    let method = if request.method() == Method::HEAD { Method::GET } else { request.method().clone() };
    let path = request.extensions().get::<MatchedPath>().cloned();
    let limits = path.as_ref().and_then(|path| {
        endpoints.iter().find(|((limited, of), _)| *limited == method && *of == path.as_str())
    });
    if let Some((_, limits)) = limits
        && let Err(error) = limits.pass(&mut request).await
    {
        return error.into_response();
    }
    next.run(request).await
}

impl Limits {
    /// Counts a call. A call refused for its value costs the endpoint nothing.
    async fn pass(&self, request: &mut Request<Body>) -> Result<(), ApiError> {
        if let Some(limit) = &self.of_value
            && let Ok(parameters) = request.extract_parts::<RawPathParams>().await
            && let Some((_, value)) = parameters.iter().next()
        {
            limit.pass(value)?;
        }
        if let Some(limit) = &self.in_all {
            limit.pass()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<EndpointLimit, String> {
        let claims = "/voucher-order/seckill/{voucherId}";
        let endpoints = [(Method::POST, claims), (Method::GET, "/shop/{id}"), (Method::GET, "/sale/on")];
        EndpointLimit::parse(text, &endpoints)
    }

    #[test]
    fn a_limit_names_an_endpoint_and_calls() {
        let claims = "/voucher-order/seckill/{voucherId}";
        let limit = |method, path, in_all, of_value| {
            let (in_all, of_value) = (NonZeroU32::new(in_all), NonZeroU32::new(of_value));
            Ok(EndpointLimit { method, path, in_all, of_value })
        };
        let both = read(&format!("POST {claims}=20000/5000"));
        assert_eq!(both, limit(Method::POST, claims, 20_000, 5_000));
        assert_eq!(read(&format!("POST {claims}=0/5000")), limit(Method::POST, claims, 0, 5_000));
        assert_eq!(read("GET /shop/{id} = 9"), limit(Method::GET, "/shop/{id}", 9, 0));
        assert_eq!(read("GET /sale/on=100"), limit(Method::GET, "/sale/on", 100, 0));
    }

    #[test]
    fn a_mistake_is_named() {
        for (text, named) in [
            ("GET /shop/{id}", "expected METHOD PATH=CALLS"),
            ("GET /shop/{id}=many", "expected METHOD PATH=CALLS"),
            ("GET /shop/{id}=5/-1", "expected METHOD PATH=CALLS"),
            ("GET /shop/{id}=5/6/7", "expected METHOD PATH=CALLS"),
            ("GET /shop/1=5", "the API has no call \"GET /shop/1\""),
            ("DELETE /shop/{id}=5", "the API has no call \"DELETE /shop/{id}\""),
            ("GET /api/shop/{id}=5", "the API has no call"),
            ("GET /sale/on=5/1", "has no parameter"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
