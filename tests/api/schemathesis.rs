//! Requests that schemathesis makes of the API's description, most of them wrong in some way.

use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::world::world;

/// Requests made of each call and phase.
const EXAMPLES: &str = "20";

#[test]
#[cfg_attr(
    not(feature = "schemathesis-tests"),
    ignore = "needs schemathesis, which tests/run installs where python3 and its venv are"
)]
fn schemathesis_finds_nothing() {
    let program = std::env::var_os("SCHEMATHESIS").expect("SCHEMATHESIS names the program");
    let w = world();
    let dir = TempDir::new().unwrap();
    let out = Command::new(program)
        .arg("run")
        .arg(format!("{}/openapi.json", w.url()))
        .args(["-H", &format!("authorization: {}", w.operator)])
        // It would log itself out; the other tests of the description drive this call.
        .args(["--exclude-path", "/user/logout"])
        // It goes on for as long as somebody watches.
        .args(["--exclude-path", "/ops/live"])
        // To JSON Schema 1.0 is a whole number; the mall wants 1.
        .args(["--exclude-checks", "positive_data_acceptance"])
        .args(["-n", EXAMPLES, "--seed", "7", "--generation-database", "none", "--no-color"])
        .current_dir(dir.path())
        .env("HOME", dir.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{said}{}", String::from_utf8_lossy(&out.stderr));
    assert!(said.contains("Tested: "), "{said}");
    w.assert_balanced();
}
