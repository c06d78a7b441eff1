//! The routes of the mall.

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use tokio_util::sync::CancellationToken;
use tower::service_fn;

use super::App;
use super::api::catalogue::{shop_types, shops, vouchers};
use super::api::operator;
use super::api::operator::live::Live;
use super::api::people::{
    accounts, follows, levels, own_sessions, personal_data, second_factor, sign_ins, visits,
};
use super::api::selling::{
    batch_claims, guards, orders, payment_callbacks, receipts, sales, waiting_lists, waiting_rooms,
};
use super::api::writing::{comments, feeds, likes, notes, pictures, reports, reviews};
use super::describe::Calls;
use super::pages::files::Files;
use super::request::client_address::TrustedProxies;
use super::response::caller::Profile;
use super::response::error::ApiError;
use super::server::address_rate_limit::AddressRateLimit;
use super::server::audience::Audience;
use super::server::call_limits::CALL_TIMEOUT;
use super::server::endpoint_limits::{EndpointLimit, limited};
use super::server::front::{FrontOptions, Gateway};
use super::server::health::Health;
use super::server::host_names::HostNames;
use super::server::metrics::Metrics;
use crate::mall::selling::challenge_service::PageSources;

/// Options of the mall's site.
#[derive(Clone, Debug)]
pub struct SiteOptions {
    /// The API's path prefix: `/api`, or `""`.
    pub prefix: String,
    /// The folder of uploaded pictures, if any.
    pub uploads: Option<PathBuf>,
    /// The folder of another front end.
    pub web: Option<PathBuf>,
    /// The profile of clients other than mallbox's own pages.
    pub profile: Profile,
    /// The proxies that report the addresses of their clients.
    pub proxies: TrustedProxies,
    /// The names by which clients may call the mall.
    pub hosts: HostNames,
    /// The callers for whom the site is.
    pub audience: Audience,
    /// Limits per endpoint.
    pub endpoint_limits: Vec<EndpointLimit>,
    /// Share of requests to trace, from 0 to 1.
    pub traced_share: f64,
}

impl FromStr for EndpointLimit {
    type Err = String;

    /// Parses a limit on a call of customers.
    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text, &calls().list())
    }
}

/// Returns the API's routes without the prefix, each with its description.
fn calls() -> Calls {
    accounts::routes()
        .merge(own_sessions::routes())
        .merge(personal_data::routes())
        .merge(follows::routes())
        .merge(likes::routes())
        .merge(feeds::routes())
        .merge(sign_ins::routes())
        .merge(levels::routes())
        .merge(visits::routes())
        .merge(pictures::routes())
        .merge(shops::routes())
        .merge(shop_types::routes())
        .merge(notes::routes())
        .merge(comments::routes())
        .merge(reviews::routes())
        .merge(reports::routes())
        .merge(vouchers::routes())
        .merge(orders::routes())
        .merge(batch_claims::routes())
        .merge(receipts::routes())
        .merge(payment_callbacks::routes())
        .merge(sales::routes())
        .merge(guards::routes())
        .merge(waiting_lists::routes())
        .merge(waiting_rooms::routes())
}

/// Returns the handlers of pages and pictures: every path outside the API.
pub fn pages(files: Files) -> Router {
    let files = Arc::new(files);
    Router::new().fallback_service(service_fn(move |request: Request<Body>| {
        let files = Arc::clone(&files);
        async move { Ok::<_, Infallible>(files.answer(request).await) }
    }))
}

/// The mall's handlers, without the layer of [`Gateway`].
pub struct Site {
    /// The API, without its prefix.
    pub api: Router,
    /// Handlers of paths outside the API.
    pub pages: Router,
    /// Method and path of each call of the API.
    pub calls: Vec<(Method, &'static str)>,
}

impl Site {
    /// Creates the handlers of a mall. `metrics` receives the counts; `stop` ends endless responses.
    #[must_use]
    pub fn new(app: &App, options: &SiteOptions, metrics: &Arc<Metrics>, stop: CancellationToken) -> Self {
        let context = &app.context;
        let health = Health::new(app, Arc::clone(metrics), &options.prefix);
        let files = Files::new(options.uploads.as_deref(), options.web.as_deref(), Some(health.clone()))
            .with_pictures(app.pictures.clone())
            .with_sources(challenge_sources(app));
        let pages = pages(files.with_placeholders(app.is_imported).only_for(options.audience));
        let calls = match options.audience {
            Audience::Customers => calls(),
            Audience::Everybody => {
                let places = context.settings.live_places;
                let live = Live::new(health, Arc::clone(metrics), places, stop);
                calls()
                    .merge(second_factor::routes())
                    .merge(operator::routes(live, Arc::clone(metrics.security())))
            }
        };
        let listed = calls.list();
        metrics.security().set_routes(listed.iter().map(|(_, path)| *path).collect());
        let api = calls.with_document(&options.prefix).fallback(|| async { ApiError::unknown_path() });
        let api = limited(api.with_state(Arc::clone(app)), &options.endpoint_limits);
        // At the root, paths unknown to the API are pages.
        let api = if options.prefix.is_empty() { api.fallback_service(pages.clone()) } else { api };
        Self { api, pages, calls: listed }
    }
}

/// Builds the whole mall, ready to be served.
#[must_use]
pub fn site(app: &App, options: &SiteOptions) -> Gateway {
    site_beside(app, options, metrics_of(app), CancellationToken::new())
}

/// Builds two sites of one mall: one for customers and one for everybody. Both count into the same metrics,
/// and a stop of either server ends the endless responses of both.
#[must_use]
pub fn separate_sites(app: &App, options: &SiteOptions) -> SeparateSites {
    let (metrics, stop) = (metrics_of(app), CancellationToken::new());
    let site = |audience| {
        let options = SiteOptions { audience, ..options.clone() };
        site_beside(app, &options, Arc::clone(&metrics), stop.clone())
    };
    // The first one names the routes of the security log: all of them.
    let operators = site(Audience::Everybody);
    SeparateSites { customers: site(Audience::Customers), operators }
}

/// Returns what the widget of the challenge service needs; nothing without a service.
fn challenge_sources(app: &App) -> PageSources {
    app.sales.challenge_service().map(|watched| watched.service().sources().clone()).unwrap_or_default()
}

fn metrics_of(app: &App) -> Arc<Metrics> {
    Arc::new(Metrics::new(Arc::clone(&app.context.clock)))
}

/// The two sites of a mall whose operators have a listener of their own.
pub struct SeparateSites {
    /// For the customers' listener.
    pub customers: Gateway,
    /// For the operators' listener.
    pub operators: Gateway,
}

fn site_beside(app: &App, options: &SiteOptions, metrics: Arc<Metrics>, stop: CancellationToken) -> Gateway {
    let Site { api, pages, .. } = Site::new(app, options, &metrics, stop.clone());
    let context = &app.context;
    let address_gate = context.settings.address_limit.map(|limit| {
        AddressRateLimit::new(
            limit,
            context.settings.shared_networks.clone(),
            Arc::clone(&context.storage.base.rate_limits),
            Arc::clone(&context.clock),
        )
    });
    let (prefix, deadline) = (options.prefix.clone(), Some(CALL_TIMEOUT));
    Gateway::new(FrontOptions {
        prefix,
        pages,
        deadline,
        address_gate,
        metrics,
        stop,
        profile: options.profile,
        proxies: options.proxies.clone(),
        hosts: options.hosts.clone(),
        traced_share: options.traced_share,
        ..FrontOptions::bare(api)
    })
}
