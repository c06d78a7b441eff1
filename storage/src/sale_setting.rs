//! Settings of a sale that nothing else depends on: JSON in a column, read as a whole.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Guard, Thresholds, WaitingRoom};

/// A setting of a sale.
pub trait SaleSetting: Serialize + DeserializeOwned {
    /// Returns the stored form.
    #[must_use]
    fn to_row(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the stored form; `None` for a text that no mall of this version writes.
    #[must_use]
    fn in_row(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

impl SaleSetting for Guard {}
impl SaleSetting for Thresholds {}
impl SaleSetting for WaitingRoom {}
