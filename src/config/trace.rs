//! The flags of traces.

use clap::Args;

use crate::mall::operator::trace_collector::TraceCollector;

/// The flags of traces.
#[derive(Args, Clone, Debug)]
pub struct TraceConfig {
    /// Sends traces to this collector by OTLP over HTTP: http:// or https://, by default at the path
    /// /v1/traces. Spans hold routes, statuses and times, and no personal data.
    #[arg(long, env = "MALLBOX_OTLP", value_name = "URL")]
    pub otlp: Option<String>,
    /// The share of requests that --otlp traces, from 0 to 1.
    #[arg(long, env = "MALLBOX_OTLP_SAMPLE", default_value = "1", value_name = "SHARE", value_parser = share)]
    pub otlp_sample: Share,
}

/// A share from 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Share(f64);

/// A URL of a collector that cannot be used.
#[derive(Debug)]
pub struct CollectorUrlError {
    /// The URL, without user, password and query.
    pub shown: String,
    /// What is wrong with it.
    pub why: String,
}

impl TraceConfig {
    /// Returns the share of requests to trace, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.otlp.is_some() { self.otlp_sample.0 } else { 0.0 }
    }

    /// Returns the collector; `None` without --otlp.
    ///
    /// # Errors
    /// [`CollectorUrlError`]: the URL cannot be used.
    pub fn collector(&self) -> Result<Option<TraceCollector>, CollectorUrlError> {
        let Some(url) = &self.otlp else { return Ok(None) };
        match TraceCollector::new(url) {
            Ok(collector) => Ok(Some(collector)),
            Err(why) => Err(CollectorUrlError { shown: without_secrets(url), why }),
        }
    }
}

/// Removes the parts of a URL that may hold a secret.
fn without_secrets(url: &str) -> String {
    let place = url.split(['?', '#']).next().unwrap_or_default();
    match (place.split_once("://"), place.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        (None, Some((_, rest))) => rest.to_owned(),
        (_, None) => place.to_owned(),
    }
}

fn share(text: &str) -> Result<Share, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.map(Share).ok_or_else(|| "expected a number from 0 to 1, such as 0.01".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_at_most_everything() {
        for (text, expected) in [("0", 0.0), ("1", 1.0), ("0.01", 0.01), ("1e-3", 0.001)] {
            assert_eq!(share(text), Ok(Share(expected)));
        }
        for text in ["-0.1", "1.01", "NaN", "inf", "1%", ""] {
            assert!(share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bad_url_is_shown_without_its_secrets() {
        for (url, shown) in [
            ("https://me:k3y@collector/x?token=k3y", "https://collector/x"),
            ("me:k3y@collector", "collector"),
            ("ftp://collector:21/a#k3y", "ftp://collector:21/a"),
        ] {
            let config = TraceConfig { otlp: Some(url.to_owned()), otlp_sample: Share(1.0) };
            assert_eq!(config.collector().unwrap_err().shown, shown);
        }
    }
}
