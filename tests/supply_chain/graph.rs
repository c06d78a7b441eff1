//! The crates of the workspace, from `cargo metadata` and `Cargo.lock`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use toml::de::{DeTable, DeValue};

/// The platforms whose crates are looked at: a build for this machine, and the static ones.
const PLATFORMS: [&str; 2] = ["x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl"];

/// A crate, of this workspace or another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Package {
    pub name: String,
    pub version: String,
    /// The licence as an SPDX expression; `/` of old crates reads as `OR`.
    pub license: String,
    pub authors: Vec<String>,
    /// `None` for a crate of this workspace.
    pub source: Option<String>,
    /// SHA-256 of the package as downloaded.
    pub checksum: Option<String>,
    pub folder: PathBuf,
    pub is_macro: bool,
}

/// Crates by cargo's id, with the ids of their normal dependencies.
pub struct Graph {
    pub packages: BTreeMap<String, Package>,
    pub edges: BTreeMap<String, BTreeSet<String>>,
    root: String,
}

/// Returns the crates, read once per process.
pub fn graph() -> &'static Graph {
    static GRAPH: OnceLock<Graph> = OnceLock::new();
    GRAPH.get_or_init(read)
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read() -> Graph {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // Not `--offline`: a build for this machine does not fetch the crates of the static ones.
    command.args(["metadata", "--format-version=1", "--locked"]).current_dir(root());
    command.args(PLATFORMS.iter().flat_map(|platform| ["--filter-platform", platform]));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sums = checksums();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut packages = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        let kinds = package["targets"].as_array().unwrap().iter().flat_map(|t| t["kind"].as_array().unwrap());
        let checksum = sums.get(&(name.clone(), version.clone())).cloned();
        let authors = package["authors"].as_array().into_iter().flatten().map(&text).collect();
        let found = Package {
            name,
            version,
            license: text(&package["license"]).replace('/', " OR "),
            authors,
            source: package["source"].as_str().map(str::to_owned),
            checksum,
            folder: Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned(),
            is_macro: kinds.into_iter().any(|kind| kind == "proc-macro"),
        };
        packages.insert(text(&package["id"]), found);
    }
    let mut edges = BTreeMap::new();
    for node in metadata["resolve"]["nodes"].as_array().unwrap() {
        let is_normal =
            |edge: &&Value| edge["dep_kinds"].as_array().unwrap().iter().any(|k| k["kind"].is_null());
        let normal = node["deps"].as_array().unwrap().iter().filter(is_normal);
        edges.insert(text(&node["id"]), normal.map(|edge| text(&edge["pkg"])).collect());
    }
    let is_mall = |package: &Package| package.name == "mallbox" && package.source.is_none();
    let root = packages.iter().find(|(_, package)| is_mall(package)).unwrap().0.clone();
    Graph { packages, edges, root }
}

/// Reads a TOML file at the root: texts, lists and tables.
pub fn read_toml(name: &str) -> Value {
    fn value(of: &DeValue<'_>) -> Value {
        match of {
            DeValue::String(text) => text.as_ref().into(),
            DeValue::Array(items) => items.iter().map(|item| value(item.get_ref())).collect(),
            DeValue::Table(rows) => table(rows),
            _ => Value::Null,
        }
    }
    fn table(rows: &DeTable<'_>) -> Value {
        let rows = rows.iter().map(|(name, row)| (name.get_ref().to_string(), value(row.get_ref())));
        Value::Object(rows.collect())
    }
    let text = std::fs::read_to_string(root().join(name)).unwrap();
    table(DeTable::parse(&text).unwrap().get_ref())
}

/// Returns the checksums of `Cargo.lock`, by name and version.
fn checksums() -> BTreeMap<(String, String), String> {
    let lock = read_toml("Cargo.lock");
    let packages = lock["package"].as_array().unwrap();
    let row = |package: &Value| {
        let text = |name: &str| package[name].as_str().map(str::to_owned);
        Some(((text("name")?, text("version")?), text("checksum")?))
    };
    packages.iter().filter_map(row).collect()
}

impl Graph {
    /// Returns the ids of the crates linked into the binary with its default features, itself included.
    /// Macros, and what only macros use, run at build time.
    pub fn linked(&self) -> BTreeSet<&str> {
        let mut linked = BTreeSet::new();
        let mut rest = vec![self.root.as_str()];
        while let Some(id) = rest.pop() {
            if !self.packages[id].is_macro && linked.insert(id) {
                rest.extend(self.edges[id].iter().map(String::as_str));
            }
        }
        linked
    }

    /// Returns other people's crates in the binary, by name and version.
    pub fn foreign_in_binary(&self) -> BTreeSet<&Package> {
        self.linked().into_iter().map(|id| &self.packages[id]).filter(|p| p.source.is_some()).collect()
    }
}
