//! Keys of backups: age keys that encrypt and decrypt, Ed25519 keys that sign and verify. Each is a text file
//! that `age` or OpenSSL read as well.

use age::secrecy::ExposeSecret as _;
use age::x25519::{Identity, Recipient};
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{
    DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _, KeypairBytes,
};
use ed25519_dalek::{SigningKey, VerifyingKey};
use mallbox_storage::{hex, unhex};

/// Kinds of key files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyKind {
    /// An age public key: `age1…`.
    Encryption,
    /// An age private key: `AGE-SECRET-KEY-1…`.
    Decryption,
    /// An Ed25519 private key, PKCS #8 in PEM.
    Signing,
    /// An Ed25519 public key, SPKI in PEM.
    Verification,
}

/// A private key and its public key, each as the text of a file.
pub struct KeyPair {
    /// Content of the file of the private key.
    pub private: String,
    /// Content of the file of the public key.
    pub public: String,
}

impl KeyPair {
    /// Generates an age key.
    #[must_use]
    pub fn for_encryption() -> Self {
        let identity = Identity::generate();
        let public = format!("{}\n", identity.to_public());
        let private = format!("# public key: {public}{}\n", identity.to_string().expose_secret());
        Self { private, public }
    }

    /// Generates an Ed25519 key.
    ///
    /// # Panics
    /// Never: the encodings take every key.
    #[must_use]
    pub fn for_signature() -> Self {
        let key = SigningKey::from_bytes(&rand::random());
        // OpenSSL does not read the newer form, which has the public key beside the private one.
        let bytes = KeypairBytes { secret_key: key.to_bytes(), public_key: None };
        let private = bytes.to_pkcs8_pem(LineEnding::LF).expect("each key has an encoding").to_string();
        let public = key.verifying_key().to_public_key_pem(LineEnding::LF).expect("each key has an encoding");
        Self { private, public }
    }
}

/// Parses age public keys, a line each. Blank lines and lines with `#` are skipped. `None` without a key, or
/// with anything else.
#[must_use]
pub fn recipients(text: &str) -> Option<Vec<Recipient>> {
    let recipients: Option<Vec<Recipient>> = lines(text).map(|line| line.parse().ok()).collect();
    recipients.filter(|recipients| !recipients.is_empty())
}

/// Parses age private keys, a line each. Blank lines and lines with `#` are skipped. `None` without a key, or
/// with anything else.
#[must_use]
pub fn identities(text: &str) -> Option<Vec<Identity>> {
    let identities: Option<Vec<Identity>> = lines(text).map(|line| line.parse().ok()).collect();
    identities.filter(|identities| !identities.is_empty())
}

/// Parses an Ed25519 private key.
#[must_use]
pub fn signing_key(text: &str) -> Option<SigningKey> {
    SigningKey::from_pkcs8_pem(text).ok()
}

/// Parses an Ed25519 public key.
#[must_use]
pub fn verifying_key(text: &str) -> Option<VerifyingKey> {
    VerifyingKey::from_public_key_pem(text).ok()
}

/// Returns the name of a public key in a backup's header: 64 hexadecimal digits.
#[must_use]
pub fn name_of(key: &VerifyingKey) -> String {
    hex(key.as_bytes())
}

/// Returns the public key of a [name](name_of).
#[must_use]
pub fn key_of(name: &str) -> Option<VerifyingKey> {
    VerifyingKey::from_bytes(&unhex(name)?.try_into().ok()?).ok()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_key_is_read_again_and_no_other_kind_is() {
        let (age, ed25519) = (KeyPair::for_encryption(), KeyPair::for_signature());
        let [recipient] = &recipients(&age.public).unwrap()[..] else { panic!("one key") };
        let [identity] = &identities(&age.private).unwrap()[..] else { panic!("one key") };
        assert_eq!(identity.to_public().to_string(), recipient.to_string());
        let (signing, verifying) =
            (signing_key(&ed25519.private).unwrap(), verifying_key(&ed25519.public).unwrap());
        assert_eq!(signing.verifying_key(), verifying);
        assert_eq!(key_of(&name_of(&verifying)), Some(verifying));
        // PKCS #8, version 1.
        assert!(ed25519.private.contains("\nMC4CAQAwBQYDK2VwBCIEI"), "OpenSSL reads it");
        for no_name in ["", "0", "zz", &"0".repeat(66)] {
            assert_eq!(key_of(no_name), None, "{no_name}");
        }
        for other in ["", "# nothing\n", "age1", &age.private, &ed25519.private, &ed25519.public] {
            assert!(recipients(other).is_none(), "{other}");
        }
        for other in ["", &age.public, &ed25519.private, &format!("{}x", age.private)] {
            assert!(identities(other).is_none(), "{other}");
        }
        for other in ["", &age.private, &ed25519.public] {
            assert!(signing_key(other).is_none(), "{other}");
        }
        for other in ["", &age.public, &ed25519.private] {
            assert!(verifying_key(other).is_none(), "{other}");
        }
    }
}
