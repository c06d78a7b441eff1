//! The manual as pages of the mall: languages, links, and the search index.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::world::world;

#[test]
fn pages_of_the_manual_are_in_the_language_that_is_asked_for() {
    let w = world();
    let page = |path: &str, header: &str| w.request("GET", path, header, b"");
    for (path, header, language, title) in [
        ("/mall/manual/", "", "zh", "<title>mallbox手册 · mallbox</title>"),
        ("/mall/manual/", "accept-language: en-GB\r\n", "en", "<title>The mallbox manual · mallbox</title>"),
        ("/mall/manual/fixture", "accept-language: en\r\n", "en", "<h1 id=\"a-mall-for-tests\">"),
        ("/mall/manual/fixture", "accept-language: zh\r\n", "zh", "<h1 id=\"测试用的商城\">"),
        ("/mall/manual/fixture?lang=en", "accept-language: zh\r\n", "en", "<h1 id=\"a-mall-for-tests\">"),
        ("/mall/manual/fixture?lang=fr", "", "zh", "<h1 id=\"测试用的商城\">"),
        ("/manual/fixture", "", "zh", "<h1 id=\"测试用的商城\">"),
    ] {
        let response = page(path, header);
        assert_eq!(response.status, 200, "{path}");
        assert!(response.text.contains(title), "{path} {header}: {}", response.text);
        for line in [
            "content-type: text/html; charset=utf-8",
            &format!("content-language: {language}"),
            "vary: accept-encoding, accept-language",
            "cache-control: no-cache",
        ] {
            assert!(response.head.contains(line), "{path}: {line} is not in {}", response.head);
        }
        assert!(response.head.contains("content-security-policy: default-src 'none'; script-src 'self';"));
    }
    let moved = page("/mall/manual", "");
    assert_eq!(
        (moved.status, moved.head.contains("location: /mall/manual/\r\n")),
        (308, true),
        "{}",
        moved.head
    );
    for path in ["nothing", "index", "index.md", "fixture.zh", "fixture/", "../manual.html", "search.fr.json"]
    {
        assert_eq!(page(&format!("/mall/manual/{path}"), "").status, 404, "{path}");
    }
}

#[test]
fn every_link_between_pages_of_the_manual_leads_to_a_heading() {
    let w = world();
    for language in ["zh", "en"] {
        let pages = RefCell::new(BTreeMap::new());
        let page = |topic: &str| {
            let mut pages = pages.borrow_mut();
            let ask = || {
                let response = w.request("GET", &format!("/mall/manual/{topic}?lang={language}"), "", b"");
                assert_eq!(response.status, 200, "{topic}");
                response.text
            };
            pages.entry(topic.to_owned()).or_insert_with(ask).clone()
        };
        let index = page("");
        let topics: Vec<_> = links(&index)
            .filter(|link| link.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
            .collect();
        assert!(topics.len() >= 20, "{topics:?}");
        for topic in topics {
            let text = page(&topic);
            for link in links(&text).filter(|link| !link.starts_with(['/', '?']) && !link.starts_with("http"))
            {
                let (to, anchor) = link.split_once('#').unwrap_or((&link, ""));
                let there = if to.is_empty() { text.clone() } else { page(to.trim_start_matches("./")) };
                let anchor = percent_decoded(anchor);
                let is_there = anchor.is_empty() || there.contains(&format!("id=\"{anchor}\""));
                assert!(is_there, "{topic} links to {link}, and there is no such heading");
            }
        }
    }
}

fn links(html: &str) -> impl Iterator<Item = String> {
    html.split("<a ").skip(1).filter_map(|rest| {
        let (_, rest) = rest.split('>').next()?.split_once("href=\"")?;
        rest.split('"').next().map(str::to_owned)
    })
}

fn percent_decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn the_search_of_the_manual_has_every_section() {
    let w = world();
    for (language, heading, word) in [("zh", "持久性", "熔断器"), ("en", "Durability", "circuit breaker")]
    {
        let response = w.request("GET", &format!("/mall/manual/search.{language}.json"), "", b"");
        assert_eq!(response.status, 200);
        assert!(response.head.contains("content-type: application/json"), "{}", response.head);
        let entries = response.body.as_array().unwrap();
        let of = |field: &str, wanted: &str| {
            let found = entries.iter().find(|entry| entry[field].as_str().unwrap().contains(wanted));
            found.unwrap_or_else(|| panic!("no {field} has {wanted}"))
        };
        assert_eq!(of("heading", heading)["topic"], "redis-mysql");
        assert_eq!(of("text", word)["topic"], "redis-mysql");
        assert!(entries.len() > 60, "{}", entries.len());
    }
}
