//! The log, on standard error: for a terminal, a collector of JSON, or the system's journal. Spans for traces
//! are no part of the log.

use std::io::{self, IsTerminal as _};

use mallbox_storage::SPAN_TARGET;
use tracing::Subscriber;
use tracing_subscriber::Layer;
#[cfg(feature = "otlp")]
use tracing_subscriber::Registry;
use tracing_subscriber::filter::{Directive, EnvFilter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::messages::UsageError;
use super::service::journal::{self, WithLevels};
#[cfg(feature = "otlp")]
use super::traces::Traces;
use crate::config::{LogFormat, SiteConfig};

/// What has to live as long as the log: sends the last traces when dropped. Drop outside of any runtime.
#[derive(Default)]
#[must_use]
pub(super) struct LogGuard {
    #[cfg(feature = "otlp")]
    _traces: Option<Traces>,
}

/// Installs the log. `MALLBOX_LOG` filters levels, as in `MALLBOX_LOG=debug`; a second call has no effect.
pub(super) fn start(format: LogFormat) {
    let _ = tracing_subscriber::registry().with(filter()).with(lines(format)).try_init();
    log_panics();
}

/// Installs the log of a server, with the sender of traces if the flags name a collector.
///
/// # Errors
/// [`UsageError`]: the collector's URL or a variable of the environment cannot be used.
pub(super) fn start_for_site(site: &SiteConfig) -> Result<LogGuard, UsageError> {
    #[cfg(feature = "otlp")]
    if let Some(collector) = site.traces.collector().map_err(UsageError::BadCollector)? {
        let traces =
            Traces::start(collector).map_err(|error| UsageError::BadTraceSettings(error.to_string()))?;
        let lines = lines::<Registry>(site.log_format).with_filter(filter());
        let _ = tracing_subscriber::registry().with(lines).with(traces.layer()).try_init();
        log_panics();
        return Ok(LogGuard { _traces: Some(traces) });
    }
    start(site.log_format);
    Ok(LogGuard::default())
}

/// Returns the filter of log lines, without spans for traces.
fn filter() -> EnvFilter {
    let filter = EnvFilter::try_from_env("MALLBOX_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    match format!("{SPAN_TARGET}=off").parse::<Directive>() {
        Ok(no_spans) => filter.add_directive(no_spans),
        Err(_) => filter,
    }
}

fn lines<S>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let lines = tracing_subscriber::fmt::layer();
    match (format, journal::is_standard_error()) {
        (LogFormat::Text, false) => {
            lines.with_writer(io::stderr).with_ansi(io::stderr().is_terminal()).boxed()
        }
        (LogFormat::Json, false) => lines.with_writer(io::stderr).json().flatten_event(true).boxed(),
        // The journal notes the time.
        (LogFormat::Text, true) => {
            lines.with_writer(WithLevels).with_ansi(false).without_time().with_level(false).boxed()
        }
        (LogFormat::Json, true) => lines.with_writer(WithLevels).json().flatten_event(true).boxed(),
    }
}

/// Logs a panic in the format of the log, instead of plain text beside it.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let text = panic.payload_as_str().unwrap_or("no message");
        tracing::error!(place, text, "panicked");
    }));
}
