//! The policy of `.cargo/deny.toml`, checked without a network.

use std::collections::BTreeSet;

use serde_json::Value;

use super::expression::is_met;
use super::graph::{Graph, graph, read_toml, root};

fn policy() -> Value {
    read_toml(".cargo/deny.toml")
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

#[test]
fn every_crate_has_a_licence_that_is_allowed() {
    let policy = policy();
    let (graph, licences) = (graph(), &policy["licenses"]);
    let allowed = texts(&licences["allow"]);
    let exceptions = licences["exceptions"].as_array().unwrap();
    let mut excepted = BTreeSet::new();
    for package in graph.packages.values().filter(|package| package.source.is_some()) {
        if is_met(&package.license, &|name| allowed.contains(&name)) {
            continue;
        }
        let exception = exceptions.iter().find(|row| row["crate"].as_str() == Some(&package.name));
        let exception = exception.unwrap_or_else(|| panic!("{} is {}", package.name, package.license));
        let more = texts(&exception["allow"]);
        assert!(
            is_met(&package.license, &|name| allowed.contains(&name) || more.contains(&name)),
            "{} is {}",
            package.name,
            package.license
        );
        assert!(!graph.foreign_in_binary().contains(package), "{} is in the binary", package.name);
        excepted.insert(package.name.as_str());
    }
    assert_eq!(excepted.len(), exceptions.len(), "exceptions without a crate: {exceptions:?}");
    let in_use = |name: &&&str| graph.packages.values().any(|package| package.license.contains(**name));
    let unused: Vec<_> = allowed.iter().filter(|name| !in_use(name)).collect();
    assert!(unused.is_empty(), "{unused:?} are allowed, and no crate has them");
}

#[test]
fn every_crate_is_from_the_registry_and_has_a_checksum() {
    let policy = policy();
    let sources = &policy["sources"];
    for rule in ["unknown-registry", "unknown-git"] {
        assert_eq!(sources[rule].as_str(), Some("deny"));
    }
    let known: Vec<_> =
        texts(&sources["allow-registry"]).iter().map(|source| format!("registry+{source}")).collect();
    for package in graph().packages.values() {
        let Some(source) = &package.source else {
            assert!(package.folder.starts_with(root()), "{} is elsewhere", package.folder.display());
            continue;
        };
        assert!(known.contains(source), "{} is from {source}", package.name);
        assert!(package.checksum.as_ref().is_some_and(|sum| sum.len() == 64), "{}", package.name);
    }
}

/// Returns the crates of a lock file that depend on this one.
fn users(name: &str) -> Vec<String> {
    let lock = read_toml("Cargo.lock");
    let packages = lock["package"].as_array().unwrap();
    let uses = |package: &&Value| {
        let needed = package.get("dependencies").map_or_else(Vec::new, texts);
        needed.iter().any(|needed| needed.split(' ').next() == Some(name))
    };
    packages.iter().filter(uses).map(|package| package["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn no_banned_crate_is_in_the_lock_file() {
    let policy = policy();
    let banned = policy["bans"]["deny"].as_array().unwrap();
    // All platforms and features: the lock file has every crate.
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    for row in banned {
        let (name, reason) = (row["crate"].as_str().unwrap(), row["reason"].as_str().unwrap());
        assert!(reason.len() > 10, "{name} is banned without a reason");
        let wrappers = row.get("wrappers").map_or_else(Vec::new, texts);
        let users = users(name);
        assert!(
            users.iter().all(|user| wrappers.contains(&user.as_str())),
            "{name}, of {users:?}, is banned: {reason}"
        );
        let is_there = lock.contains(&format!("\nname = \"{name}\"\n"));
        assert!(is_there != users.is_empty() && is_there != wrappers.is_empty(), "{name}: stale exception");
    }
    assert!(lock.contains("\nname = \"sled\"\n"), "the lock file is read as it is written");
}

/// An exception for a crate that has been replaced would hide the next advisory.
#[test]
fn accepted_advisories_have_reasons_and_concern_crates_in_the_tree() {
    let policy = policy();
    for row in policy["advisories"]["ignore"].as_array().unwrap() {
        let (id, reason) = (row["id"].as_str().unwrap(), row["reason"].as_str().unwrap());
        let (named, why) = reason.split_once(": ").unwrap();
        let (name, version) = named.split_once(' ').unwrap();
        let is_it =
            |package: &&super::graph::Package| package.name == name && package.version.starts_with(version);
        assert!(id.starts_with("RUSTSEC-") && why.len() > 10, "{id}: {reason}");
        assert!(graph().packages.values().any(|package| is_it(&package)), "{id}: {named} is not in the tree");
    }
}

#[test]
fn the_binary_is_made_of_what_it_names() {
    let graph: &Graph = graph();
    let names: BTreeSet<_> = graph.foreign_in_binary().iter().map(|package| package.name.as_str()).collect();
    for (name, is_in) in [("sled", true), ("libsqlite3-sys", true), ("redis", true), ("criterion", false)] {
        assert_eq!(names.contains(name), is_in, "{name}");
    }
    assert!(!names.contains("serde_derive"), "macros run at build time");
}
