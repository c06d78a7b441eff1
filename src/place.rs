//! Where a mall keeps its data: opens the chosen back end.

use std::path::Path;

use mallbox_storage::{OpenError, Storage};
use mallbox_storage_embedded::EmbeddedOptions;
#[cfg(feature = "production")]
use mallbox_storage_production::ProductionOptions;

/// Where a mall keeps its data, and with which options to open it.
#[derive(Clone, Debug)]
pub enum Place {
    /// A directory on this machine.
    Embedded(EmbeddedOptions),
    /// Redis and MySQL. Connections live on the runtime that opens them, and end with it.
    #[cfg(feature = "production")]
    Production(ProductionOptions),
}

impl Place {
    /// Returns the data directory of an embedded mall.
    #[must_use]
    pub fn dir(&self) -> Option<&Path> {
        match self {
            Self::Embedded(options) => Some(&options.dir),
            #[cfg(feature = "production")]
            Self::Production(_) => None,
        }
    }

    /// Opens the storage.
    ///
    /// # Errors
    /// [`OpenError`] in words that an operator can act on.
    pub async fn open(&self) -> Result<Storage, OpenError> {
        match self {
            Self::Embedded(options) => mallbox_storage_embedded::open(options.clone()).await,
            #[cfg(feature = "production")]
            Self::Production(options) => mallbox_storage_production::open(options).await,
        }
    }
}

impl From<EmbeddedOptions> for Place {
    fn from(options: EmbeddedOptions) -> Self {
        Self::Embedded(options)
    }
}

#[cfg(feature = "production")]
impl From<ProductionOptions> for Place {
    fn from(options: ProductionOptions) -> Self {
        Self::Production(options)
    }
}
