//! Checks that every picture is drawn and is valid SVG.

use std::collections::HashSet;

use super::super::catalogue::{PEOPLE, PICTURES_PER_SHOP, note_images, shop_images};
use super::*;

/// Returns every path named in the catalogue, without the `/imgs` prefix.
fn named_paths() -> Vec<String> {
    let mut paths: Vec<String> = TYPES.iter().map(|t| t.icon.to_owned()).collect();
    for shop in SHOPS {
        paths.extend(shop_images(shop).split(',').map(|p| p["/imgs".len()..].to_owned()));
    }
    for (number, note) in (1..).zip(NOTES) {
        paths.extend(note_images(number, note).split(',').map(|p| p["/imgs".len()..].to_owned()));
    }
    paths.extend(PEOPLE.iter().map(|p| p.icon["/imgs".len()..].to_owned()));
    paths
}

fn every_picture() -> Vec<(String, String)> {
    let mut all: Vec<_> = named_paths()
        .into_iter()
        .map(|path| {
            let svg = picture(&path).unwrap_or_else(|| panic!("no picture for {path}"));
            (path, svg)
        })
        .collect();
    all.push(("placeholder".to_owned(), placeholder()));
    all
}

/// Walks the tags like an XML parser: each closed once, in order, attributes quoted.
fn is_well_formed(svg: &str) -> bool {
    let mut open = Vec::new();
    let mut rest = svg;
    let mut roots = 0;
    while let Some(start) = rest.find('<') {
        if !is_text(&rest[..start]) {
            return false;
        }
        let Some(end) = rest[start..].find('>') else {
            return false;
        };
        let tag = &rest[start + 1..start + end];
        rest = &rest[start + end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return false;
            }
            continue;
        }
        let (body, is_empty) = tag.strip_suffix('/').map_or((tag, false), |body| (body, true));
        let (name, attributes) = body.split_once(' ').unwrap_or((body, ""));
        if !has_sound_attributes(attributes) {
            return false;
        }
        roots += u32::from(open.is_empty());
        if !is_empty {
            open.push(name);
        }
    }
    open.is_empty() && roots == 1 && rest.is_empty()
}

fn has_sound_attributes(attributes: &str) -> bool {
    let mut seen = HashSet::new();
    let mut rest = attributes;
    while !rest.is_empty() {
        let Some((name, value)) = rest.split_once("=\"") else {
            return false;
        };
        let Some((value, tail)) = value.split_once('"') else {
            return false;
        };
        if !seen.insert(name.trim()) || !is_text(value) {
            return false;
        }
        rest = tail;
    }
    true
}

/// Returns whether text contains no loose `<` or `>`, and no `&` outside an entity.
fn is_text(text: &str) -> bool {
    !text.contains(['<', '>'])
        && text
            .split('&')
            .skip(1)
            .all(|t| t.split_once(';').is_some_and(|(e, _)| ["amp", "lt", "gt", "quot", "#39"].contains(&e)))
}

#[test]
fn the_checker_tells_sound_from_broken() {
    assert!(is_well_formed(r#"<svg a="1"><g><path d="M0 0"/></g>&amp;</svg>"#));
    for broken in [
        "<svg><g></svg></g>",
        "<svg><g></svg>",
        "<svg a=1/>",
        r#"<svg a="1" a="2"/>"#,
        "<svg>&</svg>",
        "<svg/><svg/>",
    ] {
        assert!(!is_well_formed(broken), "{broken}");
    }
}

#[test]
fn every_named_path_gives_a_sound_picture() {
    for (path, svg) in every_picture() {
        assert!(is_well_formed(&svg), "{path}: {svg}");
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "), "{path}");
        assert_eq!(svg.matches("http").count(), 1, "{path}");
        assert!(!svg.contains("<script") && !svg.contains("href"), "{path}");
        assert!(svg.len() <= 6 * 1024, "{path}: {} bytes", svg.len());
    }
}

#[test]
fn colours_and_lengths_are_ones_a_browser_takes() {
    for (path, svg) in every_picture() {
        for part in svg.split("fill=\"").skip(1).chain(svg.split("stroke=\"").skip(1)) {
            let colour = part.split('"').next().unwrap_or("");
            let is_hex = colour.strip_prefix('#').is_some_and(|hex| {
                [3, 4, 6, 8].contains(&hex.len()) && hex.bytes().all(|b| b.is_ascii_hexdigit())
            });
            assert!(is_hex || colour == "none", "{path}: {colour}");
        }
        for name in [" width=\"", " height=\"", " r=\"", " rx=\"", " ry=\""] {
            assert!(!svg.contains(&format!("{name}-")), "{path}: negative{name}");
        }
        assert!(!svg.contains("--"), "{path}: a doubled sign");
    }
}

#[test]
fn no_two_pictures_are_the_same_and_each_is_always_the_same() {
    let all = every_picture();
    let texts: HashSet<_> = all.iter().map(|(_, svg)| svg).collect();
    assert_eq!(texts.len(), all.len());
    for (path, svg) in all.iter().take(40) {
        assert_eq!(picture(path).as_ref(), Some(svg));
    }
}

#[test]
fn shop_fronts_carry_the_name() {
    for shop in SHOPS {
        let svg = picture(&format!("/shops/{}-1.svg", shop.id)).unwrap();
        assert!(svg.contains(&canvas::escape(shop.name)), "{}", shop.name);
    }
}

#[test]
fn other_paths_give_nothing() {
    let beyond = SHOPS.len() + 1;
    let paths = [
        "",
        "/",
        "/types/",
        "/types/food",
        "/types/food.png",
        "/types/none.svg",
        "types/food.svg",
        "/imgs/types/food.svg",
        "/shops/0-1.svg",
        "/shops/1-0.svg",
        "/shops/1-4.svg",
        "/shops/01-1.svg",
        "/shops/+1-1.svg",
        "/shops/1-+1.svg",
        "/shops/1.svg",
        "/shops/1-1",
        "/shops/1-1.svg/",
        "/shops/1-1-1.svg",
        "/shops/../icons/1.svg",
        "/shops/-1.svg",
        "/shops/99999999999999999999999-1.svg",
        "/notes/0-1.svg",
        "/notes/1-0.svg",
        "/notes/1-3.svg",
        "/notes/5-2.svg",
        "/notes/999-1.svg",
        "/notes/1.svg",
        "/icons/0.svg",
        "/icons/13.svg",
        "/icons/01.svg",
        "/icons/.svg",
        "/icons/x.svg",
        "/icons/1.svg?x",
        "/icons//1.svg",
        "/ICONS/1.svg",
    ];
    for path in paths {
        assert_eq!(picture(path), None, "{path}");
    }
    assert_eq!(picture(&format!("/shops/{beyond}-1.svg")), None);
    assert_eq!(PICTURES_PER_SHOP, 3);
}

#[test]
fn words_are_escaped() {
    let mut c = Canvas::new(1, 1);
    c.words(0, 0, 9, "#000", "</text><script>&\"'\u{1}");
    let svg = c.finish();
    assert!(svg.contains("&lt;/text&gt;&lt;script&gt;&amp;&quot;&#39; </text>"), "{svg}");
    assert!(is_well_formed(&svg));
}
