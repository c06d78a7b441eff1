//! The authenticator app of a person: computes the codes of a secret.

use mallbox_storage::Timestamp;
use totp_rs::{Builder, Secret};

/// Returns the code that an app shows at an instant.
pub fn code_at(secret: &str, at: Timestamp) -> String {
    let secret = Secret::try_from_base32(secret).unwrap();
    let seconds = u64::try_from(at.as_millis()).unwrap() / 1_000;
    Builder::new().with_secret(secret).build().unwrap().generate(seconds).to_string()
}
