//! Checks of the documents and of the repository layout.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum lines of a file: a longer file covers more than one subject.
const FILE_MAX_LINES: usize = 500;
/// Entries at the top level, besides hidden files. A new entry is a decision.
const TOP: [&str; 15] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "benches",
    "src",
    "storage",
    "target",
    "tests",
    "web",
];
const FOLDERS: [&str; 5] = ["src", "storage", "tests", "benches", "web"];
/// Maximum words in README.md; the manual has space for more.
const README_MAX_WORDS: usize = 1_600;
/// Maximum words in ARCHITECTURE.md; decision records and the modules' comments have space for more.
const ARCHITECTURE_MAX_WORDS: usize = 3_000;
/// Folders of decision records.
const DECISIONS: [&str; 2] = ["storage/decisions", "src/decisions"];
/// Maximum columns of prose; a Chinese character takes two.
const PROSE_MAX_COLUMNS: usize = 110;
/// Words that this code base once had for things with a name of the field, and that name.
const BANNED: [(&str, &str); 8] = [
    ("limbo", "in doubt"),
    ("errand", "outbox entry"),
    ("errands", "outbox entries"),
    ("burial", "dead letter"),
    ("caretaker", "worker heartbeat"),
    ("lingers", "batching delay"),
    ("whomever", "the user, the caller"),
    ("deed", "audited action"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every Rust file below a folder, with its text.
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

/// Returns the lines of code below a folder that contain one of the words, comments excluded.
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

/// Returns the manual's pages in one language, without the ending of the file name: `commands`.
fn topics(ending: &str) -> BTreeSet<String> {
    let files = fs::read_dir(root().join("web/manual")).unwrap();
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned));
    names.filter(|name| !name.contains('.')).collect()
}

/// Returns decision records by path from the root, in the order of their numbers.
fn decisions(folder: &str) -> Vec<String> {
    let files = fs::read_dir(root().join(folder)).unwrap();
    let mut names: Vec<_> = files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names.iter().map(|name| format!("{folder}/{name}")).collect()
}

/// Returns every document for readers: those at the top level, decision records, and the manual's pages.
fn pages() -> Vec<String> {
    let top = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];
    let mut pages = Vec::from(top.map(str::to_owned));
    pages.extend(DECISIONS.iter().flat_map(|folder| decisions(folder)));
    for ending in [".md", ".zh.md"] {
        pages.extend(topics(ending).iter().map(|topic| format!("web/manual/{topic}{ending}")));
    }
    pages
}

/// Returns a document without code blocks.
fn prose(markdown: &str) -> String {
    markdown.split("```").step_by(2).collect()
}

/// Returns the texts between back quotes, code blocks excluded.
fn quoted(markdown: &str) -> Vec<String> {
    prose(markdown).split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns headings with their levels.
fn headings(markdown: &str) -> Vec<(usize, String)> {
    let prose = prose(markdown);
    let heading = |line: &str| {
        line.split_once("# ")
            .filter(|(marks, _)| marks.bytes().all(|mark| mark == b'#'))
            .map(|(marks, text)| (marks.len() + 1, text.to_owned()))
    };
    prose.lines().filter_map(heading).collect()
}

/// Returns a heading's anchor as generated by forges.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect()
}

/// Returns the columns on a terminal: from the CJK radicals on, a character takes two.
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
fn decision_records_named_in_the_code_exist() {
    let mut named = 0;
    for (path, text) in ["src", "storage", "tests", "benches"].into_iter().flat_map(rust_files) {
        for line in text.lines().filter(|line| line.trim_start().starts_with("//")) {
            let quoted = line.split('`').skip(1).step_by(2);
            for record in quoted.filter(|text| DECISIONS.iter().any(|folder| text.starts_with(folder))) {
                named += 1;
                let path = path.display();
                assert!(root().join(record).exists(), "{path} names {record}, which does not exist");
            }
        }
    }
    assert!(named > 50, "only {named} references to decision records were found");
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
        // Only a fixture adds the fixture's controls to a mall.
        ("src/http", &["crate::cli", "crate::config", "crate::bench", "crate::fixture"]),
        ("src/fixture", &["crate::cli", "crate::config"]),
        ("src/demo", &["crate::http", "crate::cli", "axum"]),
        ("storage", &["axum", "hyper::", "SystemTime::now"]),
        ("storage/src", &["rusqlite", "sled::", "redis::", "mysql_async"]),
        ("storage/embedded/src", &["redis::", "mysql_async", "mallbox_storage_production"]),
        ("storage/production/src", &["rusqlite", "sled::", "mallbox_storage_embedded"]),
    ] {
        assert_eq!(lines_with(folder, words), [""; 0], "{folder} names what it must not know");
    }
}

#[test]
fn the_api_has_no_route_without_a_description() {
    // Routes of the API are added through `Calls`; the control socket is not part of the API.
    let own = ["src/http/describe/calls.rs", "src/http/control.rs", "src/http/control/"];
    for method in [".route(", ".route_service(", ".nest(", ".nest_service("] {
        let mut lines = lines_with("src/http", &[method]);
        lines.retain(|line| !own.iter().any(|file| line.contains(file)));
        assert_eq!(lines, [""; 0], "add it through `Calls`, with what it does");
    }
}

#[test]
fn files_have_one_subject() {
    for folder in ["src", "storage", "tests", "benches"] {
        for (path, text) in rust_files(folder) {
            let lines = text.lines().count();
            assert!(lines <= FILE_MAX_LINES, "{} has {lines} lines: split it", path.display());
            assert!(text.starts_with("//!"), "{} does not say what it is about", path.display());
        }
    }
}

#[test]
fn tests_are_sentences() {
    for folder in ["src", "storage"] {
        // Split, or this file would match itself.
        assert_eq!(lines_with(folder, &[concat!("fn te", "st_")]), [""; 0]);
    }
}

#[test]
fn comments_fit_their_columns_and_use_the_words_of_the_field() {
    for folder in ["src", "storage", "tests", "benches"] {
        for (path, text) in rust_files(folder) {
            let comments = text.lines().filter(|line| line.trim_start().starts_with("//"));
            for line in comments {
                let place = path.display();
                assert!(columns(line) <= PROSE_MAX_COLUMNS, "{place}: {} columns: {line}", columns(line));
                let doc = line.trim_start().trim_start_matches(['/', '!']).trim_start();
                for (word, better) in BANNED {
                    let is_there = doc.to_lowercase().split(|c: char| !c.is_alphabetic()).any(|w| w == word);
                    assert!(!is_there, "{place}: \"{word}\"; write {better}: {line}");
                }
            }
        }
    }
}
