//! Proof of work: a number whose hash with the challenge's salt begins with zero bits.

use sha2::{Digest as _, Sha256};

/// Longest answer, in bytes: more than any number that a client reaches.
const ANSWER_MAX_BYTES: usize = 32;

/// Returns whether SHA-256 of `salt:answer` begins with `bits` zero bits.
pub(super) fn is_proof(salt: &str, answer: &str, bits: u8) -> bool {
    let is_number = answer.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (1..=ANSWER_MAX_BYTES).contains(&answer.len()) && is_number && zero_bits(salt, answer) >= u32::from(bits)
}

/// Finds the smallest proof: about `2^bits` hashes.
pub(super) fn find(salt: &str, bits: u8) -> Option<String> {
    (0..u64::MAX).map(|number| number.to_string()).find(|answer| is_proof(salt, answer, bits))
}

fn zero_bits(salt: &str, answer: &str) -> u32 {
    let hash = Sha256::new().chain_update(salt).chain_update(":").chain_update(answer).finalize();
    let mut bits = 0;
    for byte in hash {
        bits += byte.leading_zeros();
        if byte != 0 {
            break;
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_has_at_least_the_bits_asked_for() {
        // By sha256sum: the hash of "a1:46" begins with 0061, and no smaller number's with 00.
        assert_eq!(find("a1", 8).as_deref(), Some("46"));
        for (bits, expected) in [(0, true), (8, true), (9, true), (10, false), (255, false)] {
            assert_eq!(is_proof("a1", "46", bits), expected, "{bits}");
        }
        assert!(!is_proof("a2", "46", 8) && !is_proof("a1", "47", 8));
    }

    #[test]
    fn an_answer_is_a_short_number() {
        assert!(is_proof("salt", "0", 0) && is_proof("salt", "ff", 0));
        for wrong in ["", " 1", "1:2", "１", &"1".repeat(33)] {
            assert!(!is_proof("salt", wrong, 0), "{wrong:?}");
        }
    }
}
