//! Imports that end halfway leave nothing, and the next import succeeds; a large import needs little memory.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::world::{Place, dump};

#[test]
fn a_file_that_breaks_off_changes_nothing() {
    let whole = fs::read(dump("mysqldump.sql")).unwrap();
    // Cut within a text, within a row, between two rows, between two statements.
    for share in [30, 50, 70, 90, 99] {
        let place = Place::new();
        let file = place.write("dump.sql", &whole[..whole.len() * share / 100]);
        let import = place.import(&file, &[]);
        assert!(import.code == 1 && import.err.contains("line "), "{share} %: {}", import.err);
        assert!(!place.mall().exists(), "{share} %");
        place.imported(&dump("mysqldump.sql"), &[]);
        place.verify();
    }
}

#[test]
fn what_a_directory_held_before_is_there_after_a_refusal() {
    let place = Place::new();
    place.write("mall/uploads/own.png", "a picture");
    let file = place.write("dump.sql", "INSERT INTO tb_user");
    assert_eq!(place.import(&file, &[]).code, 1);
    let left: Vec<_> = fs::read_dir(place.mall()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["uploads"]);
    assert!(place.mall().join("uploads/own.png").exists());
}

const USERS: &str = "CREATE TABLE tb_user (id bigint, phone varchar(11), nick_name varchar(64));\nINSERT INTO tb_user VALUES ";
/// Length of a foreign line before the users, in bytes.
const LONG_LINE: usize = 40 << 20;

/// An import of a line of 40 MB, followed by far more users than it reaches.
struct Running(Child);

impl Running {
    fn start(place: &Place) -> Self {
        let path = place.path("large.sql");
        let mut file = BufWriter::new(File::create(&path).unwrap());
        file.write_all(b"-- MySQL dump\nINSERT INTO tb_other VALUES ('").unwrap();
        for _ in 0..LONG_LINE / 100_000 {
            file.write_all(&[b'x'; 100_000]).unwrap();
            file.write_all(b"'),('").unwrap();
        }
        write!(file, "');\n{USERS}").unwrap();
        for user in 1..400_000 {
            write!(file, "({user},'139{user:08}','user {user} of a mall that is moving in'),").unwrap();
        }
        file.write_all(b"(400000,'13900400000',NULL);\n-- Dump completed\n").unwrap();
        file.flush().unwrap();
        Self(place.import_command(&path).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Returns the read position in the file, in bytes.
    fn position(&self) -> usize {
        let files = fs::read_dir(format!("/proc/{}/fd", self.0.id())).unwrap();
        let is_dump =
            |file: &fs::DirEntry| fs::read_link(file.path()).is_ok_and(|path| path.ends_with("large.sql"));
        let Some(file) = files.flatten().find(is_dump) else { return 0 };
        let info = format!("/proc/{}/fdinfo/{}", self.0.id(), file.file_name().display());
        let info = fs::read_to_string(info).unwrap_or_default();
        let line = info.lines().find_map(|line| line.strip_prefix("pos:"));
        line.map_or(0, |line| line.trim().parse().unwrap())
    }

    /// Returns the peak memory in KiB.
    fn peak_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The import is killed after some 60,000 users.
#[test]
fn one_that_is_killed_leaves_an_empty_mall_and_needed_little_memory() {
    let place = Place::new();
    let mut import = Running::start(&place);
    // The file is read once before the mall is created.
    while !place.mall().join("mall.sqlite").exists() || import.position() < LONG_LINE + (4 << 20) {
        assert!(import.0.try_wait().unwrap().is_none(), "it ended before it was killed");
        std::thread::sleep(Duration::from_millis(5));
    }
    let peak = import.peak_kib();
    // The pages of the program itself count, in a debug build half of them; the long line would add 40 MiB.
    assert!(peak < 96 << 10, "{peak} KiB");
    import.0.kill().unwrap();
    import.0.wait().unwrap();
    drop(import);
    place.imported(&dump("navicat.sql"), &[]);
    assert_eq!(place.rows("SELECT COUNT(*) FROM users"), ["3"]);
    place.verify();
}
