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

/// Returns a size in words, such as `12.3 MiB`.
pub(super) fn size_text(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..0x400 => format!("{bytes} B"),
        0x400..0x10_0000 => format!("{} KiB", tenths(1 << 10)),
        0x10_0000..0x4000_0000 => format!("{} MiB", tenths(1 << 20)),
        _ => format!("{} GiB", tenths(1 << 30)),
    }
}
