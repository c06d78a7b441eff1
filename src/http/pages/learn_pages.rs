//! The page of `mallbox learn` and its files. A mall has no such page.

use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};

use super::own_pages::OwnPages;

/// The page of `mallbox learn`, and the files of `web/`.
#[derive(Clone)]
pub struct LearnPages {
    own: OwnPages,
}

impl LearnPages {
    /// Creates the page.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a page is no default of anything")]
    pub fn new() -> Self {
        Self { own: OwnPages::of_learn() }
    }

    /// Responds to a request for the page or one of its files.
    #[must_use]
    pub fn answer(&self, parts: &Parts) -> Response {
        let path = parts.uri.path();
        if let Some(asset) = self.own.asset(path, &parts.headers) {
            return asset;
        }
        let page = path.strip_prefix('/').and_then(|path| self.own.page(path, parts));
        page.unwrap_or_else(|| StatusCode::NOT_FOUND.into_response())
    }
}
