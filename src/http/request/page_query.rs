//! Queries of several routes: `?current=`, the page number of a list; `?from=&to=`, a range of days.

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

/// A range of days. A further parameter of a route is read by a further [`Query`](super::extract::Query):
/// with `serde(flatten)`, an error could not name the wrong parameter.
#[derive(Deserialize, JsonSchema)]
pub(in crate::http) struct DaysQuery {
    /// The first day; default: six days before the last.
    #[schemars(example = &"2026-11-15")]
    #[serde(default)]
    from: String,
    /// The last day; default: today.
    #[schemars(example = &"2026-11-21")]
    #[serde(default)]
    to: String,
}

impl DaysQuery {
    /// Returns the first and the last day as given; `""` = default.
    pub(in crate::http) fn ends(&self) -> (&str, &str) {
        (&self.from, &self.to)
    }
}
