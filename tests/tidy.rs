//! What can be kept true of the documents and of the layout by a test.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

use std::fs;
use std::path::{Path, PathBuf};

/// A file that says more than this says it about more than one subject.
const LONGEST_FILE: usize = 500;
/// What lies at the top, beside hidden files. A new entry is a decision.
const TOP: [&str; 13] = [
    "ARCHITECTURE.md",
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

/// Texts between back quotes, code blocks aside.
fn quoted(markdown: &str) -> Vec<String> {
    let prose = markdown.split("```").step_by(2).collect::<String>();
    prose.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn paths_in_the_documents_are_there() {
    for document in ["README.md", "ARCHITECTURE.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let paths: Vec<_> = quoted(&text)
            .into_iter()
            .filter(|quoted| FOLDERS.iter().any(|folder| quoted.starts_with(&format!("{folder}/"))))
            .collect();
        assert!(!paths.is_empty(), "{document} names no path");
        for path in paths {
            let there = match path.split_once('*') {
                Some((before, _)) => Path::new(before).parent().unwrap().to_owned(),
                None => PathBuf::from(&path),
            };
            assert!(root().join(there).exists(), "{document} names {path}, which is not there");
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
