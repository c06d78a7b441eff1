//! `bench report`: one page from the results of benches. It opens from the disk and needs no network.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::new_file::write_new;
use crate::http::web_file;

/// The template, with the places of the styles, the modules and the results.
const TEMPLATE: &str = "report/page.html";
const STYLES: [&str; 4] = ["style/tokens.css", "style/base.css", "style/parts.css", "report/report.css"];
/// The module that draws the page.
const START: &str = "report/main.js";

/// Reads results and writes the page to a new file.
///
/// # Errors
/// A file that is no result; a page that exists or cannot be written.
pub fn run(results: &[PathBuf], page: &Path) -> anyhow::Result<bool> {
    let results = results.iter().map(|file| read(file)).collect::<anyhow::Result<Vec<_>>>()?;
    let html = html(&Value::from(results))?;
    write_new(page, "", &html)?;
    println!("{} opens in any browser, also without a network.", page.display());
    Ok(true)
}

/// Reads the result of a bench.
pub(super) fn read(file: &Path) -> anyhow::Result<Value> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
    let result: Value = serde_json::from_str(&text).with_context(|| format!("{shown} is not JSON"))?;
    if result["schema"].as_u64().is_none() || result["kind"].as_str().is_none() {
        bail!("{shown} is not a result of a bench: pass files written with --json");
    }
    Ok(result)
}

/// Returns the page with an array of results.
fn html(results: &Value) -> anyhow::Result<String> {
    let styles = STYLES.iter().map(|name| part(name)).collect::<anyhow::Result<Vec<_>>>()?.join("\n");
    let imports = serde_json::json!({ "imports": modules()? }).to_string();
    // Within a script, a less-than sign could end the script.
    let results = results.to_string().replace('<', "\\u003c");
    let template = part(TEMPLATE)?;
    let (before, rest) = cut(&template, "{styles}")?;
    let (between, rest) = cut(rest, "{imports}")?;
    let (further, after) = cut(rest, "{results}")?;
    Ok([before, &styles, between, &imports, further, &results, after].concat())
}

fn cut<'a>(text: &'a str, place: &str) -> anyhow::Result<(&'a str, &'a str)> {
    text.split_once(place).with_context(|| format!("{TEMPLATE} has no {place}"))
}

fn part(name: &str) -> anyhow::Result<String> {
    web_file(name).with_context(|| format!("{name} is missing in this program"))
}

/// Returns every module that the page needs, as an import map: `mallbox/` and the path below `web/`, and the
/// module as a `data:` URL. Modules in such a URL cannot import by relative paths.
fn modules() -> anyhow::Result<BTreeMap<String, String>> {
    let mut modules = BTreeMap::new();
    let mut left = VecDeque::from([START.to_owned()]);
    while let Some(name) = left.pop_front() {
        let bare = format!("mallbox/{name}");
        if modules.contains_key(&bare) {
            continue;
        }
        let source = part(&name)?;
        let mut text = String::with_capacity(source.len());
        for line in source.split_inclusive('\n') {
            match import(line) {
                None => text.push_str(line),
                Some((before, path, after)) => {
                    let target = resolved(&name, path);
                    text += &format!("{before}mallbox/{target}{after}");
                    left.push_back(target);
                }
            }
        }
        let encoded = BASE64_STANDARD.encode(text);
        modules.insert(bare, format!("data:text/javascript;charset=utf-8;base64,{encoded}"));
    }
    Ok(modules)
}

/// Returns the relative path that a line imports, with what stands before and after it.
fn import(line: &str) -> Option<(&str, &str, &str)> {
    let is_import = ["import ", "export ", "} from "].iter().any(|word| line.starts_with(word));
    let end = line.trim_end().strip_suffix("\";").filter(|_| is_import)?.len();
    let start = line[..end].rfind('"')? + 1;
    let path = &line[start..end];
    path.starts_with('.').then_some((&line[..start], path, &line[end..]))
}

/// Returns the path below `web/` of a relative path in a file.
fn resolved(file: &str, path: &str) -> String {
    let mut steps: Vec<&str> = file.split('/').collect();
    steps.pop();
    for step in path.split('/') {
        match step {
            "." => {}
            ".." => drop(steps.pop()),
            name => steps.push(name),
        }
    }
    steps.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found() {
        for (line, want) in [
            ("import { a } from \"./b.js\";\n", Some(("import { a } from \"", "./b.js", "\";\n"))),
            ("} from \"../c/d.js\";", Some(("} from \"", "../c/d.js", "\";"))),
            ("export * from \"./e.js\";\n", Some(("export * from \"", "./e.js", "\";\n"))),
            (" * @param {import(\"./f.js\").F} f", None),
            ("import \"mallbox/g.js\";\n", None),
            ("const text = \"./h.js\";\n", None),
        ] {
            assert_eq!(import(line), want, "{line}");
        }
        assert_eq!(resolved("report/chart/axes.js", "../../core/dom.js"), "core/dom.js");
        assert_eq!(resolved("report/main.js", "./words.js"), "report/words.js");
    }

    #[test]
    fn the_page_has_every_module_and_no_script_can_slip_in() {
        let modules = modules().unwrap();
        assert!(
            modules.contains_key("mallbox/report/main.js") && modules.contains_key("mallbox/core/dom.js")
        );
        for (name, url) in &modules {
            let source = BASE64_STANDARD.decode(url.rsplit(',').next().unwrap()).unwrap();
            let source = String::from_utf8(source).unwrap();
            let words = ["from \"", "from '", "import \"", "import '", "import(\"", "import('"];
            let is_relative = |line: &&str| words.iter().any(|word| line.contains(&format!("{word}.")));
            let code = source.lines().filter(|line| !line.trim_start().starts_with(['*', '/']));
            let left: Vec<_> = code.filter(is_relative).collect();
            assert_eq!(left, [""; 0], "{name} imports by a relative path");
        }
        let evil = serde_json::json!([{ "kind": "</script><script>alert(1)</script>{styles}" }]);
        let html = html(&evil).unwrap();
        assert!(!html.contains("<script>alert") && html.contains("\\u003c/script>"), "{html:.200}");
        assert!(html.contains("{styles}") && !html.contains("{results}"));
    }
}
