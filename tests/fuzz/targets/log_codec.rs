//! Any bytes at all in the order log: refused, or exactly what would have been written.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mallbox_storage::fuzzing::log_codec(bytes));
