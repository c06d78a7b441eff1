//! Imports between the files of a crate: no circles, and areas in their order.
//!
//! A file depends on the file that defines a name, also where another file re-exports the name. Declarations
//! (`mod`), re-exports and unit tests are no dependencies.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates whose files form no circles: folder, and name of the crate.
const CRATES: [(&str, &str); 13] = [
    ("src", "mallbox"),
    ("storage/src", "mallbox_storage"),
    ("storage/embedded/src", "mallbox_storage_embedded"),
    ("storage/production/src", "mallbox_storage_production"),
    ("storage/contract/src", "mallbox_storage_contract"),
    ("storage/wal/src", "mallbox_storage_wal"),
    ("storage/integrity/src", "mallbox_storage_integrity"),
    ("benches/ladder/src", "mallbox_bench_ladder"),
    ("benches/ports/src", "mallbox_bench_ports"),
    ("benches/queues/src", "mallbox_bench_queues"),
    ("benches/reads/src", "mallbox_bench_reads"),
    ("benches/servers/src", "mallbox_bench_servers"),
    ("tests/write_recorder/src", "mallbox_test_write_recorder"),
];
/// Areas below a module, each of which uses only areas before itself.
const ORDERS: [(&[&str], &[&str]); 4] = [
    (
        &[],
        &[
            "language", "place", "mall", "backup", "demo", "import", "http", "bench", "config", "fixture",
            "cli",
        ],
    ),
    (&["mall"], &["base", "people", "selling", "catalogue", "writing", "privacy", "operator", "running"]),
    (
        &["http"],
        &[
            "response",
            "request",
            "describe",
            "server",
            "web_files",
            "manual",
            "pages",
            "api",
            "router",
            "control",
            "fuzzing",
        ],
    ),
    (&["http", "api"], &["people", "selling", "catalogue", "writing", "operator"]),
];

/// A path of a module or item, such as `mall::base::Clock`, from the root of the crate.
type Names = Vec<String>;

/// An import of a file: `use`, or a path in an expression.
struct Import {
    path: Names,
    /// Name in the file; `*` for all names.
    alias: String,
    is_reexport: bool,
}

struct File {
    path: PathBuf,
    imports: Vec<Import>,
    /// The code without imports, comments and unit tests.
    body: String,
}

/// The modules of a crate, by name.
struct Modules {
    name: &'static str,
    files: BTreeMap<Names, File>,
}

/// Dependencies between modules, with the names used.
type Dependencies = BTreeMap<Names, BTreeMap<Names, BTreeSet<String>>>;

/// Removes comments and unit tests.
fn code(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let lines: Vec<_> = lines.map(|line| line.split(" // ").next().unwrap_or_default()).collect();
    let tests = (0..lines.len()).find(|at| {
        let mut after = lines[*at + 1..].iter().skip_while(|line| line.starts_with("#["));
        let module = after.next().is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'));
        lines[*at] == "#[cfg(test)]" && module
    });
    lines[..tests.unwrap_or(lines.len())].join("\n")
}

/// Splits a list at its top-level commas.
fn parts(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn names(path: &str) -> Names {
    path.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Adds every name of a `use` declaration.
fn read_use(tree: &str, before: &[String], is_reexport: bool, imports: &mut Vec<Import>) {
    let tree = tree.trim();
    if let Some((start, list)) = tree.split_once('{') {
        let before = [before, &names(start)].concat();
        for part in parts(list.strip_suffix('}').unwrap()) {
            read_use(part, &before, is_reexport, imports);
        }
        return;
    }
    let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
    let mut path = [before, &names(path)].concat();
    path.pop_if(|last| last == "self");
    let alias = alias.map(str::trim).unwrap_or(path.last().unwrap()).to_owned();
    imports.push(Import { path, alias, is_reexport });
}

/// Separates the imports of a file from the remaining code.
fn read(path: PathBuf) -> File {
    let text = code(&fs::read_to_string(&path).unwrap());
    let (mut imports, mut body, mut rest) = (Vec::new(), String::new(), text.as_str());
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let declaration = line.trim_start();
        let visible = declaration.strip_prefix("pub").map(|rest| match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
            None => rest,
        });
        match visible.unwrap_or(declaration).trim_start().strip_prefix("use ") {
            Some(_) => {
                let (declaration, after) = rest.split_once(';').unwrap();
                let tree = declaration.split_once("use ").unwrap().1.replace('\n', " ");
                read_use(&tree, &[], visible.is_some(), &mut imports);
                rest = after;
            }
            None => {
                body.push_str(line);
                body.push('\n');
                rest = after;
            }
        }
    }
    File { path, imports, body }
}

/// Returns every path `a::b` in the code.
fn paths(body: &str) -> Vec<Names> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$';
    let words = body.split(|c| !is_name(c)).filter(|word| word.contains("::"));
    words.map(|word| word.trim_matches(':')).filter(|word| !word.contains('$')).map(names).collect()
}

fn has_word(body: &str, word: &str) -> bool {
    body.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

impl Modules {
    fn of(folder: &str, name: &'static str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let (mut files, mut folders) = (BTreeMap::new(), vec![root.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "rs") {
                    let module = path.strip_prefix(&root).unwrap().with_extension("");
                    let mut module = names(&module.to_str().unwrap().replace('/', "::"));
                    module.pop_if(|last| last == "mod" || last == "lib");
                    let is_code = !["main", "build"].contains(&module.first().map_or("", String::as_str));
                    if is_code && !module.iter().any(|name| name == "tests") {
                        files.insert(module, read(path));
                    }
                }
            }
        }
        Self { name, files }
    }

    /// Returns a path from the root of the crate; `None` for a path into another crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Names> {
        let first = path.first()?;
        let rest = &path[1..];
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let (mut module, mut rest) = (&module[..module.len().checked_sub(1)?], rest);
                while rest.first().is_some_and(|name| name == "super") {
                    (module, rest) = (&module[..module.len().checked_sub(1)?], &rest[1..]);
                }
                Some([module, rest].concat())
            }
            name if name == self.name => Some(rest.to_vec()),
            name => {
                let child = [module, &[name.to_owned()]].concat();
                if self.files.contains_key(&child) {
                    return Some([&child, rest].concat());
                }
                let mut imports = self.files.get(module)?.imports.iter();
                let import = imports.find(|import| import.alias == *name && import.path[0] != *name)?;
                Some([&self.absolute(module, &import.path)?, rest].concat())
            }
        }
    }

    /// Returns the module that defines a name, and the name; no name if the path is a module.
    fn definition(&self, path: &[String], depth: usize) -> (Names, Option<String>) {
        let length = (0..=path.len()).rev().find(|n| self.files.contains_key(&path[..*n])).unwrap_or(0);
        let (module, rest) = path.split_at(length);
        let Some(name) = rest.first() else { return (module.to_vec(), None) };
        let here = (module.to_vec(), Some(name.clone()));
        let Some(file) = self.files.get(module).filter(|_| depth < 9) else { return here };
        if let Some(import) = file.imports.iter().find(|import| import.alias == *name) {
            let to = self.absolute(module, &import.path).filter(|to| to != path);
            return to.map_or(here, |to| self.definition(&[&to, &rest[1..]].concat(), depth + 1));
        }
        for import in file.imports.iter().filter(|import| import.alias == "*" && import.is_reexport) {
            let Some(from) = self.absolute(module, &import.path[..import.path.len() - 1]) else { continue };
            let found = self.definition(&[&from, rest].concat(), depth + 1);
            if self.files.get(&found.0).is_some_and(|file| has_word(&file.body, name)) {
                return found;
            }
        }
        here
    }

    fn dependencies(&self) -> Dependencies {
        let mut all = Dependencies::new();
        for (module, file) in &self.files {
            let used = file.imports.iter().filter(|import| match import.is_reexport {
                true => import.alias != "*" && has_word(&file.body, &import.alias),
                false => true,
            });
            let used = used.map(|import| {
                let is_glob = import.path.last().is_some_and(|last| last == "*");
                let length = import.path.len() - usize::from(is_glob);
                (is_glob, import.path[..length].to_vec())
            });
            let in_code = paths(&file.body).into_iter().map(|path| (false, path));
            let to = all.entry(module.clone()).or_default();
            for (is_glob, path) in used.chain(in_code) {
                let Some(path) = self.absolute(module, &path) else { continue };
                let (defined_in, name) = self.definition(&path, 0);
                // An imported module is used by its paths in the code.
                if defined_in != *module && (name.is_some() || is_glob) {
                    to.entry(defined_in).or_default().insert(name.unwrap_or_else(|| "*".to_owned()));
                }
            }
        }
        all
    }
}

/// Returns the modules that each module reaches.
fn reached(dependencies: &Dependencies) -> BTreeMap<&Names, BTreeSet<&Names>> {
    let reach = |from| {
        let (mut found, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(module) = open.pop() {
            let next = dependencies.get(module).into_iter().flat_map(BTreeMap::keys);
            open.extend(next.filter(|module| found.insert(*module)));
        }
        found
    };
    dependencies.keys().map(|module| (module, reach(module))).collect()
}

/// Returns the dependencies that lie on circles, as lines.
fn circles(dependencies: &Dependencies, file_of: impl Fn(&Names) -> String) -> Vec<String> {
    let reached = reached(dependencies);
    let mut found = Vec::new();
    for (from, to) in dependencies {
        for (to, names) in to.iter().filter(|(to, _)| reached.get(to).is_some_and(|all| all.contains(from))) {
            found.push(format!("{} uses {names:?} of {}", file_of(from), file_of(to)));
        }
    }
    found
}

#[test]
fn files_form_no_circles() {
    for (folder, name) in CRATES {
        let modules = Modules::of(folder, name);
        let dependencies = modules.dependencies();
        let count: usize = dependencies.values().map(BTreeMap::len).sum();
        assert!(count > modules.files.len(), "only {count} dependencies were found in {folder}");
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let file_of = |module: &Names| {
            let path = modules.files.get(module).map_or(Path::new(""), |file| file.path.as_path());
            path.strip_prefix(root).unwrap_or(path).display().to_string()
        };
        assert_eq!(circles(&dependencies, file_of), [""; 0], "move the shared names to a file of their own");
    }
}

#[test]
fn areas_use_only_the_areas_before() {
    let dependencies = Modules::of("src", "mallbox").dependencies();
    for (above, order) in ORDERS {
        let area = |module: &Names| {
            let below =
                module.strip_prefix(&above.iter().map(|name| (*name).to_owned()).collect::<Names>()[..]);
            let area = below?.first()?;
            let place = order.iter().position(|name| name == area);
            Some(place.unwrap_or_else(|| panic!("{area} has no place in the order below {above:?}")))
        };
        let mut checked = 0;
        for (from, to) in &dependencies {
            for to in to.keys() {
                let (Some(user), Some(used)) = (area(from), area(to)) else { continue };
                checked += usize::from(user != used);
                let (from, to) = (from.join("::"), to.join("::"));
                assert!(used <= user, "{from} uses {to}: {} comes before {}", order[user], order[used]);
            }
        }
        assert!(checked > 0, "nothing was checked below {above:?}");
    }
}

#[test]
fn circles_are_found_behind_re_exports() {
    let file = |imports: &str, body: &str| {
        let mut read = Vec::new();
        for line in imports.lines().map(str::trim).filter(|line| !line.is_empty()) {
            read_use(line.trim_start_matches("pub "), &[], line.starts_with("pub "), &mut read);
        }
        File { path: PathBuf::new(), imports: read, body: body.to_owned() }
    };
    let modules = |lower: &str| {
        let files = [
            ("", file("", "")),
            ("upper", file("crate::shared::Clock", "struct Mall { clock: Clock }")),
            ("shared", file("pub lower::{Clock as Clock, other::*}", "")),
            ("shared::lower", file(lower, "struct Clock;")),
        ];
        let files = files.into_iter().map(|(module, file)| (names(module), file)).collect();
        Modules { name: "mallbox", files }
    };
    let found = |lower: &str| circles(&modules(lower).dependencies(), |module| module.join("::")).len();
    assert_eq!(found(""), 0);
    assert_eq!(found("crate::other::Clock"), 0);
    assert_eq!(found("super::super::upper::Mall"), 2);
}
