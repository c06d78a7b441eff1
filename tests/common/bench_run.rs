//! Runs of the `bench` command, with their output, results and files.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// Begin of the names of a bench's files.
const FILES: &str = ".mallbox-bench-";

/// Waits for the turn of a test: a bench takes the whole machine, and time limits of ports are short.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a bench. Returns whether the exit code is 0, and the output.
pub fn ended(mut command: Command) -> (bool, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.success(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

/// Returns a result.
pub fn result(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Returns the files of benches in a directory.
pub fn left_over(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(FILES)).collect()
}
