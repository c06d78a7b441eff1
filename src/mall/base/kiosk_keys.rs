//! Keys of trusted kiosks: devices in a shop whose buyers need no challenge.
//!
//! Reasons: `src/decisions/0062-kiosk-keys.md`.

use mallbox_storage::{Timestamp, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A trusted kiosk.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Kiosk {
    /// Number of the kiosk, never given again.
    pub id: u32,
    /// Name given by an operator.
    pub name: String,
    /// Time of creation.
    pub created: Timestamp,
    /// SHA-256 of the key, in hexadecimal. The key has 192 random bits: nobody finds it by trying.
    key_hash: String,
}

/// The trusted kiosks of a mall, as stored.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Kiosks {
    last_id: u32,
    kiosks: Vec<Kiosk>,
}

impl Kiosks {
    /// Name of the mall's setting.
    pub const SETTING: &str = "kiosks";
    /// Most kiosks: each claim with a key is compared with all of them.
    pub const KIOSKS_MAX: usize = 100;
    /// Longest key that is looked at, in bytes.
    const KEY_MAX_BYTES: usize = 100;

    /// Returns the kiosks in the order of creation.
    #[must_use]
    pub fn list(&self) -> &[Kiosk] {
        &self.kiosks
    }

    /// Returns the kiosk of a key.
    #[must_use]
    pub fn of_key(&self, key: &str) -> Option<&Kiosk> {
        if self.kiosks.is_empty() || key.len() > Self::KEY_MAX_BYTES {
            return None;
        }
        let hash = key_hash(key);
        // Hashes of guesses say nothing about the key, so that the comparison may take different times.
        self.kiosks.iter().find(|kiosk| kiosk.key_hash == hash)
    }

    /// Returns whether there is a kiosk with the number.
    #[must_use]
    pub fn has(&self, id: u32) -> bool {
        self.kiosks.iter().any(|kiosk| kiosk.id == id)
    }

    /// Returns whether a kiosk has the name.
    #[must_use]
    pub fn has_name(&self, name: &str) -> bool {
        self.kiosks.iter().any(|kiosk| kiosk.name == name)
    }

    /// Adds a kiosk. `None` if there are [`KIOSKS_MAX`](Self::KIOSKS_MAX).
    pub fn add(&mut self, name: &str, key: &str, now: Timestamp) -> Option<Kiosk> {
        if self.kiosks.len() >= Self::KIOSKS_MAX {
            return None;
        }
        self.last_id += 1;
        let (id, name) = (self.last_id, name.to_owned());
        let kiosk = Kiosk { id, name, created: now, key_hash: key_hash(key) };
        self.kiosks.push(kiosk.clone());
        Some(kiosk)
    }

    /// Removes a kiosk. Returns the kiosk; `None` if there is none with this number.
    pub fn remove(&mut self, id: u32) -> Option<Kiosk> {
        let place = self.kiosks.iter().position(|kiosk| kiosk.id == id)?;
        Some(self.kiosks.remove(place))
    }

    /// Returns the stored form.
    #[must_use]
    pub fn to_setting(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the stored form; `None` for a text that no mall writes.
    #[must_use]
    pub fn from_setting(text: Option<&str>) -> Option<Self> {
        text.map_or_else(|| Some(Self::default()), |text| serde_json::from_str(text).ok())
    }
}

fn key_hash(key: &str) -> String {
    hex(&Sha256::digest(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    #[test]
    fn a_key_names_its_kiosk_until_the_kiosk_is_removed() {
        let mut kiosks = Kiosks::default();
        assert_eq!(kiosks.of_key("one"), None);
        let first = kiosks.add("入口", "one", NOON).unwrap();
        let second = kiosks.add("收银台", "two", NOON).unwrap();
        assert_eq!((first.id, second.id), (1, 2));
        let stored = kiosks.to_setting();
        assert!(!stored.contains("one") && !stored.contains("two"), "{stored}");
        let mut kiosks = Kiosks::from_setting(Some(&stored)).unwrap();
        assert_eq!((kiosks.of_key("one"), kiosks.of_key("two")), (Some(&first), Some(&second)));
        for wrong in ["", "One", "one ", &"1".repeat(10_000)] {
            assert_eq!(kiosks.of_key(wrong), None, "{wrong}");
        }
        assert_eq!(kiosks.remove(2), Some(second.clone()));
        assert_eq!((kiosks.of_key("two"), kiosks.has(1), kiosks.has(2)), (None, true, false));
        assert_eq!(kiosks.remove(2), None);
        assert_eq!(kiosks.add("收银台", "three", NOON).unwrap().id, 3, "no number is given again");
    }

    #[test]
    fn the_number_of_kiosks_is_bounded() {
        let mut kiosks = Kiosks::default();
        for number in 0..Kiosks::KIOSKS_MAX {
            assert!(kiosks.add(&number.to_string(), &number.to_string(), NOON).is_some());
        }
        assert_eq!(kiosks.add("one more", "key", NOON), None);
        assert!(kiosks.has_name("99") && !kiosks.has_name("one more"));
        assert_eq!(Kiosks::from_setting(None), Some(Kiosks::default()));
        assert_eq!(Kiosks::from_setting(Some("{")), None);
    }
}
