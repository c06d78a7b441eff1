//! Log lines for the system's journal: each begins with its level, and carries no time of its own.

use std::io::{self, Write};

use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// Tells whether standard error is connected to the journal: `JOURNAL_STREAM` names its device and inode.
pub(in crate::cli) fn is_standard_error() -> bool {
    let Some(stream) = std::env::var("JOURNAL_STREAM").ok() else { return false };
    let Ok(file) = rustix::fs::fstat(io::stderr()) else { return false };
    stream == format!("{}:{}", file.st_dev, file.st_ino)
}

/// Standard error, with the level of each event as the journal expects it at the begin of a line: `<3>` is an
/// error, `<7>` a debugging message (sd-daemon(3)).
pub(in crate::cli) struct WithLevels;

impl<'a> MakeWriter<'a> for WithLevels {
    type Writer = LevelledLines;

    fn make_writer(&'a self) -> LevelledLines {
        LevelledLines(Level::INFO)
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> LevelledLines {
        LevelledLines(*event.level())
    }
}

/// Writes the lines of one event.
pub(in crate::cli) struct LevelledLines(Level);

impl Write for LevelledLines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let mut lines = Vec::with_capacity(event.len() + 8);
        for line in event.split_inclusive(|byte| *byte == b'\n') {
            lines.extend_from_slice(priority(self.0));
            lines.extend_from_slice(line);
        }
        // In one write: lines of other threads do not come between.
        io::stderr().write_all(&lines)?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Returns what precedes a line that ends the program, for the journal.
pub(in crate::cli) fn error_prefix() -> &'static str {
    if is_standard_error() { "<3>" } else { "" }
}

fn priority(level: Level) -> &'static [u8] {
    match level {
        Level::ERROR => b"<3>",
        Level::WARN => b"<4>",
        Level::INFO => b"<6>",
        Level::DEBUG | Level::TRACE => b"<7>",
    }
}
