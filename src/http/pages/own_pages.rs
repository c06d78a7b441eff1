//! mallbox's own pages: `web/`, embedded in the binary.
//!
//! Pages are revalidated on every load. They load assets from URLs below [`ASSETS`] with a version, a hash of
//! all files: the content of such a URL never changes and is cached for ever.
//!
//! In a page, `{preload store/main.js}` becomes a link for every module imported by `store/main.js`,
//! directly or not, and `{styles tokens base}` becomes the style sheets themselves: the first paint waits
//! for no second file.
//!
//! Reasons and figures: `src/decisions/0022-pages-without-a-build.md`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LANGUAGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mallbox_storage::hex;
use rust_embed::EmbeddedFile;
use sha2::{Digest as _, Sha256};

use crate::http::manual;
use crate::http::response::encodings::{Encoding, accepted, gzip, takes_gzip};
use crate::http::response::error::ApiError;
use crate::http::response::headers::{
    IMMUTABLE, PICTURE_POLICY, REVALIDATE, add_shared_document, is_known, quoted,
};
use crate::http::web_files::{Web, text};
use crate::language::Language;
use crate::mall::selling::challenge_service::PageSources;

/// Path of the assets; the version follows.
const ASSETS: &str = "/mall/assets/";
/// Pages of their own: path below `/` or `/mall/`, and file.
type Pages = &'static [(&'static str, &'static str)];
/// The pages of a mall.
const PAGES: Pages = &[("", "index.html"), ("console", "console.html"), ("api.html", "api.html")];
/// The page of `mallbox learn`.
const LEARN: Pages = &[("", "learn.html")];
/// The service worker of kiosks, beside the page because it answers for what lies below its own path.
const KIOSK_WORKER: &str = "kiosk-worker.js";
/// The page with the sales.
const STOREFRONT: Place = Place::Own(PAGES[0].0, PAGES[0].1);
/// Prefix of the manual's pages.
const MANUAL: &str = "manual/";
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Pages of the manual depend on the request's language.
const BY_LANGUAGE: HeaderValue = HeaderValue::from_static("accept-encoding, accept-language");

/// mallbox's own pages, rendered on the first request: most malls in tests never serve a page.
#[derive(Clone)]
pub(in crate::http) struct OwnPages {
    pages: Pages,
    /// The API's path prefix.
    api: String,
    /// Sources of the storefront besides the mall itself.
    sources: Arc<PageSources>,
    made: Arc<OnceLock<Rendered>>,
}

/// Rendered pages, and the version of the assets.
struct Rendered {
    pages: BTreeMap<Place, Page>,
    /// Rendered on the first request for the manual.
    manual: OnceLock<BTreeMap<Place, Page>>,
    version: String,
}

/// A page or a generated file.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// A page with path and file.
    Own(&'static str, &'static str),
    /// A topic of the manual; the empty name is the index page.
    Manual(String, Language),
    /// The index of the manual's search.
    Search(Language),
}

struct Page {
    content_type: HeaderValue,
    text: String,
    gzip: Option<Vec<u8>>,
    etag: HeaderValue,
    policy: HeaderValue,
}

impl OwnPages {
    /// Creates pages that find the API at this prefix.
    pub(in crate::http) fn new(api: &str) -> Self {
        Self { pages: PAGES, api: api.to_owned(), sources: Arc::default(), made: Arc::default() }
    }

    /// Creates the page of `mallbox learn`, beside the manual.
    #[cfg_attr(not(feature = "ladder"), expect(dead_code, reason = "only mallbox learn has this page"))]
    pub(in crate::http) fn of_learn() -> Self {
        Self { pages: LEARN, ..Self::new("/api") }
    }

    /// Allows the storefront to load these sources. A kiosk loads none.
    pub(in crate::http) fn with_sources(self, sources: PageSources) -> Self {
        Self { sources: Arc::new(sources), ..self }
    }

    fn made(&self) -> &Rendered {
        self.made.get_or_init(|| Rendered::new(self.pages, &self.api))
    }

    /// Returns the page at this path below `/` or `/mall/`, if any.
    pub(in crate::http) fn page(&self, path: &str, parts: &Parts) -> Option<Response> {
        if Some(path) == MANUAL.strip_suffix('/') {
            let to = [(LOCATION, "/mall/manual/")];
            return Some((StatusCode::PERMANENT_REDIRECT, to).into_response());
        }
        if path == KIOSK_WORKER && self.pages == PAGES {
            return Some(asset(path, &parts.headers, REVALIDATE));
        }
        let query = parts.uri.query().unwrap_or_default();
        let place = Place::of(self.pages, path, query)?;
        let mut response = if cfg!(compressed_pages) {
            self.made().page(&place, &self.api)?.answer(&parts.headers)
        } else {
            // Debug build: render anew, because the files may be edited.
            made(&place, &version(), &self.api)?.answer(&parts.headers)
        };
        if place == STOREFRONT && *self.sources != PageSources::default() && !is_kiosk(query) {
            allow(&mut response, &self.sources);
        }
        if let Place::Manual(_, language) = place {
            let headers = response.headers_mut();
            headers.insert(CONTENT_LANGUAGE, HeaderValue::from_static(language.tag()));
            headers.insert(VARY, BY_LANGUAGE);
        }
        Some(response)
    }

    /// Returns the asset at this path, if the path is below [`ASSETS`].
    pub(in crate::http) fn asset(&self, path: &str, headers: &HeaderMap) -> Option<Response> {
        let (version, name) = path.strip_prefix(ASSETS)?.split_once('/')?;
        // A page of another version, loaded before an update, gets the current file, which must not be cached
        // under the old version.
        let is_current = cfg!(compressed_pages) && version == self.made().version;
        Some(asset(name, headers, if is_current { IMMUTABLE } else { REVALIDATE }))
    }
}

impl Place {
    fn of(pages: Pages, path: &str, query: &str) -> Option<Self> {
        let Some(topic) = path.strip_prefix(MANUAL) else {
            return pages.iter().find(|page| page.0 == path).map(|(path, file)| Self::Own(path, file));
        };
        match topic {
            "search.zh.json" => return Some(Self::Search(Language::Zh)),
            "search.en.json" => return Some(Self::Search(Language::En)),
            _ => {}
        }
        let language = match query.split('&').find_map(|part| part.strip_prefix("lang=")) {
            Some("zh") => Language::Zh,
            Some("en") => Language::En,
            _ => Language::current(),
        };
        Some(Self::Manual(topic.to_owned(), language))
    }

    /// Returns every page of the manual.
    fn of_manual() -> impl Iterator<Item = Self> {
        [Language::Zh, Language::En].into_iter().flat_map(|language| {
            let topics = manual::topics(language).into_iter().map(|topic| topic.name);
            let pages = topics.chain([String::new()]).map(move |topic| Self::Manual(topic, language));
            pages.chain([Self::Search(language)])
        })
    }
}

impl Rendered {
    fn new(pages: Pages, api: &str) -> Self {
        let version = version();
        let own = pages.iter().map(|(path, file)| Place::Own(path, file));
        Self { pages: all(own, &version, api), manual: OnceLock::new(), version }
    }

    fn page(&self, place: &Place, api: &str) -> Option<&Page> {
        if let Place::Own(..) = place {
            return self.pages.get(place);
        }
        self.manual.get_or_init(|| all(Place::of_manual(), &self.version, api)).get(place)
    }
}

fn all(places: impl Iterator<Item = Place>, version: &str, api: &str) -> BTreeMap<Place, Page> {
    places.filter_map(|place| made(&place, version, api).map(|page| (place, page))).collect()
}

fn made(place: &Place, version: &str, api: &str) -> Option<Page> {
    match place {
        Place::Own(_, file) => Some(Page::html(&text(file)?, version, api, &[])),
        Place::Manual(topic, language) => {
            let chapter = manual::chapter(topic, *language)?;
            Some(Page::html(&text("manual.html")?, version, api, &chapter))
        }
        Place::Search(language) => {
            let entries = serde_json::to_string(&manual::entries(*language)).ok()?;
            Some(Page::new(JSON, entries, policy("")))
        }
    }
}

impl Page {
    /// Fills the placeholders of a source: the common placeholders, then `own` in order.
    fn html(source: &str, version: &str, api: &str, own: &[(&str, String)]) -> Self {
        let (source, style) = styled(source);
        let html =
            own.iter().fold(filled(&source, version, api), |html, (place, text)| html.replace(place, text));
        Self::new(HTML, html, policy(&style))
    }

    fn new(content_type: HeaderValue, text: String, policy: HeaderValue) -> Self {
        let etag = quoted(&hex(&Sha256::digest(&text)[..16]));
        Self { content_type, gzip: gzip(&text), etag, policy, text }
    }

    fn answer(&self, headers: &HeaderMap) -> Response {
        let kind = self.content_type.clone();
        let mut response = if is_known(headers.get_all(IF_NONE_MATCH), &self.etag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else if let Some(gzip) = self.gzip.as_ref().filter(|_| takes_gzip(headers)) {
            let encoding = HeaderValue::from_static(Encoding::Gzip.name());
            ([(CONTENT_TYPE, kind), (CONTENT_ENCODING, encoding)], gzip.clone()).into_response()
        } else {
            ([(CONTENT_TYPE, kind)], self.text.clone()).into_response()
        };
        let headers = response.headers_mut();
        headers.insert(ETAG, self.etag.clone());
        headers.insert(ACCEPT_RANGES, HeaderValue::from_static("none"));
        headers.insert(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
        add_shared_document(headers);
        headers.insert(CONTENT_SECURITY_POLICY, self.policy.clone());
        response
    }
}

fn asset(name: &str, headers: &HeaderMap, keep: HeaderValue) -> Response {
    let Some(plain) = Web::get(name) else { return ApiError::unknown_path().into_response() };
    let etag = quoted(&hex(&plain.metadata.sha256_hash()[..16]));
    let is_drawing = plain.metadata.mimetype() == "image/svg+xml";
    let mut response = if is_known(headers.get_all(IF_NONE_MATCH), &etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let kind = content_type(plain.metadata.mimetype());
        let mut response = match compressed(name, headers) {
            Some((encoding, file)) => {
                ([(CONTENT_ENCODING, HeaderValue::from_static(encoding.name()))], body(file)).into_response()
            }
            None => body(plain).into_response(),
        };
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    };
    let headers = response.headers_mut();
    headers.insert(ETAG, etag);
    headers.insert(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
    headers.insert(CACHE_CONTROL, keep);
    if is_drawing {
        headers.insert(CONTENT_SECURITY_POLICY, PICTURE_POLICY);
    }
    response
}

/// Returns the content security policy: resources of the mall itself, and the one inline style of the page.
/// `blob:` permits the preview of a picture before its upload.
fn policy(style: &str) -> HeaderValue {
    let hash = STANDARD.encode(Sha256::digest(style));
    let text = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-{hash}'; img-src 'self' data: blob:; \
         connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    );
    // The hash adds only characters valid in a header.
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

/// Adds sources to the content security policy of a page.
fn allow(response: &mut Response, sources: &PageSources) {
    let PageSources { script, style, img, connect, frame } = sources;
    let headers = response.headers_mut();
    let Some(Ok(policy)) = headers.get(CONTENT_SECURITY_POLICY).map(HeaderValue::to_str) else { return };
    let mut directives: Vec<String> = policy.split("; ").map(str::to_owned).collect();
    let added = [("script-src", script), ("style-src", style), ("img-src", img), ("connect-src", connect)];
    for directive in &mut directives {
        let name = directive.split(' ').next().unwrap_or_default();
        if let Some((_, more)) = added.iter().find(|(own, more)| *own == name && !more.is_empty()) {
            *directive = format!("{directive} {more}");
        }
    }
    if !frame.is_empty() {
        directives.push(format!("frame-src {frame}"));
    }
    // Sources have only characters valid in a header. Otherwise the stricter policy stays.
    if let Ok(policy) = HeaderValue::from_str(&directives.join("; ")) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
}

/// Returns whether the page runs as a kiosk, as `web/core/local-storage.js` decides.
fn is_kiosk(query: &str) -> bool {
    query.split('&').any(|part| part.split('=').next() == Some("kiosk"))
}

/// Inlines the stylesheets named by `{styles tokens base}`, and no other file: the page gets its look at
/// once, before its modules are loaded. Returns the page and the style.
fn styled(page: &str) -> (String, String) {
    let Some((before, rest)) = page.split_once("{styles ") else { return (page.to_owned(), String::new()) };
    let Some((names, after)) = rest.split_once('}') else { return (page.to_owned(), String::new()) };
    let style: String = names.split(' ').filter_map(|name| text(&format!("style/{name}.css"))).collect();
    (format!("{before}<style>{style}</style>{after}"), style)
}

fn body(file: EmbeddedFile) -> Body {
    match file.data {
        Cow::Borrowed(data) => Body::from(data),
        Cow::Owned(data) => Body::from(data),
    }
}

/// Returns the file in the best encoding accepted by the client, if embedded in compressed form;
/// `src/build.rs` defines the names.
fn compressed(name: &str, headers: &HeaderMap) -> Option<(Encoding, EmbeddedFile)> {
    accepted(headers).find_map(|encoding| {
        let ending = match encoding {
            Encoding::Brotli => "br",
            Encoding::Gzip => "gz",
        };
        Some((encoding, Web::get(&format!("{name}.{ending}"))?))
    })
}

fn content_type(mime: &str) -> HeaderValue {
    let text = if mime.starts_with("text/") { format!("{mime}; charset=utf-8") } else { mime.to_owned() };
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("application/octet-stream"))
}

/// Returns the version: a hash of the content of all files.
fn version() -> String {
    let mut names: Vec<_> = Web::iter().collect();
    names.sort();
    let mut all = Sha256::new();
    for file in names.iter().filter_map(|name| Web::get(name)) {
        all.update(file.metadata.sha256_hash());
    }
    hex(&all.finalize()[..8])
}

/// Fills `{assets}` with the URL of the assets, `{api}` with the API's prefix, and `{preload store/main.js}`
/// with preload links for that module and all its imports, so that the browser requests all modules at once.
fn filled(page: &str, version: &str, api: &str) -> String {
    let assets = format!("{ASSETS}{version}");
    let page =
        match page.split_once("{preload ").and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
            None => page.to_owned(),
            Some((before, (module, after))) => {
                let mut links = String::new();
                for module in with_imports(module) {
                    let _ = write!(links, "<link rel=\"modulepreload\" href=\"{assets}/{module}\">");
                }
                format!("{before}{links}{after}")
            }
        };
    page.replace("{assets}", &assets).replace("{api}", api)
}

/// Returns a module and its transitive imports, in order of discovery.
fn with_imports(module: &str) -> Vec<String> {
    let mut found = vec![module.to_owned()];
    let mut next = 0;
    while let Some(module) = found.get(next).cloned() {
        next += 1;
        let source = text(&module).unwrap_or_default();
        for import in imports(&source).filter_map(|import| joined(&module, import)) {
            if !found.contains(&import) {
                found.push(import);
            }
        }
    }
    found
}

/// Returns the paths after `from` in a module's import statements, which precede all other code.
fn imports(source: &str) -> impl Iterator<Item = &str> {
    let statement = |line: &&str| {
        line.starts_with("import ") || line.starts_with("export {") || line.starts_with("} from ")
    };
    source
        .lines()
        .filter(statement)
        .filter_map(|line| line.strip_suffix("\";")?.rsplit_once('"'))
        .map(|(_, path)| path)
}

/// Resolves an import relative to a module: `../core/dom.js` from `store/main.js`.
fn joined(module: &str, import: &str) -> Option<String> {
    let mut folders: Vec<_> = module.split('/').collect();
    folders.pop();
    for part in import.split('/') {
        match part {
            "." => {}
            ".." => drop(folders.pop()?),
            name => folders.push(name),
        }
    }
    Some(folders.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_what_its_modules_import() {
        let found = with_imports("store/main.js");
        for module in &found {
            assert!(Web::get(module).is_some(), "{module} is imported and not there");
        }
        for module in ["store/main.js", "core/dom.js", "core/api.js", "store/screens/home.js"] {
            assert!(found.iter().any(|found| found == module), "{module} is not in {found:?}");
        }
        let html = filled("<a>{preload store/main.js}<b>{assets} {api}", "7", "/mall/api");
        assert!(
            html.starts_with("<a><link rel=\"modulepreload\" href=\"/mall/assets/7/store/main.js\"><link")
        );
        assert!(html.ends_with("<b>/mall/assets/7 /mall/api"), "{html}");
    }

    #[test]
    fn a_policy_gets_sources_where_the_directive_is_and_nothing_else() {
        let page = Page::new(HTML, String::new(), policy("a{}"));
        let before = page.policy.to_str().unwrap().to_owned();
        let allowed = |sources: &PageSources| {
            let mut response = page.answer(&HeaderMap::new());
            allow(&mut response, sources);
            response.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned()
        };
        assert_eq!(allowed(&PageSources::default()), before);
        let all = "https://a.example https://*.b.example".to_owned();
        let frames = PageSources { script: all.clone(), frame: all, ..PageSources::default() };
        let script = "script-src 'self'";
        let want = before.replace(script, "script-src 'self' https://a.example https://*.b.example");
        assert_eq!(allowed(&frames), want + "; frame-src https://a.example https://*.b.example");
        let wrong = PageSources { script: "https://a.example\r\nx: y".to_owned(), ..PageSources::default() };
        assert_eq!(allowed(&wrong), before);
        assert!(is_kiosk("kiosk") && is_kiosk("a=1&kiosk=60") && !is_kiosk("kiosks") && !is_kiosk(""));
    }

    #[test]
    fn every_page_of_the_manual_is_kept_once_it_was_made() {
        let made = Rendered::new(PAGES, "/api");
        assert!(made.manual.get().is_none(), "nobody has requested the manual yet");
        for language in [Language::Zh, Language::En] {
            for topic in manual::topics(language).into_iter().map(|topic| topic.name).chain([String::new()]) {
                let page = made.page(&Place::Manual(topic.clone(), language), "/api");
                assert!(page.is_some_and(|page| page.text.contains("<article")), "{topic}");
            }
            let index = made.page(&Place::Search(language), "/api").map(|page| &page.text);
            assert!(index.is_some_and(|index| index.starts_with("[{\"topic\":")));
        }
        assert_eq!(made.manual.get().map(BTreeMap::len), Some(Place::of_manual().count()));
        assert!(made.page(&Place::Manual("index".to_owned(), Language::En), "/api").is_none());
    }

    #[test]
    fn imports_are_distinguished_from_text_that_looks_like_imports() {
        let source = "import { h } from \"../core/dom.js\";\nimport {\n  a,\n} from \"./a.js\";\nconst x = \"./b.js\";\n";
        assert_eq!(imports(source).collect::<Vec<_>>(), ["../core/dom.js", "./a.js"]);
        assert_eq!(joined("store/main.js", "../core/dom.js").as_deref(), Some("core/dom.js"));
        assert_eq!(joined("main.js", "../out.js"), None);
    }
}
