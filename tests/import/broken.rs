//! Imports that end half-way leave nothing, and the next one works; a large one needs little memory.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::process::{Child, Command, Stdio};

use crate::world::{Place, dump};

#[test]
fn a_file_that_breaks_off_changes_nothing() {
    let whole = fs::read(dump("mysqldump.sql")).unwrap();
    // Cut within a text, within a row, between two rows, between two statements.
    for share in [30, 50, 70, 90, 99] {
        let place = Place::new();
        let file = place.write("dump.sql", &whole[..whole.len() * share / 100]);
        let said = place.import(&file, &[]);
        assert!(said.code == 1 && said.err.contains("line "), "{share} %: {}", said.err);
        assert_eq!(fs::read_dir(place.mall()).unwrap().count(), 0, "{share} %");
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

/// An import that reads from a pipe, so that it stands wherever the test wants it to.
struct Piped {
    child: Child,
    pipe: BufWriter<File>,
}

impl Piped {
    fn start(place: &Place) -> Self {
        let path = place.path("pipe.sql");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let child = place.import_command(&path).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pipe = BufWriter::new(File::options().write(true).open(&path).unwrap());
        Self { child, pipe }
    }

    /// Writes users from..to, as rows of one statement that has begun.
    fn feed_users(&mut self, users: std::ops::Range<u64>) {
        for user in users {
            write!(self.pipe, "({user},'139{user:08}','user {user} of a mall that is moving in'),").unwrap();
        }
        self.pipe.flush().unwrap();
    }

    /// Peak memory in KiB.
    fn peak_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const USERS: &str = "CREATE TABLE tb_user (id bigint, phone varchar(11), nick_name varchar(64));\nINSERT INTO tb_user VALUES ";

/// Whatever the pipe has taken but its last 64 KiB has been read, and nothing of it may stay.
#[test]
fn one_that_is_killed_leaves_an_empty_mall_and_needed_little_memory() {
    let place = Place::new();
    let mut import = Piped::start(&place);
    import.pipe.write_all(USERS.as_bytes()).unwrap();
    import.feed_users(1..60_000);
    import.pipe.write_all(b"(60000,'13900060000',NULL);INSERT INTO tb_other VALUES ('").unwrap();
    // A line of 40 MB.
    for _ in 0..400 {
        import.pipe.write_all(&[b'x'; 100_000]).unwrap();
        import.pipe.write_all(b"'),('").unwrap();
    }
    import.pipe.flush().unwrap();
    let peak = import.peak_kib();
    assert!(peak < 80 << 10, "{peak} KiB");
    import.child.kill().unwrap();
    import.child.wait().unwrap();
    drop(import);
    place.imported(&dump("navicat.sql"), &[]);
    assert_eq!(place.rows("SELECT COUNT(*) FROM users"), ["3"]);
    place.verify();
}
