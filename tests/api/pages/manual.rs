//! The manual's table of endpoints, generated from the OpenAPI description.
//!
//! An outdated table fails the test. `MALLBOX_REWRITE_MANUAL=1 cargo test --test api manual` writes a new
//! one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::Value;

use super::world::world;

/// Delimiters of the generated part.
const BEGIN: &str = "<!-- calls -->\n";
const END: &str = "<!-- end of calls -->\n";

/// Differences between the two language editions.
struct Edition {
    file: &'static str,
    summary: &'static str,
    description: &'static str,
    area: &'static str,
    head: &'static str,
    stop: &'static str,
    operator: &'static str,
    gateway: &'static str,
    staff: &'static str,
    user: &'static str,
    nobody: &'static str,
}

const EDITIONS: [Edition; 2] = [
    Edition {
        file: "api.md",
        summary: "summary",
        description: "description",
        area: "name",
        head: "| call | effect | for |",
        stop: ". ",
        operator: "operators",
        gateway: "claim gateways",
        staff: "staff, operators",
        user: "users",
        nobody: "everybody",
    },
    Edition {
        file: "api.zh.md",
        summary: "x-summary-zh",
        description: "x-description-zh",
        area: "x-name-zh",
        head: "| 接口 | 作用 | 谁可以用 |",
        stop: "。",
        operator: "管理员",
        gateway: "抢购网关",
        staff: "店员、管理员",
        user: "登录用户",
        nobody: "任何人",
    },
];

#[test]
fn the_manual_has_the_calls_of_the_description() {
    let document = world().call("GET", "/openapi.json", "", "").body;
    for edition in EDITIONS {
        let path = file(edition.file);
        let page = fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once(BEGIN).expect(BEGIN);
        let (_, after) = rest.split_once(END).expect(END);
        let fresh = format!("{before}{BEGIN}{}{END}{after}", table(&document, &edition));
        if env::var_os("MALLBOX_REWRITE_MANUAL").is_some() {
            fs::write(&path, &fresh).unwrap();
        }
        let stale = page.lines().zip(fresh.lines()).find(|(page, fresh)| page != fresh);
        let is_fresh = fs::read_to_string(&path).unwrap() == fresh;
        assert!(is_fresh, "{} is stale: {stale:?}; run with MALLBOX_REWRITE_MANUAL=1", path.display());
    }
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("web/manual").join(name)
}

/// Formats a heading and a table per tag, in the order of the description.
fn table(document: &Value, edition: &Edition) -> String {
    let mut text = String::from("\n");
    for area in document["tags"].as_array().unwrap() {
        write!(text, "### {}\n\n{}\n| --- | --- | --- |\n", text_of(area, edition.area), edition.head)
            .unwrap();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                if operation["tags"][0] == area["name"] {
                    writeln!(text, "{}", row(document, (method, path), operation, edition)).unwrap();
                }
            }
        }
        text += "\n";
    }
    text
}

fn row(document: &Value, (method, path): (&str, &str), operation: &Value, edition: &Edition) -> String {
    let mut effect = text_of(operation, edition.summary).to_owned();
    if let Some(more) = operation[edition.description].as_str() {
        effect = effect + edition.stop + more;
    }
    let ways = operation["security"].as_array().unwrap();
    let access = match (&operation["x-role"], ways.first()) {
        (Value::String(role), _) if role == "gateway" => edition.gateway,
        (Value::String(role), _) if role == "staff" => edition.staff,
        (Value::String(_), _) => edition.operator,
        // An empty security requirement comes first: the token is optional.
        (_, Some(way)) if way["token"].is_array() => edition.user,
        _ => edition.nobody,
    };
    let query = query(operation);
    let body = body(document, operation).map(|body| format!(" `{body}`")).unwrap_or_default();
    format!("| `{} {path}{query}`{body} | {effect} | {access} |", method.to_uppercase())
}

/// Formats the names of the query parameters as `?x=&y=`.
fn query(operation: &Value) -> String {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let names: Vec<_> = parameters
        .filter(|parameter| parameter["in"] == "query")
        .map(|parameter| format!("{}=", text_of(parameter, "name")))
        .collect();
    if names.is_empty() { String::new() } else { format!("?{}", names.join("&")) }
}

/// Formats the fields of the body as `{kind, id, reason?}`.
fn body(document: &Value, operation: &Value) -> Option<String> {
    let content = operation["requestBody"]["content"].as_object()?;
    let mut schema = &content.values().next()?["schema"];
    if let Some(name) = schema["$ref"].as_str() {
        schema = document.pointer(name.trim_start_matches('#'))?;
    }
    let required = schema["required"].as_array();
    let names = schema["properties"].as_object()?.keys().map(|name| {
        let is_required = required.is_some_and(|names| names.iter().any(|required| required == name));
        format!("{name}{}", if is_required { "" } else { "?" })
    });
    Some(format!("{{{}}}", names.collect::<Vec<_>>().join(", ")))
}

fn text_of<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{value} has no {name}"))
}
