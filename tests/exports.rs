//! `mallbox bench export`: what it writes, in the hands of k6's types, Node and JMeter.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/process.rs"]
mod process;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mallbox_test_foreign_mall::{Fault, ForeignMall, Options};
use serde_json::Value;
use tempfile::TempDir;

/// A dialect with every kind of rule, and texts that have to be escaped.
const DIALECT: &str = r#"
[claim]
path = "/voucher-order/seckill/{sale}?a=1&b=%3C"
headers = { authorization = "{token}", content-type = "application/json", x = "a\\b ${c}" }
body = '{"who":"<\"&$>","sale":{sale}}'

[answers]
sold-out = [{ contains = "库存不足" }]
already-bought = [{ at = "/errorMsg", contains = "重复" }]
accepted = [{ status = 200, at = "/success", is = true }]

[log-in]
ask = { path = "/user/code?phone={phone}" }
code = { at = "/data/code" }
submit = { path = "/user/login", headers = { content-type = "application/json" }, body = '{"phone":"{phone}","code":"{code}"}' }
token = "/data"
"#;

/// A mall of 5 units, and the files of a load of 12 users, two claims each.
struct Export {
    mall: ForeignMall,
    dir: TempDir,
}

impl Export {
    fn new(arguments: &[&str]) -> Self {
        let mall = ForeignMall::start(&Options { units: 5, fault: Fault::None, ..Options::default() });
        let dir = TempDir::new().unwrap();
        let export = Self { mall, dir };
        let dialect = export.dir.path().join("dialect.toml");
        fs::write(&dialect, DIALECT).unwrap();
        let (files, url) = (export.files(), export.mall.url());
        let common = ["bench", "export", path(&files), "--target", &url, "--dialect", path(&dialect)];
        let load = ["--users", "12", "--claims-per-user", "2", "--voucher", "7", "--connections", "4"];
        let made = process::mallbox(&[&common[..], &load, arguments].concat()).output().unwrap();
        let text = String::from_utf8(made.stdout).unwrap();
        assert!(text.contains("24 claims"), "{text}{}", String::from_utf8_lossy(&made.stderr));
        export
    }

    fn files(&self) -> PathBuf {
        self.dir.path().join("files")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.files().join(name)).unwrap()
    }

    /// Checks that 24 claims were answered as a mall of 5 units answers: sold out once the units are gone.
    fn check(&self, answers: &BTreeMap<String, u64>) {
        let of = |name: &str| answers.get(name).copied().unwrap_or(0);
        assert_eq!(of("accepted"), 5, "{answers:?}");
        assert_eq!(of("sold_out") + of("already_bought"), 19, "{answers:?}");
        assert!(of("already_bought") > 0 && of("sold_out") > 0, "{answers:?}");
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the output of a command that succeeds.
fn output(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let [text, wrong] = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(status.success(), "{text}{wrong}");
    text
}

#[test]
fn files_are_for_their_owner_and_never_written_over() {
    use std::os::unix::fs::PermissionsExt as _;

    let export = Export::new(&[]);
    for entry in fs::read_dir(export.files()).unwrap() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let rows = export.read("claims.csv");
    let lines: Vec<&str> = rows.lines().collect();
    assert_eq!((lines.len(), lines[0]), (25, "token,sale"));
    assert!(lines[1].ends_with(",7") && lines[1] == lines[2] && lines[2] != lines[3], "{rows}");
    let again = process::mallbox(&[
        "bench",
        "export",
        path(&export.files()),
        "--target",
        &export.mall.url(),
        "--voucher",
        "7",
    ]);
    let refused = { again }.output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("cannot create"));
}

#[test]
#[cfg_attr(
    not(feature = "typescript-tests"),
    ignore = "needs tsc and the types of k6, which tests/run installs where Node and npm are"
)]
fn the_script_for_k6_has_the_types_of_k6() {
    let export = Export::new(&[]);
    let types = std::env::var("K6_TYPES").expect("K6_TYPES names the folder of the types");
    let config = format!(
        r#"{{ "compilerOptions": {{ "allowJs": true, "checkJs": true, "noEmit": true, "strict": true, "noImplicitAny": false, "target": "ES2022", "module": "ESNext",
        "moduleResolution": "bundler", "types": ["k6"], "typeRoots": ["{types}"], "paths": {{ "k6/*": ["{types}/k6/*"] }} }},
        "files": ["claims.k6.js"] }}"#
    );
    fs::write(export.files().join("tsconfig.json"), config).unwrap();
    let tsc = std::env::var("TSC").expect("TSC names the program");
    output(Command::new("node").args([&tsc, "--pretty", "false", "-p"]).arg(export.files()));
    // The check can fail: a misspelt option is found.
    let script = export.read("claims.k6.js");
    fs::write(export.files().join("claims.k6.js"), script.replace("summaryTrendStats", "summaryTrends"))
        .unwrap();
    let wrong =
        Command::new("node").args([&tsc, "--pretty", "false", "-p"]).arg(export.files()).output().unwrap();
    assert!(String::from_utf8_lossy(&wrong.stdout).contains("summaryTrends"));
}

/// Runs the script for k6 in Node. Returns the counters, and the stages of an open loop.
fn in_node(export: &Export) -> (BTreeMap<String, u64>, Value) {
    let modules = export.files().join("node_modules/k6");
    fs::create_dir_all(&modules).unwrap();
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exports/k6");
    for entry in fs::read_dir(own).unwrap() {
        let file = entry.unwrap().path();
        fs::copy(&file, modules.join(file.file_name().unwrap())).unwrap();
    }
    fs::rename(export.files().join("claims.k6.js"), export.files().join("claims.k6.mjs")).unwrap();
    let script = export.files().join("claims.k6.mjs");
    fs::rename(modules.join("run.js"), export.files().join("run.mjs")).unwrap();
    let printed = output(Command::new("node").current_dir(export.files()).args(["run.mjs", path(&script)]));
    let printed: Value = serde_json::from_str(&printed).unwrap();
    (serde_json::from_value(printed["counted"].clone()).unwrap(), printed["stages"].clone())
}

#[test]
#[cfg_attr(not(feature = "node-tests"), ignore = "needs Node 18")]
fn the_script_for_k6_tells_answers_apart() {
    let export = Export::new(&[]);
    let (counted, _) = in_node(&export);
    assert_eq!(counted["claims"], 24);
    export.check(&counted);
    let (_, stages) = in_node(&Export::new(&["--shape", "2.5x2s,2..10x3s"]));
    let stage = |ms: &str, target: u64| serde_json::json!({ "duration": ms, "target": target });
    let want = [
        stage("0ms", 2_500),
        stage("2000ms", 2_500),
        stage("0ms", 2_000),
        stage("3000ms", 10_000),
        stage("0ms", 100_000),
        stage("1s", 100_000),
    ];
    assert_eq!(stages, Value::from(want.to_vec()));
}

/// Runs the plan for JMeter, and counts the samples by their labels.
fn in_jmeter(export: &Export) -> BTreeMap<String, u64> {
    let jmeter = std::env::var("JMETER").expect("JMETER names the folder of the program");
    let mut command = Command::new("java");
    command.current_dir(export.files()).args(["-Xmx512m", "-Djava.awt.headless=true"]);
    command.args(["-Djava.util.prefs.userRoot=.", "-jar", &format!("{jmeter}/bin/ApacheJMeter.jar"), "-n"]);
    command.args(["-Jjmeterengine.force.system.exit=true", "-t", "claims.jmx", "-l", "answers.jtl"]);
    let said = output(&mut command);
    let samples = fs::read_to_string(export.files().join("answers.jtl")).unwrap();
    let mut lines = samples.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|field| *field == name).unwrap();
    let (label, success) = (column("label"), column("success"));
    let mut answers = BTreeMap::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields[success] == "true", fields[label] == "accepted", "{line}");
        *answers.entry(fields[label].to_owned()).or_default() += 1;
    }
    assert_eq!(answers.values().sum::<u64>(), 24, "{answers:?}\n{said}");
    answers
}

#[test]
#[cfg_attr(
    not(feature = "jmeter-tests"),
    ignore = "needs JMeter, which tests/run installs where Java and mvn are"
)]
fn the_plan_for_jmeter_makes_each_claim_once() {
    let closed = Export::new(&[]);
    closed.check(&in_jmeter(&closed));
    let open = Export::new(&["--shape", "4x2s,2..10x2s"]);
    open.check(&in_jmeter(&open));
}
