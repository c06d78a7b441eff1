//! What a directory holds: a mall, a demo, or neither.

use std::path::Path;

use mallbox_storage_embedded::backup::is_exchange_cut_short;

/// The file that marks a demo's directory.
pub(super) const DEMO_MARK: &str = "DEMO";

/// Beginning of the names of a database that a first start had not completed when it ended. The next start
/// makes the database anew.
pub(super) const BEGUN: &str = "mall.sqlite.new";

/// Returns whether the directory holds a mall: also one whose restore was cut short, which the next opening
/// completes.
pub(super) fn is_mall(dir: &Path) -> bool {
    dir.join("mall.sqlite").exists() || is_exchange_cut_short(dir)
}

/// Returns whether the mall in this directory is a demo.
pub(super) fn is_demo(dir: &Path) -> bool {
    dir.join(DEMO_MARK).exists()
}
