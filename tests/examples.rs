//! The examples for users in `tests/examples/`, each run as documented: a copy of the folder, the tools of
//! its language, and the current mallbox. (The Rust example is a member of the workspace and runs with the
//! other tests.)

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Number of tests in every example.
const TESTS: u32 = 10;

#[test]
#[cfg_attr(
    not(feature = "python-tests"),
    ignore = "needs pytest and pytest-xdist, which tests/run installs where python3 and its venv are"
)]
fn python_example_passes() {
    let dir = copied("python");
    let pytest = env::var_os("PYTEST").expect("PYTEST names the program");
    let output = output_of(dir.path(), pytest, &["-n", "4"]);
    assert!(number_before(&output, " passed in ") >= TESTS, "{output}");
}

#[test]
#[cfg_attr(not(feature = "java-tests"), ignore = "needs a JDK, 17 or later")]
fn java_example_passes() {
    let dir = copied("java");
    output_of(dir.path(), "javac", &["-d", "classes", "Json.java", "Mall.java", "MallTest.java"]);
    let output = output_of(dir.path(), "java", &["-cp", "classes", "MallTest"]);
    assert!(number_before(&output, " tests passed, 0 failed") >= TESTS, "{output}");
}

#[test]
#[cfg_attr(not(feature = "node-tests"), ignore = "needs Node, 18 or later")]
fn node_example_passes() {
    let dir = copied("node");
    let output = output_of(dir.path(), "node", &["--test", "--test-reporter=tap"]);
    let passed = output.lines().find_map(|line| line.strip_prefix("# pass ")?.parse().ok());
    assert!(passed >= Some(TESTS), "{output}");
}

/// Copies an example, since tools leave caches and classes beside their input.
fn copied(example: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples").join(example);
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        if file.file_type().unwrap().is_file() {
            fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
        }
    }
    dir
}

/// Runs a tool that must succeed. Returns its output.
fn output_of(dir: &Path, tool: impl Into<OsString>, arguments: &[&str]) -> String {
    let tool = tool.into();
    let output = Command::new(&tool)
        .args(arguments)
        .current_dir(dir)
        .env("MALLBOX", env!("CARGO_BIN_EXE_mallbox"))
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", tool.display()));
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text += &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {arguments:?}: {}\n{text}", tool.display(), output.status);
    text
}

/// Returns the number directly before a text.
fn number_before(output: &str, words: &str) -> u32 {
    let (before, _) = output.split_once(words).unwrap_or_default();
    before.split_whitespace().last().and_then(|number| number.parse().ok()).unwrap_or_default()
}
