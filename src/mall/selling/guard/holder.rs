//! Holders of challenges and passes.

use mallbox_storage::{UserId, VoucherId};

use super::device::Device;

/// To whom a challenge or a pass belongs: user, sale and device, as the bytes that tokens are bound to.
pub(super) struct Holder(pub(super) [u8; 32]);

impl Holder {
    pub(super) fn new(user: UserId, voucher: VoucherId, device: &Device) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&user.get().to_be_bytes());
        bytes[8..16].copy_from_slice(&voucher.get().to_be_bytes());
        bytes[16..].copy_from_slice(&device.id);
        Self(bytes)
    }
}
