//! A fresh, empty back end per case.

use mallbox_storage::{EmbeddedOptions, Place, Storage, Timestamp};
use tempfile::TempDir;

/// Noon of 2026-11-21, UTC.
pub const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

/// One back end with nothing in it.
pub struct World {
    /// Its ports.
    pub storage: Storage,
    place: Place,
    _dir: TempDir,
}

impl World {
    /// Stops the back end and opens what is on disk. Crashes are the business of `tests/`.
    pub async fn reopen(self) -> Self {
        let Self { storage, place, _dir } = self;
        storage.upkeep.close().await.unwrap();
        drop(storage);
        let storage = Storage::open(&place).unwrap();
        Self { storage, place, _dir }
    }
}

/// An embedded one, in a directory of its own.
pub fn embedded() -> World {
    let dir = TempDir::new().unwrap();
    let place = Place::Embedded(EmbeddedOptions::new(dir.path().join("mall")));
    let storage = Storage::open(&place).unwrap();
    World { storage, place, _dir: dir }
}
