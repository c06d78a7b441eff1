//! The licence notices that `mallbox licenses` prints, compared with the crates in the binary.
//!
//! `MALLBOX_REWRITE_NOTICES=1 cargo test --test supply_chain` writes notices and bill anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::expression::is_met;
use super::graph::{Package, graph, root};

/// Beginnings of the names of licence files.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
const RULE: &str = "--------------------------------------------------------------------------------";

/// Compares a file below `src/cli/licenses/` with the text that it should have, or writes it.
pub fn compare(name: &str, text: &str) {
    let path = root().join("src/cli/licenses").join(name);
    if std::env::var_os("MALLBOX_REWRITE_NOTICES").is_some() {
        fs::write(&path, text).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let differs = stored.lines().zip(text.lines()).find(|(stored, text)| stored != text);
    assert!(
        stored == text,
        "{name} is stale; MALLBOX_REWRITE_NOTICES=1 writes it anew. The first difference: {differs:?}"
    );
}

/// Returns the licence files of a crate, sorted by name. Where MIT is enough, files of other licences are
/// left out: the choice is the user's.
fn files(package: &Package) -> Vec<String> {
    let mut files: Vec<(String, String)> = Vec::new();
    for entry in fs::read_dir(&package.folder).unwrap() {
        let (path, name) = entry.map(|e| (e.path(), e.file_name().to_string_lossy().to_uppercase())).unwrap();
        if path.is_file() && NAMES.iter().any(|start| name.starts_with(start)) {
            files.push((name, String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()));
        }
    }
    files.sort();
    if is_met(&package.license, &|name| name == "MIT") && files.iter().any(|(name, _)| name.contains("MIT")) {
        files.retain(|(name, _)| name.contains("MIT") || name.starts_with("NOTICE"));
    }
    files.into_iter().map(|(_, text)| tidied(&text)).collect()
}

/// Returns a text without differences that no reader sees: line ends, and space at the ends of lines.
fn tidied(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}').replace('\u{c}', "\n");
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// Returns what stands for a crate that ships no licence file.
fn without_file(package: &Package) -> String {
    let has = |licence: &str| is_met(&package.license, &|name| name == licence);
    if !has("MIT") && has("Apache-2.0") {
        // The licence asks for a copy of its text, and for no names.
        return tidied(&fs::read_to_string(root().join("LICENSE-APACHE")).unwrap());
    }
    let authors = match package.authors.join(", ") {
        none if none.is_empty() => format!("the authors of {}", package.name),
        authors => authors,
    };
    let own = fs::read_to_string(root().join("LICENSE-MIT")).unwrap();
    let terms = own.split_once("\n\n").and_then(|(_, rest)| rest.split_once("\n\n")).unwrap().1;
    assert!(terms.starts_with("Permission is hereby granted"), "{terms}");
    assert!(has("MIT"), "{} is {}", package.name, package.license);
    format!("Copyright (c) {authors}\n\n{}", tidied(terms))
}

fn notices() -> String {
    // Crates by the text of their licence.
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in graph().foreign_in_binary() {
        let texts = match files(package) {
            none if none.is_empty() => vec![without_file(package)],
            texts => texts,
        };
        let title = format!("{} {} ({})", package.name, package.version, package.license);
        for text in texts {
            by_text.entry(text).or_default().push(title.clone());
        }
    }
    let mut groups: Vec<(Vec<String>, String)> = by_text.into_iter().map(|(text, of)| (of, text)).collect();
    groups.sort();
    let mut notices = String::from(
        "mallbox is licensed under MIT OR Apache-2.0. It contains the crates below, and SQLite, which is in the\n\
         public domain. Each text belongs to the crates named above it.\n",
    );
    for (crates, text) in groups {
        notices += &format!("\n{RULE}\n{}\n{RULE}\n\n{text}\n", crates.join("\n"));
    }
    notices
}

#[test]
fn the_notices_are_those_of_the_crates_in_the_binary() {
    let notices = notices();
    compare("notices.txt", &notices);
    for package in graph().foreign_in_binary() {
        assert!(notices.contains(&format!("\n{} {} (", package.name, package.version)), "{}", package.name);
    }
    for part in ["Permission is hereby granted", "ring 0.17", "sled 0.34", "Apache License"] {
        assert!(notices.contains(part), "{part}");
    }
}

#[test]
fn the_command_prints_the_notices_and_the_bill() {
    let print = |flags: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_mallbox"));
        let output = command.arg("licenses").args(flags).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let stored = |name: &str| fs::read_to_string(Path::new("src/cli/licenses").join(name)).unwrap();
    let texts = ["notices.txt", "fonts.txt", "scripts.txt"].map(stored).concat();
    assert!(print(&[]) == texts, "other texts than the stored ones");
    let licence = fs::read_to_string("web/report/vendor/d3.LICENSE").unwrap();
    assert!(texts.contains(&licence), "the licence of the charts' library is missing");
    assert_eq!(print(&["--sbom"]), stored("sbom.cdx.json"));
}
