//! Properties that hold for arbitrary bytes in the store's files. The fuzzer searches for a counterexample.

use super::journal::properties;
use super::session_codec::{self, Entry};

/// Checks the properties of the log's claims and entries.
///
/// # Panics
/// If a property does not hold.
pub fn log_codec(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    match kind % 5 {
        0 => properties::any_record_is_refused_or_is_what_would_be_written(bytes),
        1 => properties::a_record_with_a_right_checksum_is_too(bytes),
        2 => properties::no_damage_makes_another_claim(bytes),
        3 => properties::what_is_found_was_written_and_what_was_written_is_found(bytes),
        _ => an_entry_is_refused_or_is_what_would_be_written(bytes),
    }
}

fn an_entry_is_refused_or_is_what_would_be_written(bytes: &[u8]) {
    let Some((length, bytes)) = bytes.split_first() else { return };
    let (key, value) = bytes.split_at(usize::from(*length).min(bytes.len()));
    let written = match session_codec::decode(key, value) {
        Ok(Entry::Session(token, session)) => session_codec::session_change(token, &session),
        Ok(Entry::Code(phone, code)) => session_codec::code_change(&phone, &code),
        Err(words) => return assert!(!words.is_empty()),
    };
    assert_eq!((written.key.as_slice(), written.value.as_deref()), (key, Some(value)));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rand::rngs::StdRng;
    use rand::{Rng as _, RngExt as _, SeedableRng as _};

    use super::log_codec;

    #[test]
    fn the_properties_hold_for_what_the_fuzzer_has_kept() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/log_codec");
        let files: Vec<_> = std::fs::read_dir(corpus).unwrap().map(Result::unwrap).collect();
        assert!(!files.is_empty());
        for file in files {
            log_codec(&std::fs::read(file.path()).unwrap());
        }
    }

    #[test]
    fn the_properties_hold_for_some_noise() {
        let mut dice = StdRng::seed_from_u64(7);
        for round in 0..20_000_u32 {
            let mut bytes = vec![0; dice.random_range(0..400)];
            dice.fill_bytes(&mut bytes);
            if let Some(kind) = bytes.first_mut() {
                *kind = u8::try_from(round % 5).unwrap();
            }
            log_codec(&bytes);
        }
    }
}
