//! HMAC-SHA-256 over parts of a message.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Returns the HMAC-SHA-256 of `parts`, one after another, under `key` of any length.
///
/// The borders between the parts are no part of the message: callers give the parts a fixed length or a
/// separator.
pub(in crate::mall) fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    mac(key, parts).finalize().into_bytes().into()
}

/// Returns whether `code` is the HMAC-SHA-256 of `parts`, compared in constant time.
pub(in crate::mall) fn is_hmac_sha256(code: &[u8], key: &[u8], parts: &[&[u8]]) -> bool {
    mac(key, parts).verify_slice(code).is_ok()
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        mac.update(part);
    }
    mac
}

#[cfg(test)]
mod tests {
    use mallbox_storage::hex;

    use super::*;

    #[test]
    fn the_code_is_that_of_rfc_4231_however_the_message_is_cut() {
        let want = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        let cuts: [&[&[u8]]; 3] = [
            &[b"what do ya want for nothing?"],
            &[b"what do ya ", b"want for nothing?"],
            &[b"", b"what do ya want for nothing?"],
        ];
        for parts in cuts {
            assert_eq!(hex(&hmac_sha256(b"Jefe", parts)), want);
        }
    }
}
