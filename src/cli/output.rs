//! Standard output.

use std::io::Write as _;

/// Writes to standard output. Returns false if nobody reads there any more.
pub(super) fn print_unless_closed(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
}

/// Writes a sentence to standard error; a closed pipe is no error.
pub(super) fn warn(sentence: &str) {
    let _ = writeln!(std::io::stderr(), "mallbox: {sentence}");
}

/// Writes to standard output; a closed pipe is no error.
pub(super) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
