//! hm-dianping's password format, `salt@md5(password + salt)`. Each hash is replaced at the user's first
//! login.

use mallbox_storage::hex;
use md5::{Digest, Md5};

/// Returns whether a stored text has hm-dianping's format.
pub(in crate::mall) fn is_one(stored: &str) -> bool {
    parts(stored).is_some()
}

/// Verifies a password against a stored text in hm-dianping's format.
pub(in crate::mall) fn matches(stored: &str, password: &str) -> bool {
    let Some((salt, want)) = parts(stored) else { return false };
    let digest = Md5::new().chain_update(password).chain_update(salt).finalize();
    hex(&digest).eq_ignore_ascii_case(want)
}

fn parts(stored: &str) -> Option<(&str, &str)> {
    let (salt, digest) = stored.split_once('@')?;
    (digest.len() == 32 && digest.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some((salt, digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_salt_stands_before_and_is_hashed_after_the_password() {
        // printf '123456abc' | md5sum
        let stored = "abc@df10ef8509dc176d733d59549e7dbfaf";
        assert!(is_one(stored) && matches(stored, "123456"));
        assert!(!matches(stored, "1234567") && !matches(stored, ""));
        for other in ["", "abc", "abc@", "abc@df10", "$argon2id$v=19$m=19456@x"] {
            assert!(!is_one(other) && !matches(other, ""), "{other}");
        }
    }
}
