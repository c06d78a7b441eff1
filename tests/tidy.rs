//! What can be kept true of the documents and of the layout by a test.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A file that says more than this says it about more than one subject.
const LONGEST_FILE: usize = 500;
/// What lies at the top, beside hidden files. A new entry is a decision.
const TOP: [&str; 15] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "benches",
    "deny.toml",
    "src",
    "storage",
    "target",
    "tests",
    "web",
];
const FOLDERS: [&str; 5] = ["src", "storage", "tests", "benches", "web"];
/// Words in README.md; the manual has room for more.
const README_MAX_WORDS: usize = 1_600;
/// Words in ARCHITECTURE.md; decision records and the modules' comments have room for more.
const ARCHITECTURE_MAX_WORDS: usize = 3_000;
/// Folders of decision records.
const DECISIONS: [&str; 2] = ["storage/decisions", "src/decisions"];
/// Columns of prose; a Chinese character takes two.
const PROSE_MAX_COLUMNS: usize = 110;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below a folder, with its text.
fn rust_files(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "nothing was looked at in {folder}");
    found
}

/// Lines of code below a folder that hold one of these words, comments aside.
fn lines_with(folder: &str, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in rust_files(folder) {
        for (number, line) in text.lines().enumerate() {
            let code = line.trim_start();
            if !code.starts_with("//") && words.iter().any(|word| code.contains(word)) {
                found.push(format!("{}:{}: {code}", path.display(), number + 1));
            }
        }
    }
    found
}

/// Reads a document by path from the root.
fn document(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Pages of the manual in one language, without the ending of the file name: `commands`.
fn topics(ending: &str) -> BTreeSet<String> {
    let files = fs::read_dir(root().join("web/manual")).unwrap();
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned));
    names.filter(|name| !name.contains('.')).collect()
}

/// Decision records by path from the root, in the order of their numbers.
fn decisions(folder: &str) -> Vec<String> {
    let files = fs::read_dir(root().join(folder)).unwrap();
    let mut names: Vec<_> = files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names.iter().map(|name| format!("{folder}/{name}")).collect()
}

/// Every document for readers: those at the top, decision records, and the pages of the manual.
fn pages() -> Vec<String> {
    let top = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"];
    let mut pages = Vec::from(top.map(str::to_owned));
    pages.extend(DECISIONS.iter().flat_map(|folder| decisions(folder)));
    for ending in [".md", ".zh.md"] {
        pages.extend(topics(ending).iter().map(|topic| format!("web/manual/{topic}{ending}")));
    }
    pages
}

/// A document without code blocks.
fn prose(markdown: &str) -> String {
    markdown.split("```").step_by(2).collect()
}

/// Texts between back quotes, code blocks aside.
fn quoted(markdown: &str) -> Vec<String> {
    prose(markdown).split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Headings with their levels.
fn headings(markdown: &str) -> Vec<(usize, String)> {
    let prose = prose(markdown);
    let heading = |line: &str| {
        line.split_once("# ")
            .filter(|(marks, _)| marks.bytes().all(|mark| mark == b'#'))
            .map(|(marks, text)| (marks.len() + 1, text.to_owned()))
    };
    prose.lines().filter_map(heading).collect()
}

/// The anchor that forges give a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect()
}

/// Columns on a terminal: from the CJK radicals on, a character takes two.
fn columns(line: &str) -> usize {
    line.chars().map(|c| if c >= '\u{2e80}' { 2 } else { 1 }).sum()
}

#[test]
fn paths_in_the_documents_are_there() {
    let mut paths = 0;
    for page in pages() {
        for path in quoted(&document(&page)) {
            if !FOLDERS.iter().any(|folder| path.starts_with(&format!("{folder}/"))) {
                continue;
            }
            paths += 1;
            let there = match path.split_once('*') {
                Some((before, _)) => Path::new(before).parent().unwrap().to_owned(),
                None => PathBuf::from(&path),
            };
            assert!(root().join(there).exists(), "{page} names {path}, which is not there");
        }
    }
    assert!(paths > 100, "only {paths} paths were found");
}

#[test]
fn links_in_the_documents_lead_somewhere() {
    let mut links = 0;
    for page in pages() {
        let text = document(&page);
        for target in prose(&text).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.starts_with("http") {
                continue;
            }
            links += 1;
            let (file, place) = target.split_once('#').unwrap_or((target, ""));
            let path = root().join(&page).parent().unwrap().join(file);
            let path = if file.is_empty() { root().join(&page) } else { path };
            let there = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {target}: {error}"));
            let is_there = headings(&there).iter().any(|(_, heading)| anchor(heading) == place);
            assert!(place.is_empty() || is_there, "{page} links to {target}, and there is no such heading");
        }
    }
    assert!(links > 30, "only {links} links were found");
}

#[test]
fn readme_and_architecture_are_short() {
    for (page, max, elsewhere) in [
        ("README.md", README_MAX_WORDS, "the manual"),
        ("ARCHITECTURE.md", ARCHITECTURE_MAX_WORDS, "a decision record or a module's comment"),
    ] {
        let words = document(page).split_whitespace().count();
        assert!(words <= max, "{page} has {words} words: move some into {elsewhere}");
    }
}

#[test]
fn decision_records_are_numbered_and_have_four_headings() {
    for folder in DECISIONS {
        for (number, record) in (1..).zip(decisions(folder)) {
            let start = format!("{folder}/{number:04}-");
            assert!(record.starts_with(&start) && record.ends_with(".md"), "{record}: expected {start}…");
            let text = document(&record);
            assert!(text.starts_with(&format!("# {number:04}: ")), "{record}: the title lacks the number");
            let headings = headings(&text).into_iter().filter(|(level, _)| *level == 2);
            let names: Vec<_> = headings.map(|(_, name)| name).collect();
            assert_eq!(names, ["Problem", "Choice", "Figures", "Price"], "{record}");
        }
    }
}

#[test]
fn prose_of_the_documents_fits_its_columns() {
    for page in pages() {
        let text = document(&page);
        for line in prose(&text).lines().filter(|line| !line.starts_with('|')) {
            assert!(columns(line) <= PROSE_MAX_COLUMNS, "{page}: {} columns: {line}", columns(line));
        }
    }
}

#[test]
fn every_page_of_the_manual_is_there_in_both_languages() {
    let topics = [topics(".md"), topics(".zh.md")];
    assert_eq!(topics[0], topics[1], "a page of the manual lacks its translation");
    for topic in &topics[0] {
        let [en, zh] = [".md", ".zh.md"].map(|ending| document(&format!("web/manual/{topic}{ending}")));
        let levels = |page: &str| headings(page).into_iter().map(|(level, _)| level).collect::<Vec<_>>();
        assert_eq!(levels(&en), levels(&zh), "{topic}: headings");
        for (what, mark) in [("code blocks", "```"), ("rows of tables", "\n|"), ("items of lists", "\n- ")] {
            assert_eq!(en.matches(mark).count(), zh.matches(mark).count(), "{topic}: {what}");
        }
        for (index, ending) in [("web/manual/index.md", ".md"), ("web/manual/index.zh.md", ".zh.md")] {
            let link = format!("]({topic}{ending})");
            assert!(topic == "index" || document(index).contains(&link), "{index} does not list {topic}");
        }
    }
}

#[test]
fn nothing_lies_at_the_top_that_was_not_decided_on() {
    for entry in fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name.starts_with('.') || TOP.contains(&name.as_str()), "{name} is new at the top");
    }
}

#[test]
fn arrows_point_one_way() {
    for (folder, words) in [
        ("src", &["rusqlite", "sled::"][..]),
        ("src/mall", &["axum", "crate::http", "crate::cli", "crate::config", "crate::fixture"]),
        // So no mall has a fixture's controls but the one that a fixture puts them before.
        ("src/http", &["crate::cli", "crate::config", "crate::bench", "crate::fixture"]),
        ("src/fixture", &["crate::cli", "crate::config"]),
        ("src/demo", &["crate::http", "crate::cli", "axum"]),
        ("storage/src", &["axum", "hyper::", "SystemTime::now"]),
    ] {
        assert_eq!(lines_with(folder, words), [""; 0], "{folder} names what it must not know");
    }
}

#[test]
fn the_api_has_no_route_without_a_description() {
    // Routes of the API are added through `Calls`; the control socket is no API.
    let own = ["src/http/describe/calls.rs", "src/http/control.rs", "src/http/control/people.rs"];
    for method in [".route(", ".route_service(", ".nest(", ".nest_service("] {
        let mut lines = lines_with("src/http", &[method]);
        lines.retain(|line| !own.iter().any(|file| line.contains(file)));
        assert_eq!(lines, [""; 0], "add it through `Calls`, with what it does");
    }
}

#[test]
fn files_have_one_subject() {
    for folder in ["src", "storage/src", "storage/tests", "tests", "benches"] {
        for (path, text) in rust_files(folder) {
            let lines = text.lines().count();
            assert!(lines <= LONGEST_FILE, "{} has {lines} lines: split it", path.display());
            assert!(text.starts_with("//!"), "{} does not say what it is about", path.display());
        }
    }
}

#[test]
fn tests_are_sentences() {
    for folder in ["src", "storage/src", "storage/tests"] {
        // Written apart, or this file would find itself.
        assert_eq!(lines_with(folder, &[concat!("fn te", "st_")]), [""; 0]);
    }
}
