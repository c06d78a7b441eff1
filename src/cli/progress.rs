//! Progress of long work on files.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Interval between two lines.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// A progress bar on a terminal; elsewhere a line now and then. On standard error.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    last_line_at: Instant,
}

impl Progress {
    /// Creates the progress of work on a number of bytes.
    pub(super) fn new(bytes: u64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(bytes);
            let form = "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta} {msg}";
            if let Ok(style) = ProgressStyle::with_template(form) {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, last_line_at: Instant::now() }
    }

    /// Creates the progress of work whose size is unknown: texts alone.
    pub(super) fn counting() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, last_line_at: Instant::now() }
    }

    /// Shows how many bytes are done: with a short text on the bar, or with a line.
    pub(super) fn show(&mut self, bytes: u64, text: impl FnOnce() -> String, line: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
        }
        self.note(text, line);
    }

    /// Shows a text, or a line.
    pub(super) fn note(&mut self, text: impl FnOnce() -> String, line: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_message(text());
        } else if self.last_line_at.elapsed() >= LINE_INTERVAL {
            self.last_line_at = Instant::now();
            // A write error is ignored: standard error is closed, so nothing can be reported.
            let _ = writeln!(std::io::stderr(), "{}", line());
        }
    }

    /// Changes the number of bytes of the whole work.
    pub(super) fn set_bytes(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(bytes);
        }
    }

    /// Removes the bar.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
