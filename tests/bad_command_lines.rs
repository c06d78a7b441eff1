//! Wrong command lines and damaged files, and the result of each: an exit code, and a message that names the
//! problem.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "bad_command_lines/lines.rs"]
mod lines;
#[path = "common/process.rs"]
mod process;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use lines::LINES;
use mallbox_storage::{Phone, Timestamp};
use mallbox_storage_embedded::EmbeddedOptions;

/// Longer than any refusal takes.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(30);
const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

const SERVERS: &str = "--redis redis://:secret@127.0.0.1:1 --mysql mysql://root:secret@127.0.0.1:1/mall";

/// Damage done to a file of a gracefully stopped mall.
enum Damage {
    Empty,
    Garbage,
    Text(&'static str),
    Remove,
    /// A directory in place of the file.
    Directory,
    OfAnotherProgram,
}

use Damage::{Directory, Empty, Garbage, OfAnotherProgram, Remove, Text};
use mallbox_test_patience::Deadline;

/// The file, the damage, the exit codes of `serve` and `verify`, and the messages of both.
#[rustfmt::skip]
const FILES: &[(&str, Damage, [i32; 2], [&str; 2])] = &[
    ("mall.sqlite", Empty, [1, 1], ["mall.sqlite is damaged: the file is empty"; 2]),
    ("mall.sqlite", Garbage, [1, 1], ["file is not a database"; 2]),
    ("mall.sqlite", Text("CREATE TABLE users;\n"), [1, 1], ["file is not a database"; 2]),
    ("mall.sqlite", OfAnotherProgram, [1, 1], ["an SQLite file of another program; use another directory"; 2]),
    ("mall.sqlite", Directory, [1, 1], ["mall.sqlite: cannot open the database"; 2]),
    ("mall.sqlite", Remove, [2, 2], ["holds no mall, but other files (log)", "there is no mall in"]),
    ("log/wal/manifest", Directory, [1, 1], ["cannot read or write the order log"; 2]),
    ("log/wal/segment-1", Directory, [1, 1], ["cannot read or write the order log"; 2]),
    ("lock", Directory, [1, 1], ["cannot write to the data directory"; 2]),
];

/// Damage of the order log that costs nothing: the store behind the write-ahead log is made anew.
const OF_NO_USE: &[(&str, Damage)] = &[
    ("log/CURRENT", Empty),
    ("log/CURRENT", Garbage),
    ("log/CURRENT", Remove),
    ("log/CURRENT", Text("7\n")),
    ("log/CURRENT", Text("../../etc\n")),
    ("log/CURRENT", Text("-1\n")),
    ("log/CURRENT", Directory),
    ("log/store-1/db", Remove),
    ("log/store-1/db", Empty),
    ("log/store-1/db", Garbage),
    ("log/store-1/db", Directory),
    ("log/store-1/conf", Remove),
    ("log/store-1/conf", Empty),
    ("log/store-1/conf", Garbage),
];

fn mallbox(arguments: &[String]) -> (i32, String) {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = process::mallbox(&arguments);
    let file = tempfile::NamedTempFile::new().unwrap();
    let output = fs::File::create(file.path()).unwrap();
    command.env("TZ", "Asia/Shanghai");
    let mut child = command.stdout(Stdio::null()).stderr(output).spawn().unwrap();
    let deadline = Deadline::after(REFUSAL_TIMEOUT);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if deadline.is_over() {
            child.kill().unwrap();
            panic!("{arguments:?} was not refused");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let output = fs::read_to_string(file.path()).unwrap();
    (status.code().unwrap_or_else(|| panic!("{arguments:?} died of a signal: {output}")), output)
}

/// Makes a mall and stops it gracefully.
fn make_mall(dir: &Path) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let storage = mallbox_storage_embedded::open(EmbeddedOptions::new(dir)).await.unwrap();
        let phone = Phone::parse("13900000001").unwrap();
        storage.people.users.find_or_create(&phone, "somebody", NOON).await.unwrap();
        storage.base.upkeep.put_setting("zone", "Asia/Shanghai").await.unwrap();
        storage.base.upkeep.close().await.unwrap();
    });
}

#[test]
fn every_bad_command_line_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    make_mall(&dir.path().join("mall"));
    fs::create_dir(place("theirs")).unwrap();
    fs::write(dir.path().join("theirs/notes.txt"), "theirs").unwrap();
    fs::write(place("file"), "theirs").unwrap();
    let filled_in = |text: &str| {
        let names = ["new", "mall", "theirs", "file"];
        let filled = names
            .iter()
            .fold(text.to_owned(), |text, name| text.replace(&format!("{{{name}}}"), &place(name)));
        filled.replace("{empty}", "")
    };
    let mut faults = Vec::new();
    for (line, code, words) in LINES {
        let line = &line.replace("{servers}", SERVERS);
        let arguments: Vec<String> = line.split_whitespace().map(filled_in).collect();
        let (got, output) = mallbox(&arguments);
        let sentences = output.lines().filter(|line| line.starts_with("mallbox: ")).count();
        let is_refused =
            output.contains(&filled_in(words)) && (sentences == 0 || output.lines().count() == 1);
        if got != *code
            || !is_refused
            || output.contains("panicked")
            || output.contains("Os {")
            || output.contains("secret")
        {
            faults.push(format!("mallbox {line}: {got}, and not {code} with \"{words}\": {output}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(!Path::new(&place("new")).exists(), "a directory was made on the way");
    assert_eq!(fs::read_to_string(place("file")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(place("theirs")).unwrap().count(), 1);
    println!("{} command lines", LINES.len());
}

#[test]
fn every_damaged_file_is_named_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    make_mall(&whole);
    let mut faults = Vec::new();
    for (number, (file, spoil, codes, words)) in FILES.iter().enumerate() {
        let data = dir.path().join(number.to_string());
        copy(&whole, &data);
        let path = data.join(file);
        spoil_file(&path, spoil);
        for ((command, code), words) in ["serve", "verify"].into_iter().zip(codes).zip(words) {
            let before = content(&path);
            let mut arguments =
                vec![command.to_owned(), "--data".to_owned(), data.to_str().unwrap().to_owned()];
            if command == "serve" {
                arguments.extend(["--listen".to_owned(), "127.0.0.1:0".to_owned()]);
            }
            let (got, output) = mallbox(&arguments);
            let sentences = output.lines().filter(|line| line.starts_with("mallbox: ")).count();
            let is_changed = content(&path) != before;
            let is_refused = sentences == 1 && output.contains(words) && !output.contains("panicked at src");
            if got != *code || !is_refused || is_changed {
                faults
                    .push(format!("{command}, row {number}, {file}: {got}, changed: {is_changed}: {output}"));
            }
        }
        fs::remove_dir_all(data).unwrap();
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    println!("{} damaged files", FILES.len());
}

#[test]
fn a_store_of_the_order_log_that_is_of_no_use_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    make_mall(&whole);
    for (number, (file, spoil)) in OF_NO_USE.iter().enumerate() {
        let data = dir.path().join(number.to_string());
        copy(&whole, &data);
        spoil_file(&data.join(file), spoil);
        let arguments = ["verify", "--data", data.to_str().unwrap()].map(str::to_owned);
        for _ in 0..2 {
            let (code, output) = mallbox(&arguments);
            assert!(code == 0 && !output.contains("panicked at src"), "row {number}: {code}: {output}");
        }
        let current = fs::read_to_string(data.join("log/CURRENT")).unwrap();
        let store = data.join(format!("log/store-{}", current.trim()));
        assert!(store.join("db").is_file(), "row {number}: no store was made");
        fs::remove_dir_all(data).unwrap();
    }
}

fn spoil_file(path: &Path, spoil: &Damage) {
    match spoil {
        Empty => fs::write(path, "").unwrap(),
        Garbage => fs::write(path, [0xfe; 10_000]).unwrap(),
        Text(text) => fs::write(path, text).unwrap(),
        Remove => fs::remove_file(path).unwrap(),
        Directory => {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }
        OfAnotherProgram => {
            fs::remove_file(path).unwrap();
            let theirs = rusqlite::Connection::open(path).unwrap();
            theirs.execute_batch("CREATE TABLE theirs (id INTEGER)").unwrap();
        }
    }
}

fn content(path: &PathBuf) -> Option<Vec<u8>> {
    fs::read(path).ok()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}
