//! Ports of people.

pub mod codes;
pub mod credits;
pub mod follows;
pub mod personal_data;
pub mod phones;
pub mod second_factors;
pub mod session_records;
pub mod sessions;
pub mod sign_ins;
pub mod users;
pub mod visitors;

use crate::case::Case;

/// The cases of the area, by module.
pub(crate) const CASES: &[(&str, &[Case])] = &[
    ("codes", codes::CASES),
    ("credits", credits::CASES),
    ("follows", follows::CASES),
    ("personal_data", personal_data::CASES),
    ("phones", phones::CASES),
    ("second_factors", second_factors::CASES),
    ("session_records", session_records::CASES),
    ("sessions", sessions::CASES),
    ("sign_ins", sign_ins::CASES),
    ("users", users::CASES),
    ("visitors", visitors::CASES),
];
