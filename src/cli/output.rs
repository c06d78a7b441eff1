//! Standard output.

use std::io::Write as _;

/// Writes to standard output; a closed pipe is no error.
pub(super) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
