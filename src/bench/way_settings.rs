//! The settings of a comparison of ways, as results publish them.

use serde_json::json;

use super::about_way::AboutWay;
use super::result::Settings;

/// Returns the settings of a comparison.
pub(super) fn way_settings<W>(
    ways: &[&'static W],
    is_quick: bool,
    repeat: usize,
    servers: Option<&(String, String)>,
) -> Settings
where
    AboutWay: From<&'static W>,
{
    let servers = if servers.is_some() { "given" } else { "started by the bench" };
    let names: Vec<_> = ways.iter().map(|way| AboutWay::from(*way).way).collect();
    [
        ("ways", json!(names)),
        ("quick", json!(is_quick)),
        ("repeat", json!(repeat)),
        ("servers", json!(servers)),
    ]
    .into()
}
