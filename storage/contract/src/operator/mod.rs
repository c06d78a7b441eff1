//! Ports for operators.

pub mod archive;
pub mod archive_model;
pub mod audit;
pub mod import;

use crate::case::Case;

/// The cases of the area, by module.
pub(crate) const CASES: &[(&str, &[Case])] = &[
    ("archive", archive::CASES),
    ("archive_model", archive_model::CASES),
    ("audit", audit::CASES),
    ("import", import::CASES),
];
