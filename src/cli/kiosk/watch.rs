//! `mallbox kiosk watch`: shows a page of the mall until the page is gone. Then the unit restarts it all.
//!
//! chromium replaces a crashed page and a forbidden address by pages of its own, and waits for a person to
//! reload. Nobody at a kiosk can reload.

use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};

use super::browser::Browser;
use super::key::FRAGMENT;
use super::writing;
use crate::cli::messages::{CommandFailure, KioskFailure};

/// Interval of questions to the browser.
const ASK_INTERVAL: Duration = Duration::from_secs(10);
/// Time without any message, or without the page, after which the browser counts as hung: a busy small
/// computer is slow to start.
const HANG_TIMEOUT: Duration = Duration::from_secs(60);
/// Time of a print preview, which covers and stops the page. With a printer, a preview ends by itself.
const PRINT_TIMEOUT: Duration = Duration::from_secs(30);

/// The arguments of `kiosk watch`.
#[derive(Args)]
pub(in crate::cli) struct Watch {
    /// The address of the page.
    #[arg(value_name = "URL")]
    address: String,
    /// A file with the key of a trusted kiosk, unless missing.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The browser, a chromium, with its flags.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Runs the browser until there is a reason for a restart.
///
/// # Errors
/// Always: the reason.
pub(super) fn run(watch: &Watch) -> anyhow::Result<()> {
    let address = with_key(&watch.address, watch.key.as_deref())?;
    let browser = Browser::start(&watch.command)
        .map_err(|error| CommandFailure::Kiosk(KioskFailure::NoBrowser).with_cause(error))?;
    let reason =
        Screen { browser, origin: origin(&address).to_owned(), pages: Vec::new(), page: None, preview: None }
            .keep(&address);
    Err(CommandFailure::Kiosk(reason).into())
}

/// Adds the key, if any, to the address.
fn with_key(address: &str, file: Option<&Path>) -> anyhow::Result<String> {
    let Some(file) = file else { return Ok(address.to_owned()) };
    let key =
        writing::read(file).map_err(|error| CommandFailure::CannotRead(file.to_owned()).with_cause(error))?;
    Ok(match key {
        Some(key) => format!("{address}{FRAGMENT}{}", String::from_utf8_lossy(&key).trim()),
        None => address.to_owned(),
    })
}

/// Returns scheme, host and port of an address.
fn origin(address: &str) -> &str {
    let host = address.find("://").map_or(0, |at| at + 3);
    address[host..].find(['/', '?', '#']).map_or(address, |end| &address[..host + end])
}

/// The browser and its pages.
struct Screen {
    browser: Browser,
    /// Origin of every address that the page may have.
    origin: String,
    /// Other pages: the empty one of the start, and windows that pages open.
    pages: Vec<String>,
    /// The kiosk's page, once open.
    page: Option<String>,
    /// A print preview, with the time of its opening.
    preview: Option<(String, Instant)>,
}

impl Screen {
    /// Opens the page, and waits for its end.
    fn keep(mut self, address: &str) -> KioskFailure {
        self.browser.send("Target.setDiscoverTargets", &json!({ "discover": true }));
        // The command that opens the page, once the browser has a window.
        let mut opening = None;
        let began = Instant::now();
        let (mut heard, mut asked) = (began, began);
        loop {
            match self.browser.next(ASK_INTERVAL) {
                Ok(message) => {
                    heard = Instant::now();
                    if opening.is_some() && message["id"].as_u64() == opening {
                        self.page = message["result"]["targetId"].as_str().map(str::to_owned);
                        self.close_others();
                    } else if let Some(reason) = self.event(&message) {
                        return reason;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return KioskFailure::BrowserEnded,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let is_late = self.page.is_none() && began.elapsed() >= HANG_TIMEOUT;
            if is_late || heard.elapsed() >= HANG_TIMEOUT {
                return KioskFailure::BrowserHung;
            }
            if self.preview.as_ref().is_some_and(|(_, opened)| opened.elapsed() >= PRINT_TIMEOUT) {
                return KioskFailure::PrintingStuck;
            }
            if opening.is_none() && !self.pages.is_empty() {
                // Over the pipe: the address may have a key, and command lines are public.
                opening = Some(self.browser.send("Target.createTarget", &json!({ "url": address })));
            }
            if asked.elapsed() >= ASK_INTERVAL {
                asked = Instant::now();
                self.browser.send("Browser.getVersion", &json!({}));
            }
        }
    }

    /// Takes an event. Returns a reason to end.
    fn event(&mut self, message: &Value) -> Option<KioskFailure> {
        let params = &message["params"];
        let of_info = params["targetInfo"]["targetId"].as_str();
        let target = of_info.or_else(|| params["targetId"].as_str())?.to_owned();
        let address = params["targetInfo"]["url"].as_str().unwrap_or_default();
        let is_the_page = self.page.as_deref() == Some(&target);
        match message["method"].as_str()? {
            "Target.targetCreated" if params["targetInfo"]["type"] == "page" && !is_the_page => {
                self.pages.push(target);
                if self.page.is_some() {
                    self.close_others();
                }
                None
            }
            "Target.targetInfoChanged" if is_the_page => {
                // "" and about:blank precede the first page.
                let is_other = address.contains("://") && origin(address) != self.origin;
                is_other.then(|| KioskFailure::OtherPage(address.to_owned()))
            }
            "Target.targetInfoChanged" if address.starts_with("chrome://print/") => {
                self.preview.get_or_insert_with(|| (target, Instant::now()));
                None
            }
            "Target.targetCrashed" | "Target.targetDestroyed" if is_the_page => {
                Some(KioskFailure::PageCrashed)
            }
            "Target.targetDestroyed" => {
                self.preview.take_if(|(preview, _)| *preview == target);
                None
            }
            _ => None,
        }
    }

    /// Closes all other pages: nobody at a kiosk can switch between pages.
    fn close_others(&mut self) {
        let page = self.page.as_deref();
        for other in std::mem::take(&mut self.pages) {
            if Some(other.as_str()) != page {
                self.browser.send("Target.closeTarget", &json!({ "targetId": other }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_ends_before_the_path() {
        for (address, want) in [
            ("http://127.0.0.1:8080/?kiosk#kiosk-key=1", "http://127.0.0.1:8080"),
            ("https://mall.example.com", "https://mall.example.com"),
            ("http://127.0.0.1:80801/", "http://127.0.0.1:80801"),
            ("http://a#http://127.0.0.1:8080/", "http://a"),
            ("about:blank", "about:blank"),
        ] {
            assert_eq!(origin(address), want);
        }
    }

    #[test]
    fn a_missing_key_leaves_the_address_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("key");
        let address = "http://127.0.0.1:8080/?kiosk";
        assert_eq!(with_key(address, None).unwrap(), address);
        assert_eq!(with_key(address, Some(&file)).unwrap(), address);
        std::fs::write(&file, "secret\n").unwrap();
        assert_eq!(with_key(address, Some(&file)).unwrap(), format!("{address}#kiosk-key=secret"));
        assert!(with_key(address, Some(dir.path())).is_err());
    }
}
