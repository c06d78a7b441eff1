//! Keyed hashes of client networks: limits count by requester, and no address is stored.

use std::net::IpAddr;

use mallbox_storage::{Requester, StoreError};
use tokio::sync::OnceCell;

use crate::mall::base::client_network;
use crate::mall::base::hmac::hmac_sha256;
use crate::mall::base::kept_secret::kept_secret;
use crate::mall::{Context, Random};

/// Name of the setting that holds the key. In the database, unlike a directory's key of login codes: known
/// requesters and counters outlive a restart.
const KEY: &str = "requester key";

/// Hashes the networks of clients.
pub(super) struct RequesterHasher {
    context: Context,
    key: OnceCell<String>,
}

impl RequesterHasher {
    pub(super) fn new(context: Context) -> Self {
        Self { context, key: OnceCell::new() }
    }

    /// Returns the requester of a client's address: an IPv4 address, or the /64 of an IPv6 address. All
    /// clients without an address are one requester.
    ///
    /// # Errors
    /// Any [`StoreError`]: the key cannot be read; call again.
    pub(super) async fn of(&self, address: Option<IpAddr>) -> Result<Requester, StoreError> {
        let upkeep = &*self.context.storage.base.upkeep;
        // Not from the mall's generator: a test that knows the seed expects the tokens in order.
        let key = self.key.get_or_try_init(|| kept_secret(upkeep, KEY, || Random::system().secret()));
        Ok(keyed_hash(key.await?, address))
    }
}

fn keyed_hash(key: &str, address: Option<IpAddr>) -> Requester {
    let hash = match address.map(client_network) {
        Some(IpAddr::V4(address)) => hmac_sha256(key.as_bytes(), &[&address.octets()]),
        Some(IpAddr::V6(address)) => hmac_sha256(key.as_bytes(), &[&address.octets()]),
        None => hmac_sha256(key.as_bytes(), &[]),
    };
    let (half, _) = hash.split_first_chunk().expect("16 bytes are in 32");
    Requester(*half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requester_is_a_network_under_a_key() {
        let of = |key: &str, address: &str| {
            keyed_hash(key, (!address.is_empty()).then(|| address.parse().unwrap()))
        };
        let one = of("key", "203.0.113.7");
        assert_eq!(of("key", "::ffff:203.0.113.7"), one);
        assert_eq!(of("key", "2001:db8:1:2::3"), of("key", "2001:db8:1:2:ffff::4"));
        for other in [
            of("another key", "203.0.113.7"),
            of("key", "203.0.113.8"),
            of("key", "2001:db8:1:2::3"),
            of("key", "2001:db8:1:3::3"),
            of("key", ""),
            Requester::MACHINE,
        ] {
            assert_ne!(other, one);
        }
    }
}
