//! Any bytes at all in a request's path, query, headers and body: understood, or refused in words.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mallbox::http::fuzzing::request_parsers(bytes));
