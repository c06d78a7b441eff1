//! Makes the back ends that are compared.

use mallbox_storage::{Durability, EmbeddedOptions, Place, Storage};
use mallbox_test_servers::Ground;

/// A back end with nothing in it.
pub struct Back {
    pub storage: Storage,
    _ground: Ground,
}

/// In a directory of its own. Nobody pulls the plug here.
pub async fn embedded() -> Back {
    let ground = Ground::directory();
    let Place::Embedded(options) = ground.place() else { panic!("a directory") };
    let options = EmbeddedOptions { durability: Durability::Process, ..options.clone() };
    let storage = Storage::open(&Place::Embedded(options)).await.unwrap();
    Back { storage, _ground: ground }
}

/// On one Redis and MariaDB.
pub async fn on_one_redis() -> Back {
    on(Ground::on_servers()).await
}

/// On a cluster of three masters, and MariaDB.
pub async fn on_a_cluster() -> Back {
    on(Ground::on_cluster()).await
}

async fn on(ground: Ground) -> Back {
    let storage = Storage::open(ground.place()).await.unwrap();
    Back { storage, _ground: ground }
}
