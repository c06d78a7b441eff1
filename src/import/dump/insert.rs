//! An `INSERT` or `REPLACE` while its rows are read.

use std::sync::Arc;

use super::error::Position;

/// An `INSERT` with rows still to be read.
pub(super) struct Insert {
    pub(super) table: usize,
    pub(super) part: usize,
    pub(super) began: Position,
    pub(super) replaces: bool,
    pub(super) columns: Meaning,
}

/// Meaning of each value in a row: index of the wanted column, if any, and whether the column is a
/// `TIMESTAMP`.
pub(super) type Meaning = Arc<[(Option<usize>, bool)]>;
