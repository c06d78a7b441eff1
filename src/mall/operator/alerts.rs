//! Alerts: the state of the mall, posted to a URL of the operators.
//!
//! Reasons: `src/decisions/0077-alerts.md`.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{PageFindings, Timestamp};
use parking_lot::Mutex;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::mall_state::MallState;
use crate::mall::base::chores::{Chore, Every};
use crate::mall::base::sparse_log::SparseLog;
use crate::mall::base::webhook_client::WebhookClient;
use crate::mall::base::{Clock, Context, SystemClock, wall_time};
use crate::mall::selling::FlashSales;

/// Interval between readings of the state. A state that ends before the next reading is not seen.
const READ_EVERY: Duration = Duration::from_secs(10);
/// Timeout for connecting, posting and receiving the head of the response together, in real time.
const POST_TIMEOUT: Duration = Duration::from_secs(5);

/// The URL that alerts are posted to, and the mall they come from.
#[derive(Clone, Debug)]
pub struct AlertReceiver {
    client: WebhookClient,
    mall: MallLabel,
}

/// Where a mall runs, as its operators know it.
#[derive(Clone, Debug, Serialize)]
pub struct MallLabel {
    /// Name of the machine.
    pub machine: String,
    /// Directory of the mall; absent on servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

/// The body of an alert.
#[derive(Serialize)]
struct Alert<'a> {
    #[serde(flatten)]
    mall: &'a MallLabel,
    /// Time in UTC by the clock of the machine, as RFC 3339.
    at: String,
    version: &'static str,
    /// `ok`, `warning` (the mall sells, but something has to be fixed), `trouble` (it cannot sell) or
    /// `not-started`.
    state: &'static str,
    troubles: &'a [String],
    warnings: &'a [String],
    /// The database's pages that did not match their checksums since the start; absent on servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<Pages>,
    /// Command to run next; absent if nothing is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
}

#[derive(Serialize)]
struct Pages {
    damaged: u64,
    repaired: u64,
    changed: u64,
}

/// What an alert says, apart from its time.
struct Content {
    state: &'static str,
    troubles: Vec<String>,
    warnings: Vec<String>,
    pages: Option<PageFindings>,
}

impl Content {
    fn of(state: &MallState) -> Self {
        let (troubles, warnings) = (state.troubles.clone(), state.warnings().cloned().collect::<Vec<_>>());
        let name = match (troubles.as_slice(), warnings.as_slice()) {
            ([], []) => "ok",
            ([], _) => "warning",
            _ => "trouble",
        };
        Self { state: name, troubles, warnings, pages: state.health.pages }
    }

    fn refused_start(reason: String) -> Self {
        Self { state: "not-started", troubles: vec![reason], warnings: Vec::new(), pages: None }
    }

    /// Returns a text that differs if the content does. Numbers in sentences do not count: they move while
    /// a failure lasts.
    fn key(&self) -> String {
        let Self { state, troubles, warnings, pages } = self;
        let sentences: String = troubles.iter().chain(warnings).map(|text| format!("{text}\n")).collect();
        let sentences = sentences.replace(|character: char| character.is_ascii_digit(), "");
        format!("{state}\n{pages:?}\n{sentences}")
    }

    /// Returns the command that tells more.
    fn next_command(&self, mall: &MallLabel) -> Option<String> {
        let has_findings = self.pages.is_some_and(|pages| pages != PageFindings::default());
        match (&mall.directory, self.state) {
            (_, "ok") if !has_findings => None,
            (Some(directory), _) => {
                let check = if has_findings { "verify" } else { "doctor" };
                Some(format!("mallbox {check} --data '{}'", directory.replace('\'', r"'\''")))
            }
            (None, _) => Some("mallbox verify".to_owned()),
        }
    }
}

impl AlertReceiver {
    /// Creates a receiver with an `https://` URL, or an `http://` URL of this machine.
    ///
    /// # Errors
    /// The reason, in one sentence, if the URL cannot be used.
    pub fn new(url: &str, mall: MallLabel) -> Result<Self, String> {
        let client = WebhookClient::new(url).map_err(|error| error.to_string())?;
        Ok(Self { client, mall })
    }

    /// Signs every alert with `secret`.
    #[must_use]
    pub fn signed_with(self, secret: impl Into<String>) -> Self {
        Self { client: self.client.signed_with(secret), ..self }
    }

    /// Posts that the mall did not start. Returns within a few seconds, and logs a failure.
    pub async fn report_refused_start(&self, reason: String) {
        match self.post(&Content::refused_start(reason)).await {
            Ok(()) => tracing::info!("posted to --alert-url that the mall did not start"),
            Err(error) => {
                tracing::error!(%error, "could not post to --alert-url that the mall did not start")
            }
        }
    }

    async fn post(&self, content: &Content) -> Result<(), String> {
        let pages = content.pages.map(|PageFindings { damaged, repaired, changed }| Pages {
            damaged,
            repaired,
            changed,
        });
        let alert = Alert {
            mall: &self.mall,
            at: wall_time::utc(SystemClock.now()),
            version: env!("CARGO_PKG_VERSION"),
            state: content.state,
            troubles: &content.troubles,
            warnings: &content.warnings,
            pages,
            run: content.next_command(&self.mall),
        };
        let body = serde_json::to_vec(&alert).map_err(|error| error.to_string())?;
        self.client.deliver(body, POST_TIMEOUT).await
    }
}

/// Posts the state of the mall at the start, and whenever it changes, until the receiver has it.
pub(in crate::mall) struct PostAlerts {
    every: Every,
    context: Context,
    sales: FlashSales,
    receiver: AlertReceiver,
    /// Key of what the receiver has; empty before the first alert.
    received: Mutex<String>,
    failures: SparseLog,
}

impl PostAlerts {
    pub(in crate::mall) fn new(context: &Context, sales: &FlashSales, receiver: AlertReceiver) -> Self {
        Self {
            every: Every::new(READ_EVERY),
            context: context.clone(),
            sales: sales.clone(),
            receiver,
            received: Mutex::default(),
            failures: SparseLog::default(),
        }
    }
}

#[async_trait]
impl Chore for PostAlerts {
    fn name(&self) -> &'static str {
        "post alerts"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        let state = MallState::read(&self.context, self.sales.challenge_service().map(AsRef::as_ref)).await;
        let content = Content::of(&state);
        let key = content.key();
        if *self.received.lock() == key {
            return;
        }
        match self.receiver.post(&content).await {
            Ok(()) => *self.received.lock() = key,
            Err(error) => {
                if let Some(times) = self.failures.again() {
                    tracing::warn!(%error, times, state = content.state, "could not post an alert to --alert-url");
                }
            }
        }
    }

    async fn run_until(&self, now: Timestamp, stop: &CancellationToken) {
        // A silent receiver must not delay the stop.
        stop.run_until_cancelled(self.run(now)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(troubles: &[&str], pages: PageFindings) -> Content {
        let troubles = troubles.iter().map(ToString::to_string).collect();
        Content { state: "trouble", troubles, warnings: Vec::new(), pages: Some(pages) }
    }

    #[test]
    fn only_another_sentence_or_finding_is_another_content() {
        let none = PageFindings::default();
        let damaged = PageFindings { damaged: 1, ..none };
        let key = |text: &str, pages| content(&[text], pages).key();
        assert_eq!(key("100 claims wait", none), key("2345 claims wait", none));
        assert_ne!(key("100 claims wait", none), key("the disk is full", none));
        assert_ne!(key("pages: 1", none), key("pages: 1", damaged));
        assert_ne!(key("pages: 1", damaged), key("pages: 1", PageFindings { damaged: 2, ..none }));
    }

    #[test]
    fn the_command_fits_the_findings_and_the_place() {
        let in_directory = |directory: &str| MallLabel {
            machine: "kiosk-7".to_owned(),
            directory: Some(directory.to_owned()),
        };
        let (none, damaged) =
            (PageFindings::default(), PageFindings { damaged: 1, ..PageFindings::default() });
        let command = |pages, mall: &MallLabel| content(&["a"], pages).next_command(mall);
        let mall = in_directory("/srv/my mall's");
        assert_eq!(command(damaged, &mall).as_deref(), Some(r"mallbox verify --data '/srv/my mall'\''s'"));
        assert_eq!(command(none, &mall).as_deref(), Some(r"mallbox doctor --data '/srv/my mall'\''s'"));
        let on_servers = MallLabel { directory: None, ..mall.clone() };
        assert_eq!(command(none, &on_servers).as_deref(), Some("mallbox verify"));
        let fine = Content { state: "ok", ..content(&[], none) };
        assert_eq!(fine.next_command(&mall), None);
        let changed = PageFindings { changed: 2, ..none };
        let unwarned = Content { state: "ok", ..content(&[], changed) };
        assert!(unwarned.next_command(&mall).unwrap().contains("verify"));
    }
}
