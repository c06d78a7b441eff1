//! The ports of the catalogue: the database, and in memory the index of shops.

use std::sync::Arc;

use mallbox_storage::{CataloguePorts, StoreError};

use crate::geo_index::EmbeddedGeoIndex;
use crate::sqlite::{Database, EmbeddedShops, EmbeddedVouchers, EmbeddedWaves, places};

/// Creates the ports. Reads the places of all shops for the index.
pub(crate) fn ports(database: &Database) -> Result<CataloguePorts, StoreError> {
    Ok(CataloguePorts {
        shops: Arc::new(EmbeddedShops::new(database.clone())),
        geo_index: Arc::new(EmbeddedGeoIndex::of(places(database)?)),
        vouchers: Arc::new(EmbeddedVouchers::new(database.clone())),
        waves: Arc::new(EmbeddedWaves::new(database.clone())),
    })
}
