//! Arbitrary bytes in a request's path, query, headers and body: parsed, or refused with a message.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mallbox::http::fuzzing::request_parsers(bytes));
