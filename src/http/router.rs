//! Where each path leads.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use tokio_util::sync::CancellationToken;
use tower::service_fn;

use super::address_gate::AddressGate;
use super::describe::Calls;
use super::files::Files;
use super::front::{DEADLINE, Front, FrontOptions};
use super::health::Health;
use super::metrics::Metrics;
use super::ops::live::Live;
use super::{
    ApiError, App, Profile, blog, blog_comments, feed, follow, like, ops, receipt, report, sale, shop,
    shop_types, sign, upload, user, visits, voucher, voucher_order,
};

/// How the mall is served.
#[derive(Clone, Debug)]
pub struct SiteOptions {
    /// Where the API is: `/api`, or `""`.
    pub prefix: String,
    /// Where uploaded pictures are, if there are any.
    pub uploads: Option<PathBuf>,
    /// Another front end's files.
    pub web: Option<PathBuf>,
    /// How clients other than mallbox's own pages are answered.
    pub profile: Profile,
}

/// The API's routes without its prefix, each with its description.
fn calls(live: Live) -> Calls {
    user::routes()
        .merge(follow::routes())
        .merge(like::routes())
        .merge(feed::routes())
        .merge(sign::routes())
        .merge(visits::routes())
        .merge(upload::routes())
        .merge(shop::routes())
        .merge(shop_types::routes())
        .merge(blog::routes())
        .merge(blog_comments::routes())
        .merge(report::routes())
        .merge(voucher::routes())
        .merge(voucher_order::routes())
        .merge(receipt::routes())
        .merge(sale::routes())
        .merge(ops::routes(live))
}

/// Everything but the API.
pub fn pages(files: Files) -> Router {
    let files = Arc::new(files);
    Router::new().fallback_service(service_fn(move |request: Request<Body>| {
        let files = Arc::clone(&files);
        async move { Ok::<_, Infallible>(files.answer(request).await) }
    }))
}

/// The mall's handlers, without what stands before them.
pub struct Site {
    /// The API, without its prefix.
    pub api: Router,
    /// Everything else.
    pub pages: Router,
    /// Method and path of each call of the API.
    pub calls: Vec<(Method, &'static str)>,
}

impl Site {
    /// Of this mall. What they count is counted in `metrics`, and what would never end by itself ends with `stop`.
    #[must_use]
    pub fn new(app: &App, options: &SiteOptions, metrics: &Arc<Metrics>, stop: CancellationToken) -> Self {
        let context = &app.context;
        let health = Health::new(app, Arc::clone(metrics), &options.prefix);
        let live = Live::new(health.clone(), Arc::clone(metrics), context.settings.live_places, stop);
        let files = Files::new(options.uploads.as_deref(), options.web.as_deref(), Some(health))
            .with_pictures(app.pictures.clone());
        let pages = pages(files.with_placeholders(app.is_imported));
        let calls = calls(live);
        let listed = calls.list();
        let api = calls.with_document(&options.prefix).fallback(|| async { ApiError::unknown_path() });
        let api = api.with_state(Arc::clone(app));
        // At the root, what the API does not know is a page.
        let api = if options.prefix.is_empty() { api.fallback_service(pages.clone()) } else { api };
        Self { api, pages, calls: listed }
    }
}

/// The whole mall, ready to be served.
#[must_use]
pub fn site(app: &App, options: &SiteOptions) -> Front {
    let (metrics, stop) = (Arc::<Metrics>::default(), CancellationToken::new());
    let Site { api, pages, .. } = Site::new(app, options, &metrics, stop.clone());
    let context = &app.context;
    let address_gate = context.settings.address_limit.map(|limit| {
        AddressGate::new(limit, Arc::clone(&context.storage.rate_limits), Arc::clone(&context.clock))
    });
    let (prefix, deadline) = (options.prefix.clone(), Some(DEADLINE));
    Front::new(FrontOptions {
        prefix,
        pages,
        deadline,
        address_gate,
        metrics,
        stop,
        profile: options.profile,
        ..FrontOptions::bare(api)
    })
}
