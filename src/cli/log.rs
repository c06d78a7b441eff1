//! The log, on standard error.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

/// Installs the log. `MALLBOX_LOG` filters levels, as in `MALLBOX_LOG=debug`; a second call has no effect.
pub(super) fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_env("MALLBOX_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let _ = match format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    // A panic is logged in the format of the log, instead of plain text beside it.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let text = panic.payload_as_str().unwrap_or("no message");
        tracing::error!(place, text, "panicked");
    }));
}
