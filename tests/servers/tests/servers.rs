//! The servers start, keep data as configured, and end with the test process.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mallbox_test_patience::Deadline;
use mallbox_test_servers::{MariaDb, Redis, RedisCluster, RedisOptions};

fn ask(port: u16, command: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "{command}\r\nQUIT\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_redis_comes_back_with_what_it_keeps_and_goes_when_it_is_dropped() {
    let mut redis = Redis::start_with(RedisOptions::default().with("appendonly", "yes")).unwrap();
    let port = redis.port();
    assert!(ask(port, "SET a 1").starts_with("+OK"));
    redis.kill();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    redis.restart().unwrap();
    let kept = ask(port, "GET a");
    assert!(kept.starts_with("$1\r\n1"), "{kept}");
    drop(redis);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_cluster_is_whole_when_it_is_there() {
    let cluster = RedisCluster::start(3).unwrap();
    assert_eq!(cluster.urls().len(), 3);
    let port = cluster.urls()[0].rsplit(':').next().unwrap().parse().unwrap();
    assert!(ask(port, "CLUSTER INFO").contains("cluster_slots_ok:16384"));
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_mariadb_greets_and_comes_back() {
    let mut server = MariaDb::start().unwrap();
    server.restart().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let mut greeting = [0; 64];
    stream.read_exact(&mut greeting).unwrap();
    let greeting = String::from_utf8_lossy(&greeting);
    assert!(greeting.contains("MariaDB"), "{greeting}");
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_server_goes_with_the_process_that_started_it_and_leaves_no_file() {
    const CHILD: &str = "MALLBOX_TEST_SERVERS_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let redis = Redis::start().unwrap();
        println!("\nserver {} {}", redis.port(), redis.dir().display());
        // Stands for a value that lives as long as the process.
        std::mem::forget(redis);
        return;
    }
    let name = "a_server_goes_with_the_process_that_started_it_and_leaves_no_file";
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child.args(["--exact", name, "--nocapture"]).env(CHILD, "1").output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let words =
        output.lines().find_map(|line| line.strip_prefix("server ")).unwrap_or_else(|| panic!("{output}"));
    let (port, dir) = words.split_once(' ').unwrap();
    let port = port.parse().unwrap();
    let until = Deadline::after(Duration::from_secs(20));
    while TcpStream::connect(("127.0.0.1", port)).is_ok() || Path::new(dir).exists() {
        assert!(!until.is_over(), "{words} is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}
