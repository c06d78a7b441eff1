//! The pictures in `web/diagrams/`: their names, states and transitions are those of the code.
//!
//! A name is an element with the class `name` and its kind:
//! `<tspan class="name method">Sales::claim</tspan>`.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDER: &str = "web/diagrams";
const PICTURES: [&str; 3] = ["back-ends", "claim", "order-states"];
/// Minimum size of text, in pixels at the natural width.
const FONT_MIN_PX: u32 = 12;
/// Maximum distance between the end of an arrow's line and its box: the length of a tip, rounded up.
const TIP_MAX: i64 = 10;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn picture(name: &str) -> String {
    read(&format!("{FOLDER}/{name}.svg"))
}

/// Returns the names of all pictures, in both languages: `claim`, `claim.zh`.
fn all_pictures() -> Vec<String> {
    PICTURES.iter().flat_map(|name| [(*name).to_owned(), format!("{name}.zh")]).collect()
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c| !is_word_char(c)).any(|found| found == word)
}

/// A file of the source, without comment lines and unit tests.
struct Source {
    path: String,
    code: String,
}

impl Source {
    /// Returns whether one of the keywords precedes the name: `struct Stock`.
    fn has(&self, keywords: &[&str], name: &str) -> bool {
        let starts = keywords.iter().map(|keyword| format!("{keyword} {name}"));
        starts.into_iter().any(|start| {
            self.code.match_indices(&start).any(|(at, _)| {
                let (before, after) = (&self.code[..at], &self.code[at + start.len()..]);
                !before.ends_with(is_word_char) && !after.starts_with(is_word_char)
            })
        })
    }

    /// Returns the variants of an enum, if the file defines it.
    fn variants(&self, name: &str) -> Option<BTreeSet<&str>> {
        let (_, body) = self.code.split_once(&format!("enum {name} {{\n"))?;
        let (body, _) = body.split_once("\n}")?;
        let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
        let names = lines.filter_map(|line| line.split(|c| !is_word_char(c)).next());
        Some(names.filter(|name| name.starts_with(char::is_uppercase)).collect())
    }

    /// Returns the names of the enums that the file defines.
    fn enums(&self) -> impl Iterator<Item = &str> {
        self.code.split("enum ").skip(1).filter_map(|rest| rest.split(|c| !is_word_char(c)).next())
    }
}

/// Returns the files below `src` and `storage/*/src` with one of the endings.
fn sources(endings: &[&str]) -> Vec<Source> {
    let storage = fs::read_dir(root().join("storage")).unwrap();
    let mut folders: Vec<PathBuf> = storage.map(|entry| entry.unwrap().path().join("src")).collect();
    folders.retain(|folder| folder.is_dir());
    folders.extend([root().join("src"), root().join("storage/src")]);
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| endings.iter().any(|ending| end == *ending)) {
                let text = fs::read_to_string(&path).unwrap();
                let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
                let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                let code = lines.collect::<Vec<_>>().join("\n");
                let path = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                found.push(Source { path, code });
            }
        }
    }
    assert!(found.len() > 50, "only {} files were found", found.len());
    found
}

/// Returns every tag of a picture with the text after it.
fn tags(svg: &str) -> Vec<(&str, &str)> {
    svg.split('<').skip(1).map(|part| part.split_once('>').unwrap()).collect()
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(&format!(" {name}=\""))?.1.split('"').next()
}

/// Returns the names of a picture with their kinds, in order.
fn names(svg: &str) -> Vec<(&str, &str)> {
    let marked = tags(svg).into_iter().filter_map(|(tag, text)| {
        let classes: Vec<_> = attribute(tag, "class")?.split(' ').collect();
        let at = classes.iter().position(|class| *class == "name")?;
        Some((*classes.get(at + 1).unwrap_or(&"without a kind"), text))
    });
    marked.collect()
}

/// Returns why a name is not one of the code, or `None` if it is.
fn missing(kind: &str, name: &str, rust: &[Source], other: &[Source]) -> Option<&'static str> {
    let in_production = |source: &&Source| source.path.starts_with("storage/production/src");
    let is_method = |source: &Source, method: &str| source.has(&["fn"], method);
    let (ok, expected) = match kind {
        "type" => (
            rust.iter().any(|source| source.has(&["struct", "enum", "trait"], name)),
            "no struct, enum or trait of the source has this name",
        ),
        "import" => (
            rust.iter().flat_map(|source| source.code.lines()).any(|line| {
                line.trim_start().starts_with("use ") && !line.contains("crate::") && has_word(line, name)
            }),
            "no file imports a type of this name",
        ),
        "port" => (
            rust.iter().any(|source| source.path.starts_with("storage/src") && source.has(&["trait"], name)),
            "no trait in storage/src has this name",
        ),
        "method" => (
            name.split_once("::").is_some_and(|(of, method)| {
                let owner = ["struct", "enum", "trait", "impl", "for"];
                rust.iter().any(|source| source.has(&owner, of) && is_method(source, method))
            }),
            "no file has the type or trait together with a function of this name",
        ),
        "variant" | "status" | "step" => {
            let (of, variant) = match (kind, name.split_once("::")) {
                ("status", _) => (Some("OrderStatus"), name),
                ("step", _) => (Some("Transition"), name),
                (_, Some((of, variant))) => (Some(of), variant),
                (_, None) => (None, name),
            };
            let has =
                |source: &Source, of: &str| source.variants(of).is_some_and(|all| all.contains(variant));
            let ok = rust.iter().any(|source| match of {
                Some(of) => has(source, of),
                None => source.enums().any(|of| has(source, of)),
            });
            (ok, "no enum, or not the enum named, has this variant")
        }
        "route" => (
            rust.iter().any(|source| {
                source.path.starts_with("src/http/api/") && source.code.contains(&format!("\"{name}\""))
            }),
            "no route in src/http/api",
        ),
        "redis" => (
            other.iter().any(|source| source.code.contains(&format!("redis.call('{name}'"))),
            "no script calls this command",
        ),
        "script" => (
            other.iter().any(|source| source.path.ends_with(&format!("/redis/lua/{name}"))),
            "no script has this name",
        ),
        "table" => (
            other.iter().any(|source| {
                let mut tables = source.code.split("CREATE TABLE ").skip(1);
                tables.any(|rest| rest.trim_start_matches("IF NOT EXISTS ").starts_with(&format!("{name} (")))
            }),
            "no migration creates this table",
        ),
        "crate" => (
            ["storage", "storage/embedded", "storage/production"].iter().any(|folder| {
                read(&format!("{folder}/Cargo.toml"))
                    .lines()
                    .any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '.'])))
            }),
            "no crate of the storage depends on it",
        ),
        "file" => (root().join(name).exists(), "no such file"),
        "setting" => (
            rust.iter().filter(in_production).any(|source| has_word(&source.code, name)),
            "storage/production/src does not name this setting",
        ),
        _ => (false, "unknown kind of name"),
    };
    (!ok).then_some(expected)
}

#[test]
fn names_in_the_pictures_are_names_of_the_code() {
    let (rust, other) = (sources(&["rs"]), sources(&["lua", "sql"]));
    let mut problems = Vec::new();
    for file in all_pictures() {
        let svg = picture(&file);
        let names = names(&svg);
        assert!(names.len() > 15, "{file}.svg: only {} names were found", names.len());
        for (kind, name) in names {
            if let Some(why) = missing(kind, name, &rust, &other) {
                problems.push(format!("{file}.svg: \"{name}\" ({kind}): {why}"));
            }
        }
    }
    assert!(problems.is_empty(), "mend the picture, or the name:\n{}", problems.join("\n"));
}

#[test]
fn names_that_do_not_exist_are_found() {
    let (rust, other) = (sources(&["rs"]), sources(&["lua", "sql"]));
    for (kind, name, wrong) in [
        ("type", "Stock", "Stok"),
        ("import", "RTree", "RTre"),
        ("port", "Sales", "Stock"),
        ("method", "Sales::claim", "Sales::clai"),
        ("variant", "ClaimOutcome::SoldOut", "ClaimOutcome::Written"),
        ("variant", "SoldOut", "SoldOu"),
        ("status", "Paid", "Captured"),
        ("step", "Pay", "Paid"),
        ("route", "/voucher-order/{id}/pay", "/voucher-order/{id}/pa"),
        ("redis", "XADD", "XADDS"),
        ("script", "claim.lua", "laim.lua"),
        ("table", "orders", "order"),
        ("crate", "sled", "sle"),
        ("file", "src/mall", "src/malls"),
        ("setting", "appendfsync", "appendfsyn"),
    ] {
        assert_eq!(missing(kind, name, &rust, &other), None, "{kind} {name}");
        assert!(missing(kind, wrong, &rust, &other).is_some(), "{kind} {wrong} was found");
    }
    assert!(missing("colour", "Stock", &rust, &other).is_some());
}

#[test]
fn the_picture_of_the_back_ends_has_every_port_once() {
    let bundles = read("storage/src/storage.rs");
    let ports = bundles.split("Arc<dyn ").skip(1).map(|rest| rest.split('>').next().unwrap());
    let mut ports: Vec<_> = ports.collect();
    ports.sort_unstable();
    assert!(ports.len() > 30, "only {} ports were found", ports.len());
    let svg = picture("back-ends");
    let mut drawn: Vec<_> = names(&svg).into_iter().filter(|(kind, _)| *kind == "port").collect();
    drawn.sort_unstable();
    let drawn: Vec<_> = drawn.into_iter().map(|(_, name)| name).collect();
    for port in drawn.iter().chain(&ports) {
        let count = |all: &[&str]| all.iter().filter(|other| *other == port).count();
        assert_eq!(
            (count(&drawn), count(&ports)),
            (1, 1),
            "{port}: in back-ends.svg, in storage/src/storage.rs"
        );
    }
}

/// A box of a state: left, top, right, bottom.
type Corners = [i64; 4];

/// Returns the states with their boxes, and whether a box is drawn as live.
fn states(svg: &str) -> Vec<(&str, Corners, bool)> {
    let groups = svg.split("<g class=\"state\">").skip(1).map(|rest| rest.split("</g>").next().unwrap());
    let state = |group| {
        let tags = tags(group);
        let rect = tags.iter().find(|(tag, _)| tag.starts_with("rect")).unwrap().0;
        let [x, y, width, height]: [i64; 4] =
            ["x", "y", "width", "height"].map(|name| attribute(rect, name).unwrap().parse().unwrap());
        let (_, name) = names(group).into_iter().find(|(kind, _)| *kind == "status").unwrap();
        (name, [x, y, x + width, y + height], attribute(rect, "class") == Some("core"))
    };
    groups.map(state).collect()
}

/// Returns the transitions of the code: status before, status after, and the cause.
fn transitions_of_the_code() -> BTreeSet<(String, String, String)> {
    let body = |path: &str, function: &str| {
        let text = read(path);
        let (_, body) = text.split_once(&format!("pub fn {function}(")).unwrap();
        body.split_once("\n    }\n").unwrap().0.to_owned()
    };
    let word = |text: &str| text.split(|c| !is_word_char(c)).next().unwrap().to_owned();
    let statuses = |text: &str| text.split("OrderStatus::").skip(1).map(word).collect::<Vec<_>>();
    let changes = body("storage/src/orders.rs", "change");
    let mut found = BTreeSet::new();
    for arm in changes.split("Self::").skip(1) {
        let [from, to] = statuses(arm).try_into().unwrap_or_else(|all| panic!("{arm}: {all:?}"));
        found.insert((from, to, word(arm)));
    }
    for first in statuses(&body("storage/src/payments.rs", "first_status")) {
        found.insert(("Pending".to_owned(), first, "persist".to_owned()));
    }
    found
}

#[test]
fn the_picture_of_the_states_has_the_states_and_transitions_of_the_code() {
    let rust = sources(&["rs"]);
    let variants = rust.iter().find_map(|source| source.variants("OrderStatus")).unwrap();
    let code = rust.iter().find(|source| source.path == "storage/src/order_status.rs").unwrap();
    let closed = code.code.split_once("fn is_live").unwrap().1.split_once('}').unwrap().0;
    let svg = picture("order-states");
    let states = states(&svg);
    let drawn: BTreeSet<_> = states.iter().map(|(name, ..)| *name).collect();
    assert_eq!(drawn, variants, "left: order-states.svg; right: OrderStatus");
    assert_eq!(drawn.len(), states.len(), "order-states.svg: a state is drawn twice");
    for (name, _, is_live) in &states {
        assert_ne!(*is_live, has_word(closed, name), "order-states.svg: {name} is drawn as live: {is_live}");
    }
    let arrows: Vec<_> =
        tags(&svg).into_iter().map(|(tag, _)| tag).filter(|tag| tag.contains("data-by=")).collect();
    let of = |arrow| ["data-from", "data-to", "data-by"].map(|name| attribute(arrow, name).unwrap());
    let drawn: BTreeSet<_> = arrows.iter().map(|arrow| of(arrow).map(str::to_owned).into()).collect();
    assert_eq!(
        drawn,
        transitions_of_the_code(),
        "left: order-states.svg; right: Transition::change, persist"
    );
    assert_eq!(drawn.len(), arrows.len(), "order-states.svg: a transition is drawn twice");

    // The lines lead from box to box.
    let corners = |name: &str| states.iter().find(|(state, ..)| *state == name).unwrap().1;
    for arrow in arrows {
        let [from, to, by] = of(arrow);
        let ends = line(attribute(arrow, "d").unwrap());
        for (state, end) in [(from, ends[0]), (to, ends[1])] {
            let [left, top, right, bottom] = corners(state);
            let (x, y) = end;
            let away = (left - x).max(x - right).max(top - y).max(y - bottom);
            assert!(
                (0..=TIP_MAX).contains(&away),
                "order-states.svg: {by} {from} → {to} misses {state}: {end:?}"
            );
        }
    }
}

/// Returns the first and the last point of a line of `M`, `H` and `V`.
fn line(path: &str) -> [(i64, i64); 2] {
    let number = |text: &str| text.parse::<i64>().unwrap_or_else(|_| panic!("{path}: {text}"));
    let mut points = Vec::new();
    for step in path.split(' ') {
        let (kind, rest) = step.split_at(1);
        let last = points.last().copied();
        points.push(match (kind, last) {
            ("M", None) => {
                let (x, y) = rest.split_once(',').unwrap();
                (number(x), number(y))
            }
            ("H", Some((_, y))) => (number(rest), y),
            ("V", Some((x, _))) => (x, number(rest)),
            _ => panic!("{path}: unexpected {step}"),
        });
    }
    [points[0], points[points.len() - 1]]
}

#[test]
fn pictures_are_readable_and_need_nothing_else() {
    let mut files: Vec<_> =
        fs::read_dir(root().join(FOLDER)).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let expected = all_pictures().into_iter().map(|name| root().join(FOLDER).join(name + ".svg"));
    assert_eq!(files, expected.collect::<Vec<_>>(), "list a new picture in PICTURES, with its translation");
    for file in all_pictures() {
        let svg = picture(&file);
        for word in ["<script", "href", "url(", "@import", "<image", "<foreignObject", "<!"] {
            assert!(!svg.contains(word), "{file}.svg contains {word}");
        }
        let mut attributes = tags(&svg).into_iter().flat_map(|(tag, _)| tag.split_whitespace());
        assert!(!attributes.any(|attribute| attribute.starts_with("on")), "{file}.svg handles events");
        assert_eq!(
            svg.matches("://").count(),
            1,
            "{file}.svg refers to something besides the name of its format"
        );
        for part in ["title", "desc"] {
            let text = tags(&svg).into_iter().find(|(tag, _)| *tag == format!("{part} id=\"{part}\""));
            assert!(text.is_some_and(|(_, text)| text.len() > 8), "{file}.svg has no {part}");
        }
        assert!(svg.contains("(prefers-color-scheme: dark)"), "{file}.svg has no dark colours");
        for size in svg.split("font-size: ").skip(1).map(|rest| rest.split("px").next().unwrap()) {
            assert!(size.parse::<u32>().unwrap() >= FONT_MIN_PX, "{file}.svg: text of {size} px");
        }
        let mut open = Vec::new();
        for (tag, _) in tags(&svg).into_iter().filter(|(tag, _)| !tag.ends_with('/')) {
            match tag.strip_prefix('/') {
                Some(end) => assert_eq!(open.pop(), Some(end), "{file}.svg: </{end}> closes another element"),
                None => open.push(tag.split(' ').next().unwrap()),
            }
        }
        assert!(open.is_empty(), "{file}.svg: {open:?} is not closed");
    }
}

#[test]
fn both_languages_are_one_drawing() {
    for name in PICTURES {
        let [en, zh] = [name.to_owned(), format!("{name}.zh")].map(|file| picture(&file));
        let drawing =
            |svg: &str| tags(svg).into_iter().skip(1).map(|(tag, _)| tag.to_owned()).collect::<Vec<_>>();
        for (place, (en, zh)) in drawing(&en).into_iter().zip(drawing(&zh)).enumerate() {
            assert_eq!(en, zh, "{name}.svg and {name}.zh.svg differ at element {place}");
        }
        assert_eq!(drawing(&en).len(), drawing(&zh).len(), "{name}: one language has more elements");
        for (en, zh) in names(&en).into_iter().zip(names(&zh)) {
            assert_eq!(en, zh, "{name}.svg and {name}.zh.svg differ in a name");
        }
        assert!(zh.contains("lang=\"zh-CN\"") && en.contains("lang=\"en\""), "{name}: lang");
    }
}

#[test]
fn documents_show_the_pictures() {
    for (page, shown) in [("README.md", &PICTURES[..2]), ("ARCHITECTURE.md", &PICTURES[..])] {
        let text = read(page);
        for name in shown {
            let link = format!("]({FOLDER}/{name}.svg)");
            let (before, _) =
                text.split_once(&link).unwrap_or_else(|| panic!("{page} does not show {name}.svg"));
            let alt = before.rsplit_once("![").map_or("", |(_, alt)| alt);
            assert!(
                alt.len() > 40 && !alt.contains("]("),
                "{page}: {name}.svg needs a text for screen readers"
            );
        }
        for path in text.split(&format!("({FOLDER}/")).skip(1).map(|rest| rest.split(')').next().unwrap()) {
            assert!(root().join(FOLDER).join(path).exists(), "{page} links to {path}, which is not there");
        }
    }
}
