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
        let (header, body) = self.mall.last_claim();
        assert_eq!(header, r"a\b ${c}");
        assert_eq!(body, r#"{"who":"<\"&$>","sale":7}"#);
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
    assert!(String::from_utf8_lossy(&refused.stderr).contains("exists; pass a new file"));
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

/// Status and body of answers, and what each is by the rules of the dialect: each generator agrees.
const ANSWERS: [(u16, &str, &str); 14] = [
    (200, r#"{"success":true,"data":7}"#, "accepted"),
    (200, "{ \"success\" : true }", "accepted"),
    (200, r#"{"success":true,"errorMsg":"库存不足！"}"#, "sold_out"),
    (409, r#"{"errorMsg":"库存不足"}"#, "sold_out"),
    (200, r#"{"success":true,"errorMsg":"\u91cd\u590d"}"#, "already_bought"),
    (200, r#"{"success":false,"errorMsg":["重复"]}"#, "refused"),
    (200, r#"{"success":"true"}"#, "refused"),
    (200, r#"{"success":true} surplus"#, "refused"),
    (200, r#"{"success":true,}"#, "refused"),
    (200, r#"[true]"#, "refused"),
    (200, "success", "refused"),
    (201, r#"{"success":true}"#, "refused"),
    (401, r#"{"success":true}"#, "rejected"),
    (503, "", "rejected"),
];

/// Serves the answers of the table in order, a connection each, to the end of the process. Returns the URL.
fn serve_answers() -> String {
    use std::io::{Read as _, Write as _};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut left = ANSWERS.iter();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            // A connection that only looks whether somebody is there sends nothing.
            while !String::from_utf8_lossy(&request).contains("\r\n\r\n") {
                match stream.read(&mut buffer).unwrap() {
                    0 => break,
                    count => request.extend_from_slice(&buffer[..count]),
                }
            }
            if request.is_empty() {
                continue;
            }
            let (status, body, _) = left.next().expect("no claim beyond the table");
            let length = body.len();
            let head =
                format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
            stream.write_all((head + body).as_bytes()).unwrap();
        }
    });
    url
}

/// Exports a claim for each answer of the table.
fn table_files(dir: &Path, url: &str) -> PathBuf {
    let (dialect, tokens, files) = (dir.join("dialect.toml"), dir.join("tokens"), dir.join("files"));
    fs::write(&dialect, DIALECT.replace(r#"body = '{"who":"<\"&$>","sale":{sale}}'"#, "")).unwrap();
    let all: Vec<String> = (0..ANSWERS.len()).map(|number| format!("t{number}")).collect();
    fs::write(&tokens, all.join("\n")).unwrap();
    let target = ["bench", "export", path(&files), "--target", url, "--dialect", path(&dialect)];
    let load = ["--voucher", "7", "--tokens", path(&tokens), "--connections", "1"];
    output(&mut process::mallbox(&[&target[..], &load].concat()));
    files
}

#[test]
#[cfg_attr(not(feature = "node-tests"), ignore = "needs Node 18")]
fn every_answer_is_named_alike_by_the_script_for_k6() {
    let url = serve_answers();
    let dir = TempDir::new().unwrap();
    let printed = run_in_node(&table_files(dir.path(), &url));
    let want: Vec<&str> = ANSWERS.iter().map(|(.., name)| *name).collect();
    assert_eq!(printed["named"], Value::from(want));
}

#[test]
#[cfg_attr(
    not(feature = "jmeter-tests"),
    ignore = "needs JMeter, which tests/run installs where Java and mvn are"
)]
fn every_answer_is_named_alike_by_the_plan_for_jmeter() {
    let url = serve_answers();
    let dir = TempDir::new().unwrap();
    let labels = run_jmeter(&table_files(dir.path(), &url));
    let want: Vec<&str> = ANSWERS.iter().map(|(.., name)| *name).collect();
    assert_eq!(labels, want);
}

#[test]
fn every_answer_is_named_alike_by_the_own_generator() {
    let url = serve_answers();
    let dir = TempDir::new().unwrap();
    // The same dialect and tokens.
    table_files(dir.path(), &url);
    let (dialect, tokens) = (dir.path().join("dialect.toml"), dir.path().join("tokens"));
    let target = ["bench", "load", "--target", &url, "--dialect", path(&dialect)];
    let load = ["--voucher", "7", "--tokens", path(&tokens), "--connections", "1"];
    let made = process::mallbox(&[&target[..], &load].concat()).output().unwrap();
    let text = String::from_utf8([made.stdout, made.stderr].concat()).unwrap();
    let line =
        "2 accepted, 2 sold out, 1 already bought, 7 refused for other reasons, 2 rejected by the server";
    assert!(text.contains(line), "{text}");
}

/// Runs the script for k6 in Node. Returns the counters, and the stages of an open loop.
fn in_node(export: &Export) -> (BTreeMap<String, u64>, Value) {
    let printed = run_in_node(&export.files());
    (serde_json::from_value(printed["counted"].clone()).unwrap(), printed["stages"].clone())
}

/// Returns what `run.js` prints about the script in a folder.
fn run_in_node(files: &Path) -> Value {
    let modules = files.join("node_modules/k6");
    fs::create_dir_all(&modules).unwrap();
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exports/k6");
    for entry in fs::read_dir(own).unwrap() {
        let file = entry.unwrap().path();
        fs::copy(&file, modules.join(file.file_name().unwrap())).unwrap();
    }
    fs::rename(files.join("claims.k6.js"), files.join("claims.k6.mjs")).unwrap();
    fs::rename(modules.join("run.js"), files.join("run.mjs")).unwrap();
    let script = files.join("claims.k6.mjs");
    let printed = output(Command::new("node").current_dir(files).args(["run.mjs", path(&script)]));
    serde_json::from_str(&printed).unwrap()
}

#[test]
fn a_shape_that_ends_early_leaves_claims_out() {
    let mall = ForeignMall::start(&Options { units: 5, ..Options::default() });
    let dir = TempDir::new().unwrap();
    let (tokens, files) = (dir.path().join("tokens"), dir.path().join("files"));
    fs::write(&tokens, "a\nb\nc\n").unwrap();
    let target = ["bench", "export", path(&files), "--target", &mall.url(), "--dialect", "hm-dianping"];
    let load = ["--voucher", "1,2", "--tokens", path(&tokens), "--shape", "4x1s"];
    output(&mut process::mallbox(&[&target[..], &load].concat()));
    let rows = fs::read_to_string(files.join("claims.csv")).unwrap();
    assert_eq!(rows, "token,sale\na,1\nb,1\nc,1\na,2\n");
}

#[test]
#[cfg_attr(not(feature = "node-tests"), ignore = "needs Node 18")]
fn the_script_for_k6_tells_answers_apart() {
    let export = Export::new(&[]);
    let (counted, _) = in_node(&export);
    assert_eq!(counted["claims"], 24);
    export.check(&counted);
    let (_, stages) = in_node(&Export::new(&["--shape", "2x2s,2..11.3x3s"]));
    let stage = |ms: &str, target: u64| serde_json::json!({ "duration": ms, "target": target });
    let want = [
        stage("0ms", 2_000),
        stage("2000ms", 2_000),
        stage("0ms", 2_000),
        stage("3000ms", 11_300),
        stage("0ms", 100_000),
        stage("1s", 100_000),
    ];
    assert_eq!(stages, Value::from(want.to_vec()));
}

/// Runs the plan for JMeter, and counts the samples by their labels.
fn in_jmeter(export: &Export) -> BTreeMap<String, u64> {
    let mut answers = BTreeMap::new();
    for label in run_jmeter(&export.files()) {
        *answers.entry(label).or_default() += 1;
    }
    assert_eq!(answers.values().sum::<u64>(), 24, "{answers:?}");
    answers
}

/// Returns the labels of all samples of the plan in a folder, in their order.
fn run_jmeter(files: &Path) -> Vec<String> {
    let jmeter = std::env::var("JMETER").expect("JMETER names the folder of the program");
    let mut command = Command::new("java");
    command.current_dir(files).args(["-Xmx512m", "-Djava.awt.headless=true"]);
    command.args(["-Djava.util.prefs.userRoot=.", "-jar", &format!("{jmeter}/bin/ApacheJMeter.jar"), "-n"]);
    command.args(["-Jjmeterengine.force.system.exit=true", "-t", "claims.jmx", "-l", "answers.jtl"]);
    output(&mut command);
    let samples = fs::read_to_string(files.join("answers.jtl")).unwrap();
    let mut lines = samples.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|field| *field == name).unwrap();
    let (label, success) = (column("label"), column("success"));
    let label_of = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields[success] == "true", fields[label] == "accepted", "{line}");
        fields[label].to_owned()
    };
    lines.map(label_of).collect()
}

#[test]
#[cfg_attr(
    not(feature = "jmeter-tests"),
    ignore = "needs JMeter, which tests/run installs where Java and mvn are"
)]
fn the_plan_for_jmeter_makes_each_claim_once() {
    let closed = Export::new(&[]);
    closed.check(&in_jmeter(&closed));
    let open = Export::new(&["--shape", "4x2s,3..13x2s"]);
    open.check(&in_jmeter(&open));
}
