//! The contract of the storage ports, held to Redis and MySQL: on one Redis over TLS with passwords, and on
//! a cluster of three masters.

use std::process::ExitCode;

use mallbox_storage_contract::{SetUp, run};
use mallbox_test_servers::MallLocation;

fn main() -> ExitCode {
    let ignored = (!cfg!(feature = "production-tests")).then_some("needs redis-server and mariadbd");
    run(&[
        SetUp { name: "redis", fresh: || Box::new(MallLocation::on_guarded_servers()), ignored },
        SetUp { name: "redis_cluster", fresh: || Box::new(MallLocation::on_cluster()), ignored },
    ])
}
