//! Arbitrary bytes as an uploaded picture: refused, or re-encoded as a readable picture.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    mallbox::mall::writing::pictures::fuzzing::uploads(bytes);
});
