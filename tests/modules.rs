//! Type checks of the pages' JavaScript modules: the types in their comments, checked by tsc.

use std::env;
use std::process::{Command, Output};

#[test]
#[cfg_attr(
    not(feature = "typescript-tests"),
    ignore = "needs tsc, which tests/run installs where Node and npm are"
)]
fn tsc_finds_nothing() {
    let program = env::var_os("TSC").expect("TSC names the program");
    let Output { status, stdout, stderr } = Command::new("node")
        .arg(program)
        .args(["--pretty", "false", "-p", concat!(env!("CARGO_MANIFEST_DIR"), "/web/jsconfig.json")])
        .output()
        .unwrap();
    let [output, wrong] = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(status.success(), "{output}{wrong}");
}
