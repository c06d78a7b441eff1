//! Ports of the catalogue.

pub mod geo_index;
pub mod geo_index_model;
pub mod shops;
pub mod stock;
pub mod vouchers;
pub mod waves;

use crate::case::Case;

/// The cases of the area, by module.
pub(crate) const CASES: &[(&str, &[Case])] = &[
    ("geo_index", geo_index::CASES),
    ("geo_index_model", geo_index_model::CASES),
    ("shops", shops::CASES),
    ("stock", stock::CASES),
    ("vouchers", vouchers::CASES),
    ("waves", waves::CASES),
];
