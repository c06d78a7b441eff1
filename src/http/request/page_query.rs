//! `?current=`: the page number of a list.

use schemars::JsonSchema;
use serde::Deserialize;

/// The query of a list with pages only.
#[derive(Deserialize, JsonSchema)]
pub(in crate::http) struct PageQuery {
    /// The page, from 1.
    #[schemars(example = 1)]
    current: Option<u32>,
}

impl PageQuery {
    /// Returns the page number; default 1.
    pub(in crate::http) fn number(&self) -> u32 {
        self.current.unwrap_or(1)
    }
}
