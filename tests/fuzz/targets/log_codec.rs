//! Arbitrary bytes in the order log: refused, or identical to the encoding of the decoded entry.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mallbox_storage_embedded::fuzzing::log_codec(bytes));
