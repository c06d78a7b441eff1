//! The tests of an embedded mall, run on Redis and MySQL.

#[path = "api/main.rs"]
mod api;
#[path = "mall/main.rs"]
mod mall;

#[test]
fn this_target_is_on_servers() {
    let ground = mallbox_test_servers::MallLocation::of_target(env!("CARGO_CRATE_NAME"));
    assert!(ground.database().is_some(), "{ground:?}");
}
