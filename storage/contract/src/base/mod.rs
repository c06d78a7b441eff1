//! Ports below every area.

pub mod cache;
pub mod event_subscribers;
pub mod events;
pub mod locks;
pub mod rate_limits;
pub mod sequences;
pub mod settings;

use crate::case::Case;

/// The cases of the area, by module.
pub(crate) const CASES: &[(&str, &[Case])] = &[
    ("cache", cache::CASES),
    ("event_subscribers", event_subscribers::CASES),
    ("events", events::CASES),
    ("locks", locks::CASES),
    ("rate_limits", rate_limits::CASES),
    ("sequences", sequences::CASES),
    ("settings", settings::CASES),
];
