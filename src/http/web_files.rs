//! The files of `web/`, embedded in the binary.

use rust_embed::RustEmbed;

/// All files in `web/`; in a release build with compressed copies (`src/build.rs`).
#[derive(RustEmbed)]
#[cfg_attr(compressed_pages, folder = "$OUT_DIR/web")]
#[cfg_attr(not(compressed_pages), folder = "web/")]
pub(super) struct Web;

/// Returns the text of a file in `web/`.
pub(crate) fn text(name: &str) -> Option<String> {
    String::from_utf8(Web::get(name)?.data.into_owned()).ok()
}
