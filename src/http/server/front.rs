//! The layer before every handler: request ids, limits, deadlines, panics, metrics and the log.
//!
//! One function instead of a stack of layers: a refused claim costs little more than HTTP itself, and every
//! boxed layer would add to the cost.
//!
//! For each request: the id, merged slashes, the prefix of the API, the size of the body, language, panics,
//! the deadline, metrics, the log. Uploads have an allowance of their own (`call_limits.rs`).
//!
//! Reasons and figures: `src/decisions/0002-front-as-one-function.md`.

use std::any::Any;
use std::convert::Infallible;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderName, Method, Request, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, Limited};
use tokio_util::sync::CancellationToken;
use tower::Service as _;
use tracing::Instrument as _;

use super::address_rate_limit::AddressRateLimit;
use super::api_path::strip_prefix;
use super::arrival::{Arrival, Arrives};
use super::call_limits::CallLimits;
use super::host_names::HostNames;
use super::log_budget::LogRateLimit;
use super::logged_request::LoggedRequest;
use super::metrics::{Class, Metrics, Tally};
use super::request_id::RequestIds;
use super::request_span::{self, RequestTraces};
use super::security::SecurityEvents;
use crate::http::request::attempt::Attempt;
use crate::http::request::client_address::{ClientAddress, TrustedProxies};
use crate::http::response::caller::{Caller, Profile};
use crate::http::response::error::{ApiError, InternalCause, internal_response};
use crate::http::response::headers;
use crate::http::response::language;
use crate::language::Language;

/// Maximum bytes of a too large body to read before the refusal: a client still sending would not read the
/// response.
const DRAIN_MAX_BYTES: usize = 8 << 20;
/// Maximum time to read a too large body.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// Requests slower than this are logged.
const SLOW_REQUEST_MIN: Duration = Duration::from_millis(500);

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Handlers and options of a [`Gateway`].
pub struct FrontOptions {
    /// The API, without its prefix.
    pub api: Router,
    /// The API's path prefix: `/api`, or `""` behind a proxy that strips the prefix.
    pub prefix: String,
    /// Handlers of paths outside the API.
    pub pages: Router,
    /// Time limit of a call of the API.
    pub deadline: Option<Duration>,
    /// The proxies that report the addresses of their clients.
    pub proxies: TrustedProxies,
    /// The names by which clients may call the mall.
    pub hosts: HostNames,
    /// The limit on calls from one address.
    pub address_gate: Option<AddressRateLimit>,
    /// Receives the counts of requests.
    pub metrics: Arc<Metrics>,
    /// Cancelled when the server stops: ends endless responses.
    pub stop: CancellationToken,
    /// The language for clients without `Accept-Language`.
    pub language: Language,
    /// The profile of clients other than mallbox's own pages.
    pub profile: Profile,
    /// Prefix of the request ids: distinct from other malls' prefixes by chance only.
    pub request_ids: u32,
    /// Share of requests to trace, from 0 to 1.
    pub traced_share: f64,
}

impl FrontOptions {
    /// Returns options with only these handlers, at the root, without limits and with metrics of their own.
    #[must_use]
    pub fn bare(api: Router) -> Self {
        Self {
            api,
            prefix: String::new(),
            pages: Router::new(),
            deadline: None,
            proxies: TrustedProxies::default(),
            hosts: HostNames::Any,
            address_gate: None,
            metrics: Arc::default(),
            stop: CancellationToken::new(),
            language: Language::default(),
            profile: Profile::default(),
            request_ids: rand::random(),
            traced_share: 0.0,
        }
    }
}

/// The layer before every handler. One per worker thread; each connection has a clone.
#[derive(Clone)]
pub struct Gateway {
    mall: Arc<SharedState>,
    tally: Arc<Tally>,
    peer: Option<IpAddr>,
}

/// Data common to all workers. Each worker has a copy: a reference count written by all cores would cost more
/// than all the rest.
#[derive(Clone)]
struct SharedState {
    prefix: String,
    deadline: Option<Duration>,
    proxies: TrustedProxies,
    hosts: HostNames,
    address_gate: Option<AddressRateLimit>,
    metrics: Arc<Metrics>,
    ids: RequestIds,
    api: Router,
    pages: Router,
    log: Arc<LogRateLimit>,
    stop: CancellationToken,
    language: Language,
    profile: Profile,
    traces: RequestTraces,
}

impl Gateway {
    /// Creates the layer before these handlers.
    #[must_use]
    pub fn new(options: FrontOptions) -> Self {
        let FrontOptions {
            api,
            prefix,
            pages,
            deadline,
            proxies,
            hosts,
            address_gate,
            metrics,
            stop,
            language,
            profile,
            request_ids,
            traced_share,
        } = options;
        let tally = metrics.worker();
        let log = Arc::default();
        let ids = RequestIds::new(request_ids);
        let mall = SharedState {
            prefix,
            deadline,
            proxies,
            hosts,
            address_gate,
            metrics,
            ids,
            api,
            pages,
            log,
            stop,
            language,
            profile,
            traces: RequestTraces::new(traced_share),
        };
        Self { mall: Arc::new(mall), tally, peer: None }
    }

    /// Returns a copy for another worker thread, with counters of its own.
    #[must_use]
    pub(in crate::http) fn for_worker(&self) -> Self {
        let tally = self.mall.metrics.worker();
        Self { tally, mall: Arc::new(SharedState::clone(&self.mall)), peer: None }
    }

    /// Returns a copy for a connection from this address.
    #[must_use]
    pub(in crate::http) fn for_peer(&self, peer: Option<IpAddr>) -> Self {
        Self { peer, ..self.clone() }
    }

    /// Returns the metrics of requests and connections.
    pub(in crate::http) fn metrics(&self) -> &Arc<Metrics> {
        &self.mall.metrics
    }

    /// Returns the record of security events.
    pub(crate) fn security(&self) -> &Arc<SecurityEvents> {
        self.mall.metrics.security()
    }

    /// Returns the proxies that report the addresses of their clients.
    pub(super) fn proxies(&self) -> &TrustedProxies {
        &self.mall.proxies
    }

    /// Returns the token that the server cancels to stop.
    pub(in crate::http) fn stop(&self) -> &CancellationToken {
        &self.mall.stop
    }

    /// Responds to a request. Never fails and never panics.
    pub async fn respond<B: Arrives>(self, request: Request<B>) -> Response {
        let started = Instant::now();
        let (mut parts, body) = request.into_parts();
        let language = Language::of(&parts.headers, self.mall.language);
        let caller = Caller::of(&parts.headers, self.mall.profile);
        let client = self.peer.map(|peer| self.mall.proxies.client(peer, &parts.headers));
        let id = self.mall.ids.of(&parts.headers, &self.tally);
        let is_api = self.mall.set_path(&mut parts);
        let span = self.mall.traces.begin(&parts, &id, || {
            let route = self.security().route_of(parts.uri.path()).filter(|_| is_api)?;
            Some(format!("{}{route}", self.mall.prefix))
        });
        let path = parts.uri.path();
        let class = if is_api { Class::of_api(&parts.method, path) } else { Class::of_page(path) };
        let method = parts.method.clone();
        // Needed for the log line only, which most requests do not get.
        let uri = parts.uri.clone();

        // Most calls have no body, and need no tracking of its arrival.
        let arrival = (!body.is_end_stream()).then(Arrival::default);
        let allowance = CallLimits::of(&method, path);
        let work =
            self.work(parts, body, arrival.as_ref(), allowance, (is_api, client)).instrument(span.clone());
        let deadline =
            self.mall.deadline.filter(|_| is_api).map(|span| span + allowance.arrival + allowance.work);
        let (outcome, mut code, attempt) = run_guarded(work, (language, caller), deadline).await;
        let mut response = match outcome {
            Outcome::Answered(response) => response,
            Outcome::Panicked(message) => broken(StatusCode::INTERNAL_SERVER_ERROR, message),
            Outcome::TooSlow if arrival.is_some_and(|arrival| arrival.is_awaited()) => {
                code = "REQUEST_TIMEOUT";
                language.while_spoken(|| ApiError::body_too_slow().into_response())
            }
            Outcome::TooSlow => language.while_spoken(|| ApiError::too_slow().into_response()),
        };
        let elapsed = started.elapsed();
        self.tally.count(class, response.status(), code, elapsed);
        self.tally.count_claims(&mut response);
        let logged = LoggedRequest { id, client, is_api, method, uri, code, language, elapsed };
        self.mall.metrics.security().record_request(&logged.cause(attempt, is_api));
        if !span.is_disabled() {
            request_span::end(&span, response.status(), code);
        }
        self.finish(response, &logged)
    }

    async fn work<B: Arrives>(
        &self,
        mut parts: Parts,
        body: B,
        arrival: Option<&Arrival>,
        allowance: CallLimits,
        (is_api, client): (bool, Option<IpAddr>),
    ) -> Response {
        // Only calls over a network can come from a browser.
        if self.peer.is_some()
            && let Err(error) = self.mall.hosts.check(&parts)
        {
            return error.into_response();
        }
        if let Some(gate) = self.mall.address_gate.as_ref().filter(|_| is_api)
            && let Some(client) = client
            && let Err(error) = gate.pass(client).await
        {
            return error.into_response();
        }
        let body = match arrival {
            None => Body::empty(),
            Some(arrival) => match limited_body(&mut parts, body, arrival, allowance.body).await {
                Ok(body) => body,
                Err(error) => return error.into_response(),
            },
        };
        // A claim is not counted as a visit, to save time.
        let is_wanted = parts.method == Method::GET || parts.uri.path().starts_with("/user/");
        if let Some(client) = client.filter(|_| is_api && is_wanted) {
            parts.extensions.insert(ClientAddress(client));
        }
        let handlers = if is_api { &self.mall.api } else { &self.mall.pages };
        let answer = handlers.clone().call(Request::from_parts(parts, body)).await;
        let response = answer.unwrap_or_else(|never: Infallible| match never {});
        if is_api && response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return with_envelope(response);
        }
        response
    }

    fn finish(&self, mut response: Response, logged: &LoggedRequest) -> Response {
        let status = response.status();
        if status.is_server_error() || logged.elapsed > SLOW_REQUEST_MIN {
            response = self.mall.report(response, logged);
        }
        tracing::debug!(
            request_id = logged.id(), client = logged.client(), method = %logged.method, path = &*logged.path(), status = status.as_u16(),
            code = logged.code, elapsed_ms = logged.elapsed_ms(), "responded"
        );
        response.headers_mut().insert(REQUEST_ID, logged.id.clone());
        headers::add_common(response.headers_mut(), logged.is_api);
        response
    }
}

impl SharedState {
    /// Merges slashes and strips the prefix. Returns whether the request is for the API.
    fn set_path(&self, parts: &mut Parts) -> bool {
        let (path, is_api) = strip_prefix(parts.uri.path(), &self.prefix);
        if path.len() != parts.uri.path().len() {
            let target = match parts.uri.query() {
                Some(query) => format!("{path}?{query}"),
                None => path.into_owned(),
            };
            // Every part comes from a valid target.
            if let Ok(uri) = Uri::try_from(target) {
                parts.uri = uri;
            }
        }
        is_api
    }

    /// Logs a failed or slow request, and adds the request id to a 500.
    fn report(&self, mut response: Response, logged: &LoggedRequest) -> Response {
        let status = response.status();
        let trouble = response.extensions_mut().remove::<InternalCause>();
        let (id, path, elapsed_ms) = (logged.id(), &*logged.path(), logged.elapsed_ms());
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            let cause =
                trouble.map_or_else(|| "a handler responded with 500".to_owned(), |trouble| trouble.0);
            tracing::error!(
                request_id = id, client = logged.client(), method = %logged.method, path, elapsed_ms, cause,
                "a request failed with an internal error"
            );
            return logged.language.while_spoken(|| internal_response(id));
        }
        // With the store unavailable, thousands of requests a second fail; the first few lines are enough.
        if let Some(InternalCause(cause)) = trouble
            && let Some(suppressed) = self.log.acquire()
        {
            let status = status.as_u16();
            tracing::warn!(
                request_id = id, client = logged.client(), method = %logged.method, path, status, elapsed_ms, cause, suppressed,
                "a request failed"
            );
        } else if logged.elapsed > SLOW_REQUEST_MIN && self.log.acquire().is_some() {
            tracing::info!(
                request_id = id, client = logged.client(), method = %logged.method, path, status = status.as_u16(), elapsed_ms,
                "slow request"
            );
        }
        response
    }
}

pub(in crate::http) enum Outcome {
    Answered(Response),
    Panicked(String),
    TooSlow,
}

/// Polls a handler with its language and caller set, catches its panic, and cancels the work at the deadline.
/// Returns the outcome, the code of the refusal or `""`, and the notes for the security log.
pub(in crate::http) async fn run_guarded(
    work: impl Future<Output = Response>,
    (language, caller): (Language, Caller),
    deadline: Option<Duration>,
) -> (Outcome, &'static str, Attempt) {
    let mut work = pin!(work);
    let mut attempt = Attempt::default();
    // Most calls complete on the first poll and never need a timer.
    let mut timer = pin!(None::<tokio::time::Sleep>);
    std::future::poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            language.while_spoken(|| {
                caller.with_current(|| {
                    language::take_code();
                    attempt.resume();
                    let polled = work.as_mut().poll(cx);
                    (polled, language::take_code())
                })
            })
        }));
        attempt = Attempt::suspend();
        match polled {
            Ok((Poll::Ready(response), code)) => Poll::Ready((Outcome::Answered(response), code, attempt)),
            Err(panic) => {
                Poll::Ready((Outcome::Panicked(panic_message(panic.as_ref())), "INTERNAL", attempt))
            }
            Ok((Poll::Pending, _)) => {
                let Some(span) = deadline else { return Poll::Pending };
                if timer.is_none() {
                    timer.set(Some(tokio::time::sleep(span)));
                }
                let rung = timer.as_mut().as_pin_mut().is_some_and(|timer| timer.poll(cx).is_ready());
                if rung { Poll::Ready((Outcome::TooSlow, "BUSY", attempt)) } else { Poll::Pending }
            }
        }
    })
    .await
}

/// Returns the message of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("no message"))
}

fn broken(status: StatusCode, cause: String) -> Response {
    let mut response = status.into_response();
    response.extensions_mut().insert(InternalCause(cause));
    response
}

/// Returns the body if not too large; a body of unknown length is counted while being read.
async fn limited_body<B: Arrives>(
    parts: &mut Parts,
    body: B,
    arrival: &Arrival,
    most: usize,
) -> Result<Body, ApiError> {
    let length = body.size_hint();
    if length.lower() > most as u64 {
        // A client that sent `Expect: 100-continue` is still waiting, and reading would invite the body.
        if !parts.headers.contains_key(header::EXPECT) {
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, Limited::new(body, DRAIN_MAX_BYTES).collect()).await;
        }
        return Err(ApiError::too_large(most));
    }
    let body = arrival.watch(body);
    match length.upper() {
        Some(upper) if upper <= most as u64 => Ok(Body::new(body)),
        _ => Ok(Body::new(Limited::new(body, most))),
    }
}

/// Adds an envelope to axum's empty 405; the `Allow` header stays.
fn with_envelope(bare: Response) -> Response {
    let mut response = ApiError::wrong_method().into_response();
    if let Some(allowed) = bare.headers().get(header::ALLOW) {
        response.headers_mut().insert(header::ALLOW, allowed.clone());
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_says_its_text() {
        for panic in [
            std::panic::catch_unwind(|| panic!("plain")).unwrap_err(),
            std::panic::catch_unwind(|| panic!("{}", "plain")).unwrap_err(),
        ] {
            assert_eq!(panic_message(panic.as_ref()), "panic: plain");
        }
        assert_eq!(panic_message(&7), "panic: no message");
    }
}
