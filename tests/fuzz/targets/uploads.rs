//! Any bytes at all as an uploaded picture: refused, or drawn anew as one that can be read.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    mallbox::mall::pictures::fuzzing::uploads(bytes);
});
