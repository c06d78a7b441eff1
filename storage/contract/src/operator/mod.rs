//! Ports for operators.

pub mod audit;
pub mod import;

use crate::case::Case;

/// The cases of the area, by module.
pub(crate) const CASES: &[(&str, &[Case])] = &[("audit", audit::CASES), ("import", import::CASES)];
