//! `?current=`: which page of a list.

use schemars::JsonSchema;
use serde::Deserialize;

/// What is asked of a list that has nothing but pages.
#[derive(Deserialize, JsonSchema)]
pub(super) struct PageQuery {
    /// The page, from 1.
    #[schemars(example = 1)]
    current: Option<u32>,
}

impl PageQuery {
    /// The page: the first, if none is named.
    pub(super) fn number(&self) -> u32 {
        self.current.unwrap_or(1)
    }
}
