//! Hexadecimal encoding of bytes, and the way back.

/// Encodes bytes with two lower-case hexadecimal digits each.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Decodes hexadecimal digits; `None` for an odd number of digits, or any other character.
#[must_use]
pub fn unhex(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some((value(*high)? << 4) | value(*low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::{hex, unhex};

    #[test]
    fn each_byte_is_two_digits() {
        assert_eq!(hex(&[]), "");
        assert_eq!(hex(&[0, 9, 10, 0xa5, 255]), "00090aa5ff");
    }

    #[test]
    fn digits_of_either_case_are_decoded_and_nothing_else() {
        assert_eq!(unhex(&hex(&[0, 9, 10, 0xa5, 255])), Some(vec![0, 9, 10, 0xa5, 255]));
        assert_eq!(unhex("aF"), Some(vec![0xaf]));
        for wrong in ["a", "zz", "é", "0x", "+1"] {
            assert_eq!(unhex(wrong), None, "{wrong}");
        }
    }
}
