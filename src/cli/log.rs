//! The log, on standard error: for a terminal, a collector of JSON, or the system's journal.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;

use super::service::journal::{self, WithLevels};
use crate::config::LogFormat;

/// Installs the log. `MALLBOX_LOG` filters levels, as in `MALLBOX_LOG=debug`; a second call has no effect.
pub(super) fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_env("MALLBOX_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt().with_env_filter(filter);
    let _ = match (format, journal::is_standard_error()) {
        (LogFormat::Text, false) => {
            lines.with_writer(io::stderr).with_ansi(io::stderr().is_terminal()).try_init()
        }
        (LogFormat::Json, false) => lines.with_writer(io::stderr).json().flatten_event(true).try_init(),
        // The journal notes the time.
        (LogFormat::Text, true) => {
            lines.with_writer(WithLevels).with_ansi(false).without_time().with_level(false).try_init()
        }
        (LogFormat::Json, true) => lines.with_writer(WithLevels).json().flatten_event(true).try_init(),
    };
    // A panic is logged in the format of the log, instead of plain text beside it.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let text = panic.payload_as_str().unwrap_or("no message");
        tracing::error!(place, text, "panicked");
    }));
}
