//! Traces of a claim: where it comes from, as the judgement sees it.

use mallbox_storage::{StoreError, Timestamp};

use super::{Guards, ShownPass};
use crate::mall::base::client_network;
use crate::mall::base::hmac::hmac_sha256;

/// Where a claim comes from, as keyed hashes: equal for equal addresses and devices while a key signs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::mall::selling) struct Traces {
    /// Hash of the client's network.
    pub(in crate::mall::selling) address: Option<u64>,
    /// Hash of the device.
    pub(in crate::mall::selling) device: Option<u64>,
}

impl Guards {
    /// Returns the traces of a claim. A forged device ticket leaves none.
    ///
    /// # Errors
    /// [`StoreError`] if a key cannot be read.
    pub(in crate::mall::selling) async fn traces(
        &self,
        shown: &ShownPass<'_>,
        now: Timestamp,
    ) -> Result<Traces, StoreError> {
        let key = self.keys.current(now).await?;
        let hash = |purpose: &[u8], trace: &[u8]| {
            let hash = hmac_sha256(key.secret(), &[purpose, trace]);
            hash[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
        };
        let network = shown.address.map(|address| client_network(address).to_string());
        let device = self.device(shown.device, now).await?;
        Ok(Traces {
            address: network.map(|network| hash(b"address", network.as_bytes())),
            device: device.map(|device| hash(b"device ", &device.id)),
        })
    }
}
