//! Properties that hold for arbitrary bytes in the store's files. The fuzzer searches for a counterexample.

use super::code_codec::{self, Entry};
use super::journal::properties;
use super::session_codec;

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
    let decoded = if code_codec::owns(key) {
        code_codec::decode(key, value).map(|entry| match entry {
            Entry::Slot(phone, requester, slot) => {
                Some(code_codec::slot_change(&phone, requester, Some(&slot)))
            }
            Entry::Ticket(phone, ticket, live) => {
                Some(code_codec::ticket_change(&phone, ticket, Some(&live)))
            }
            Entry::Strangers(phone, strangers) => {
                Some(code_codec::strangers_change(&phone, Some(&strangers)))
            }
            // An empty list is never written.
            Entry::Known(phone, list) => Some(code_codec::known_change(&phone, Some(&list))),
            Entry::Mall(codes) => Some(code_codec::mall_change(codes)),
            Entry::Outdated => None,
        })
    } else {
        let decoded = session_codec::decode(key, value);
        decoded.map(|(token, session)| Some(session_codec::session_change(token, &session)))
    };
    let written = match decoded {
        Ok(Some(written)) => written,
        Ok(None) => return,
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
