//! Ports below every area.

pub mod cache;
pub mod event_subscribers;
pub mod events;
pub mod locks;
pub mod rate_limits;
pub mod retry_groups;
pub mod retry_rush;
pub mod retry_tasks;
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
    ("retry_groups", retry_groups::CASES),
    ("retry_rush", retry_rush::CASES),
    ("retry_tasks", retry_tasks::CASES),
    ("sequences", sequences::CASES),
    ("settings", settings::CASES),
];
