//! Properties of the request parsers that must hold for any bytes. The fuzzer searches for counterexamples.

use std::path::{Component, Path};

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue, Uri};
use jiff::tz::TimeZone;
use mallbox_storage::Phone;
use serde::Deserialize;

use super::pages::files::is_plain;
use super::request::extract::token;
use super::request::query_text::path_text;
use super::request::{body_text, query_text};
use super::response::bad_request::BadRequest;
use super::response::messages::RefusalBody;
use super::response::{messages, note_html};
use super::server::api_path::strip_prefix;
use super::server::request_id;
use crate::language::Language;
use crate::mall::base::{clean_text, wall_time};
use crate::mall::people::sms::Webhook;

/// Every kind of value accepted by a call of the API.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
struct Form {
    id: Option<u64>,
    current: Option<u32>,
    small: Option<u8>,
    stock: Option<i64>,
    x: Option<f64>,
    up: Option<bool>,
    name: Option<String>,
    text: String,
    flag: bool,
    sort_by: Option<Sort>,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
enum Sort {
    Comments,
    Score,
}

/// Checks the parsers of a request's path, query, headers and body.
///
/// # Panics
/// A property does not hold.
pub fn request_parsers(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    if kind % 8 == 0 {
        return body(bytes);
    }
    let text = String::from_utf8_lossy(bytes);
    match kind % 8 {
        1 => refused_in_words(query_text::read::<Form>(&text).map(drop)),
        2 => headers(bytes),
        3 => path_of_a_file(&text),
        4 => target(bytes),
        5 => times(&text),
        6 => words_of_people(&text),
        _ => {
            let _ = Webhook::new(&text);
        }
    }
}

fn body(bytes: &[u8]) {
    refused_in_words(body_text::read::<Form>(bytes).map(drop));
}

/// Checks that the message about a wrong value is short, for any input.
fn refused_in_words(read: Result<(), BadRequest>) {
    let Err(wrong) = read else { return };
    for language in [Language::Zh, Language::En] {
        let RefusalBody::Made { sentence, .. } = messages::of_wrong(&wrong, language) else { continue };
        let long = sentence.chars().count();
        assert!(long > 15 || !sentence.is_ascii(), "it says nothing: {sentence}");
        assert!(long <= 220, "{sentence}");
    }
}

fn headers(bytes: &[u8]) {
    let preferred = |list: &str| Language::preferred(list.split(','));
    let Ok(value) = HeaderValue::from_bytes(bytes) else { return };
    if let Ok(list) = value.to_str() {
        assert_eq!(preferred(list), preferred(&list.to_ascii_uppercase()), "{list}");
    }
    if request_id::is_sane(bytes) {
        assert!(bytes.len() <= 64 && bytes.iter().all(u8::is_ascii_graphic));
    }
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, value);
    if let Some(token) = token(&headers) {
        assert!(!token.is_empty() && token.trim() == token);
    }
}

/// Checks that a plain path stays inside the folder.
fn path_of_a_file(text: &str) {
    let path = path_text(text);
    if is_plain(&path) {
        let below = path.trim_start_matches('/');
        let mut parts = Path::new(below).components();
        assert!(parts.all(|part| matches!(part, Component::Normal(_))), "{path}");
    }
}

/// Checks that merging slashes and stripping the prefix leave a valid request target.
fn target(bytes: &[u8]) {
    let Ok(uri) = Uri::try_from(bytes) else { return };
    for prefix in ["", "/api"] {
        let (path, _) = strip_prefix(uri.path(), prefix);
        assert!(!path.contains("//"), "{uri}");
        assert!(path.len() <= uri.path().len());
        let target = uri.query().map_or_else(|| path.to_string(), |query| format!("{path}?{query}"));
        if path.len() != uri.path().len() {
            let again = Uri::try_from(target).expect("its parts were a valid target's");
            assert_eq!((again.path(), again.query()), (&*path, uri.query()));
        }
    }
}

fn times(text: &str) {
    if let Some(at) = wall_time::parse(text, &TimeZone::UTC) {
        let written = wall_time::text(at, &TimeZone::UTC);
        assert_eq!(written[..16], text[..16].replace(' ', "T"), "{text}");
        assert_eq!(wall_time::parse(&written, &TimeZone::UTC).map(|at| at.as_millis() / 1000), {
            Some((at.as_millis()).div_euclid(1000))
        });
    }
    if let Ok(shanghai) = TimeZone::get("Asia/Shanghai") {
        let _ = wall_time::parse(text, &shanghai);
    }
    if wall_time::is_day(text) {
        assert!(wall_time::parse(&format!("{text}T00:00"), &TimeZone::UTC).is_some(), "{text}");
    }
    if let Some(phone) = Phone::parse(text) {
        assert!(phone.as_str() == text && text.len() == 11);
    }
}

fn words_of_people(text: &str) {
    for clean in [clean_text::line, clean_text::lines] {
        let once = clean(text);
        assert!(once.len() <= text.len(), "{once}");
        assert_eq!(clean(&once), once, "cleaned twice");
    }
    assert!(!clean_text::line(text).contains(['\n', '\r', '\t', '\0']));
    let html = note_html::escaped(text);
    let bare = html.replace("<p>", "").replace("</p>", "").replace("<br/>", "");
    assert!(!bare.contains(['<', '>']), "{html}");
}

#[cfg(test)]
mod tests {
    use super::request_parsers;

    #[test]
    fn the_properties_hold_for_what_the_fuzzer_has_kept() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/corpus/request_parsers");
        let files: Vec<_> = std::fs::read_dir(corpus).unwrap().map(Result::unwrap).collect();
        assert!(!files.is_empty());
        for file in files {
            request_parsers(&std::fs::read(file.path()).unwrap());
        }
    }
}
