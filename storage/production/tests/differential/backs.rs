//! Creates the back ends under comparison.

use mallbox_storage::{Durability, Storage};
use mallbox_storage_embedded::EmbeddedOptions;
use mallbox_test_servers::MallLocation;

/// An empty back end.
pub struct Back {
    pub storage: Storage,
    _ground: MallLocation,
}

/// Opens the embedded back end in a directory of its own, without power cuts.
pub async fn embedded() -> Back {
    let ground = MallLocation::directory();
    let options = ground.embedded().expect("a directory").clone();
    let options = EmbeddedOptions { durability: Durability::Process, ..options };
    let storage = mallbox_storage_embedded::open(options).await.unwrap();
    Back { storage, _ground: ground }
}

/// Opens the production back end on one Redis and MariaDB.
pub async fn on_one_redis() -> Back {
    on(MallLocation::on_servers()).await
}

/// On a cluster of three masters, and MariaDB.
pub async fn on_a_cluster() -> Back {
    on(MallLocation::on_cluster()).await
}

async fn on(ground: MallLocation) -> Back {
    let storage = ground.open().await;
    Back { storage, _ground: ground }
}
