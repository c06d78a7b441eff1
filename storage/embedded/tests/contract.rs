//! The contract of the storage ports, held to the embedded back end.

use std::process::ExitCode;

use mallbox_storage_contract::{SetUp, run};
use mallbox_test_servers::MallLocation;

fn main() -> ExitCode {
    run(&[SetUp { name: "embedded", fresh: || Box::new(MallLocation::directory()), ignored: None }])
}
