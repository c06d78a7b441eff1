//! Device tickets: which device a challenge was given to.

use std::time::Duration;

use mallbox_storage::Timestamp;

use super::keys::{GuardKey, PERIOD};
use super::token::{Fields, Purpose, Token};

/// Age up to which a ticket is valid. The key of an older ticket may be gone.
const VALID_FOR: Duration = PERIOD;
/// Age from which the next challenge brings a new ticket.
const RENEW_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// Furthest time of issue in the future: the clock of another instance may be ahead.
const SKEW_MAX: Duration = Duration::from_secs(60);
const BYTES: usize = 24;

/// A device, as far as the mall knows it: a random number, which a client may forget at any time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Device {
    pub(super) id: [u8; 16],
    issued: Timestamp,
}

/// A ticket read from a request.
pub(super) struct DeviceTicket(Token<BYTES>);

impl Device {
    /// Creates a device at `now`.
    pub(super) fn new(id: [u8; 16], now: Timestamp) -> Self {
        Self { id, issued: now }
    }

    /// Returns the device with a ticket issued at `now`, if the ticket is old enough.
    pub(super) fn renewed(self, now: Timestamp) -> Self {
        if now.since(self.issued) < RENEW_AFTER { self } else { Self { issued: now, ..self } }
    }

    /// Writes the ticket.
    pub(super) fn ticket(&self, key: &GuardKey) -> String {
        let mut fields = [0; BYTES];
        fields[..16].copy_from_slice(&self.id);
        fields[16..].copy_from_slice(&self.issued.as_millis().to_be_bytes());
        Token::seal(key, Purpose::Device, &fields, &[])
    }
}

impl DeviceTicket {
    /// Reads a ticket. `None` for a text that is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Token::parse(text).map(Self)
    }

    /// Returns the id of the ticket's key.
    pub(super) fn key(&self) -> u32 {
        self.0.key()
    }

    /// Returns the device, if the ticket is genuine and valid at `now`.
    pub(super) fn device(&self, key: &GuardKey, now: Timestamp) -> Option<Device> {
        let mut fields = Fields::of(self.0.open(key, Purpose::Device, &[])?);
        let id = fields.next()?;
        let issued = Timestamp::from_millis(i64::from_be_bytes(fields.next()?));
        let is_valid = now.since(issued) < VALID_FOR && issued.since(now) <= SKEW_MAX;
        is_valid.then_some(Device { id, issued })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_names_its_device_for_a_week_and_is_renewed_after_a_day() {
        let key = GuardKey::new(7, b"secret");
        let noon = Timestamp::from_millis(1_795_262_400_000);
        let device = Device::new([9; 16], noon);
        let ticket = DeviceTicket::parse(&device.ticket(&key)).unwrap();
        let hour = Duration::from_secs(3_600);
        for (now, is_valid) in [
            (noon, true),
            (noon + VALID_FOR - Duration::from_millis(1), true),
            (noon + VALID_FOR, false),
            (noon - SKEW_MAX, true),
            (noon - SKEW_MAX - Duration::from_millis(1), false),
        ] {
            assert_eq!(ticket.device(&key, now), is_valid.then_some(device), "{now:?}");
        }
        assert_eq!(ticket.device(&GuardKey::new(7, b"other"), noon), None);
        assert_eq!(device.renewed(noon + 23 * hour), device);
        assert_eq!(device.renewed(noon + 24 * hour), Device::new([9; 16], noon + 24 * hour));
    }
}
