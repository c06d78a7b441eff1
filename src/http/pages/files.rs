//! Pages and pictures: every path outside the API.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, LOCATION, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use mallbox_storage::{Picture, PictureKind, StoreError};
use tower_http::services::ServeDir;

use super::own_pages::OwnPages;
use crate::demo::pictures::{picture, placeholder};
use crate::http::request::query_text::path_text;
use crate::http::response::encodings::gzipped;
use crate::http::response::error::ApiError;
use crate::http::response::headers::{
    IMMUTABLE, NO_STORE, PICTURE_POLICY, REVALIDATE, add_shared_document, is_known, quoted,
};
use crate::http::server::audience::Audience;
use crate::http::server::health::Health;
use crate::mall::Pictures;
use crate::mall::selling::challenge_service::PageSources;

/// Sources of pages and pictures.
#[derive(Clone)]
pub struct Files {
    /// Another front end's files; mallbox's own page is then at `/mall/`.
    web: Option<Folder>,
    /// Another front end's pictures.
    web_pictures: Option<Folder>,
    /// Pictures uploaded by users.
    pictures: Option<Pictures>,
    /// Pictures copied or fetched by an import.
    uploads: Option<Folder>,
    /// Whether a placeholder is drawn for a missing picture.
    placeholders: bool,
    health: Option<Health>,
    audience: Audience,
    own: OwnPages,
}

/// A drawn picture changes only with the program.
const CACHE_ONE_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");

impl Files {
    /// Creates a source of pictures from `uploads`, if any, and pages from `web`, if another front end is
    /// given.
    #[must_use]
    pub fn new(uploads: Option<&Path>, web: Option<&Path>, health: Option<Health>) -> Self {
        let folder = |path: &Path| Folder { dir: path.to_owned() };
        Self {
            web: web.map(folder),
            web_pictures: web.map(|web| folder(&web.join("imgs"))),
            pictures: None,
            uploads: uploads.map(folder),
            placeholders: false,
            own: OwnPages::new(health.as_ref().map_or("", Health::prefix)),
            health,
            audience: Audience::Everybody,
        }
    }

    /// Adds the pictures uploaded by users, searched before any folder.
    #[must_use]
    pub fn with_pictures(self, pictures: Pictures) -> Self {
        Self { pictures: Some(pictures), ..self }
    }

    /// Allows the storefront to load these sources besides the mall's own.
    #[must_use]
    pub fn with_sources(self, sources: PageSources) -> Self {
        Self { own: self.own.with_sources(sources), ..self }
    }

    /// Draws a placeholder for a missing picture, if `placeholders`.
    #[must_use]
    pub fn with_placeholders(self, placeholders: bool) -> Self {
        Self { placeholders, ..self }
    }

    /// Leaves out what is not for this audience.
    #[must_use]
    pub fn only_for(self, audience: Audience) -> Self {
        Self { audience, ..self }
    }

    /// Responds to a request for a page, a picture, or the mall's health.
    pub async fn answer(&self, request: Request<Body>) -> Response {
        let (parts, _) = request.into_parts();
        if parts.method != Method::GET && parts.method != Method::HEAD {
            let mut response = ApiError::wrong_method().into_response();
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let path = path_text(parts.uri.path()).into_owned();
        if !is_plain(&path) {
            return not_found();
        }
        let is_for_customers = self.audience == Audience::Customers;
        match (path.as_str(), &self.health) {
            ("/metrics" | "/console" | "/mall/console", _) if is_for_customers => not_found(),
            ("/healthz", Some(_)) => Health::alive(),
            ("/readyz", Some(health)) if is_for_customers => health.ready_or_not().await,
            ("/readyz", Some(health)) => health.ready().await,
            ("/metrics", Some(health)) => health.metrics().await,
            ("/mall", _) => (StatusCode::PERMANENT_REDIRECT, [(LOCATION, "/mall/")]).into_response(),
            (path, _) => match path.strip_prefix("/imgs").filter(|name| name.starts_with('/')) {
                Some(name) => self.picture(name, &parts).await,
                None => self.page(path, &parts).await,
            },
        }
    }

    /// Returns a page. mallbox's own pages are below `/mall/`, the console also at `/console`, and without
    /// another front end all own pages are at `/` as well.
    async fn page(&self, path: &str, parts: &Parts) -> Response {
        let own = |place| self.own.page(place, parts);
        if let Some(asset) = self.own.asset(path, &parts.headers) {
            return asset;
        }
        match (path, path.strip_prefix("/mall/"), &self.web) {
            ("/console", ..) => own("console").unwrap_or_else(not_found),
            (_, Some(place), _) => own(place).unwrap_or_else(not_found),
            (.., Some(web)) => {
                let Some(mut found) = web.get(parts.uri.path(), parts).await else { return not_found() };
                add_shared_document(found.headers_mut());
                found
            }
            (.., None) => own(&path[1..]).unwrap_or_else(not_found),
        }
    }

    /// Returns a picture that is a file: of an import, or of the other front end. No proxy keeps such a
    /// picture: a moderator may withhold it at any time.
    async fn picture_file(&self, parts: &Parts) -> Option<Response> {
        let path = parts.uri.path().strip_prefix("/imgs").unwrap_or_default();
        if let Some(uploads) = &self.uploads
            && let Some(mut found) = uploads.get(path, parts).await
        {
            let headers = found.headers_mut();
            headers.insert(CONTENT_SECURITY_POLICY, PICTURE_POLICY);
            headers.insert(CACHE_CONTROL, REVALIDATE);
            return Some(found);
        }
        let mut found = self.web_pictures.as_ref()?.get(path, parts).await?;
        found.headers_mut().insert(CACHE_CONTROL, REVALIDATE);
        Some(found)
    }

    async fn is_withheld(&self, name: &str) -> Result<bool, StoreError> {
        match &self.pictures {
            Some(pictures) => pictures.is_file_withheld(name).await,
            None => Ok(false),
        }
    }

    /// Returns a picture from the first source that has it: users' uploads, imported pictures, the other
    /// front end, the demo's drawings, the placeholder.
    async fn picture(&self, name: &str, parts: &Parts) -> Response {
        let uploaded = match &self.pictures {
            Some(pictures) => pictures.get(name).await,
            None => Ok(None),
        };
        if let Ok(Some(picture)) = uploaded {
            return upload(name, picture, &parts.headers);
        }
        if let Some(found) = self.picture_file(parts).await {
            match self.is_withheld(name).await {
                Ok(false) => return found,
                Ok(true) => {}
                Err(trouble) => return ApiError::from(trouble).into_response(),
            }
        }
        let (svg, how_long) = match picture(name) {
            Some(svg) => (svg, CACHE_ONE_HOUR),
            // The picture may exist despite the error: a 404 could be cached.
            None if let Err(trouble) = uploaded => return ApiError::from(trouble).into_response(),
            None if self.placeholders => (placeholder(), REVALIDATE),
            // The picture of a hidden note may come back.
            None => return ([(CACHE_CONTROL, NO_STORE)], not_found()).into_response(),
        };
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static("image/svg+xml")),
            (CACHE_CONTROL, how_long),
            (CONTENT_SECURITY_POLICY, PICTURE_POLICY),
            (VARY, HeaderValue::from_name(ACCEPT_ENCODING)),
        ];
        match gzipped(&svg, &parts.headers) {
            Some(gzip) => {
                (headers, [(CONTENT_ENCODING, HeaderValue::from_static("gzip"))], gzip).into_response()
            }
            None => (headers, svg).into_response(),
        }
    }
}

/// A served folder. [`is_plain`] has checked the path; tower-http prevents escapes from the folder once more.
#[derive(Clone)]
struct Folder {
    dir: PathBuf,
}

impl Folder {
    /// Returns the file at `path`, or the folder's `index.html`, without `cache-control`; `None` if neither
    /// exists.
    async fn get(&self, path: &str, parts: &Parts) -> Option<Response> {
        let mut request = Request::new(Body::empty());
        *request.method_mut() = parts.method.clone();
        *request.uri_mut() = path.parse().ok()?;
        request.headers_mut().clone_from(&parts.headers);
        let response = match ServeDir::new(&self.dir).try_call(request).await {
            Ok(response) => response.map(Body::new),
            // A name too long for the file system cannot exist. (`call` would respond with 500.)
            Err(error) if is_not_there(error.kind()) => return None,
            Err(error) => {
                return Some(ApiError::bug(format!("cannot read the file: {error}")).into_response());
            }
        };
        if response.status() == StatusCode::NOT_FOUND {
            return None;
        }
        Some(response)
    }
}

fn is_not_there(kind: ErrorKind) -> bool {
    use ErrorKind::{InvalidFilename, NotADirectory, NotFound, PermissionDenied};
    matches!(kind, NotFound | NotADirectory | PermissionDenied | InvalidFilename)
}

/// Returns whether no part of a path is hidden (`.git`) or leads outside the folder.
pub(in crate::http) fn is_plain(path: &str) -> bool {
    path.starts_with('/')
        && !path.contains(['\\', '\0'])
        && path.split('/').all(|part| !part.starts_with('.') || part == ".well-known")
}

/// Responds with an uploaded picture. A file name is random and never reused, so the name serves as `ETag`.
fn upload(name: &str, picture: Picture, headers: &HeaderMap) -> Response {
    let stem = name.rsplit('/').next().and_then(|file| file.split('.').next()).unwrap_or_default();
    let etag = quoted(stem);
    let mut response = if is_known(headers.get_all(IF_NONE_MATCH), &etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let kind = match picture.kind {
            PictureKind::Jpeg => "image/jpeg",
            PictureKind::Webp => "image/webp",
        };
        ([(CONTENT_TYPE, HeaderValue::from_static(kind))], picture.content).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(ETAG, etag);
    headers.insert(CACHE_CONTROL, IMMUTABLE);
    headers.insert(CONTENT_SECURITY_POLICY, PICTURE_POLICY);
    response
}

fn not_found() -> Response {
    ApiError::unknown_path().into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_elsewhere_are_not_plain() {
        for good in ["/", "/a/b.html", "/.well-known/x", "/a..b", "/茶.html"] {
            assert!(is_plain(good), "{good}");
        }
        for bad in ["", "a", "/..", "/a/../b", "/.git/config", "/a\\..\\b", "/a/.", "/a\0"] {
            assert!(!is_plain(bad), "{bad}");
        }
    }
}
