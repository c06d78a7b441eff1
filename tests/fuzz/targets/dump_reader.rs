//! Arbitrary bytes as a dump: the reader ends, with rows or with an error position in the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mallbox::import::dump::{Dump, DumpError, Value};
use mallbox::import::tables::TABLES;

fuzz_target!(|bytes: &[u8]| {
    let mut dump = Dump::new(bytes, TABLES);
    loop {
        match dump.next_row() {
            Ok(Some(row)) => {
                let wanted = TABLES[row.table];
                assert_eq!(row.cells.len(), wanted.columns.len());
                // A row's content was in the file: nothing is invented, and nothing is longer than its
                // source.
                let held: usize = row.cells.iter().map(|cell| length(&cell.value)).sum();
                assert!(held <= bytes.len());
            }
            Ok(None) => break,
            Err(DumpError::Bad { at, .. }) => {
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
                assert!(at.line <= lines && at.column <= bytes.len() as u64 + 1, "{at} in {lines} lines");
                break;
            }
            Err(_) => break,
        }
    }
    assert!(dump.passed() <= bytes.len() as u64);
});

fn length(value: &Value) -> usize {
    match value {
        Value::Text(bytes) | Value::Bytes(bytes) => bytes.len(),
        // A byte that is not UTF-8 becomes a replacement character of three bytes.
        Value::Number(text) => text.len() / 3,
        Value::Missing | Value::Null | Value::Expression => 0,
    }
}
