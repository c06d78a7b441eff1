//! Events of a page in the background: errors, requests in flight, and requests to intercept.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::chromium::{Chromium, Listener};

/// Events of one page so far.
pub struct Events {
    session: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    complaints: Vec<String>,
    /// Requests in flight, each with the document (its loader) that sent the request.
    under_way: HashMap<String, String>,
    cuts: Vec<Interception>,
    hold: Option<Hold>,
    /// Files for the next file dialog.
    files: Vec<PathBuf>,
}

/// An interception: the next request to an address containing this text gets no response.
#[derive(Clone)]
pub struct Interception {
    pub address: String,
    /// Whether the mall receives the request.
    pub was_heard: bool,
}

/// Requests to addresses containing this text wait until released.
struct Hold {
    address: String,
    waiting: Vec<Value>,
}

impl Events {
    pub fn of(session: &str) -> Self {
        Self { session: session.to_owned(), state: Mutex::default() }
    }

    /// Removes and returns the errors.
    pub fn take_complaints(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().complaints)
    }

    /// Returns the number of requests of the current document in flight, without streams.
    pub fn under_way(&self) -> usize {
        self.state.lock().unwrap().under_way.len()
    }

    /// Adds an interception. Returns all interceptions still pending.
    pub fn add_cut(&self, cut: Interception) -> Vec<Interception> {
        let mut state = self.state.lock().unwrap();
        state.cuts.push(cut);
        state.cuts.clone()
    }

    /// Returns whether every interception has happened.
    pub fn all_cut(&self) -> bool {
        self.state.lock().unwrap().cuts.is_empty()
    }

    /// Holds all requests to addresses containing `address`.
    pub fn hold(&self, address: &str) {
        self.state.lock().unwrap().hold = Some(Hold { address: address.to_owned(), waiting: Vec::new() });
    }

    /// Ends the hold. Returns the requests that wait.
    pub fn release(&self) -> Vec<Value> {
        self.state.lock().unwrap().hold.take().map(|hold| hold.waiting).unwrap_or_default()
    }

    /// Sets the files for the next file dialog.
    pub fn will_choose(&self, files: &[PathBuf]) {
        self.state.lock().unwrap().files = files.to_vec();
    }

    fn complain(&self, about: String) {
        self.state.lock().unwrap().complaints.push(about);
    }

    /// Intercepts or holds a request, or lets it continue.
    fn paused(&self, browser: &Chromium, params: &Value) {
        let address = params["request"]["url"].as_str().unwrap_or_default();
        if let Some(hold) = &mut self.state.lock().unwrap().hold
            && address.contains(&hold.address)
        {
            hold.waiting.push(params["requestId"].clone());
            return;
        }
        let was_heard = !params["responseStatusCode"].is_null() || !params["responseErrorReason"].is_null();
        let cut = {
            let cuts = &mut self.state.lock().unwrap().cuts;
            let at = cuts.iter().position(|cut| cut.was_heard == was_heard && address.contains(&cut.address));
            at.map(|at| cuts.remove(at))
        };
        let id = &params["requestId"];
        match cut {
            Some(_) => {
                let params = json!({ "requestId": id, "errorReason": "ConnectionClosed" });
                browser.send(&self.session, "Fetch.failRequest", &params);
            }
            None => browser.send(&self.session, "Fetch.continueRequest", &json!({ "requestId": id })),
        }
    }
}

impl Listener for Events {
    fn hear(&self, browser: &Chromium, event: &str, params: &Value) {
        let request = || params["requestId"].as_str().unwrap_or_default().to_owned();
        match event {
            "Runtime.consoleAPICalled" if matches!(params["type"].as_str(), Some("error" | "assert")) => {
                let words: Vec<String> =
                    params["args"].as_array().into_iter().flatten().map(described).collect();
                self.complain(format!("console: {}", words.join(" ")));
            }
            "Runtime.exceptionThrown" => {
                let details = &params["exceptionDetails"];
                let thrown = described(&details["exception"]);
                self.complain(format!("uncaught: {} {thrown}", details["text"].as_str().unwrap_or_default()));
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                let entry = &params["entry"];
                let part = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
                self.complain(format!("{}: {} {}", part("source"), part("text"), part("url")));
            }
            // The script of a worker has no loader, and its end is reported to the worker alone.
            "Network.requestWillBeSent" if params["type"] != "EventSource" && params["loaderId"] != "" => {
                let loader = params["loaderId"].as_str().unwrap_or_default().to_owned();
                self.state.lock().unwrap().under_way.insert(request(), loader);
            }
            // Chromium reports no end of a request whose document was left before the response.
            "Page.frameNavigated" if params["frame"]["parentId"].is_null() => {
                let current = params["frame"]["loaderId"].as_str().unwrap_or_default();
                self.state.lock().unwrap().under_way.retain(|_, loader| loader == current);
            }
            // A stream read by a script is recognized by the content type of the response.
            "Network.responseReceived" if params["response"]["mimeType"] == "text/event-stream" => {
                self.state.lock().unwrap().under_way.remove(&request());
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                self.state.lock().unwrap().under_way.remove(&request());
            }
            "Fetch.requestPaused" => self.paused(browser, params),
            // Every "are you sure?" is confirmed.
            "Page.javascriptDialogOpening" => {
                browser.send(&self.session, "Page.handleJavaScriptDialog", &json!({ "accept": true }));
            }
            "Page.fileChooserOpened" => {
                let files = std::mem::take(&mut self.state.lock().unwrap().files);
                let params = json!({ "files": files, "backendNodeId": params["backendNodeId"] });
                browser.send(&self.session, "DOM.setFileInputFiles", &params);
            }
            _ => {}
        }
    }
}

/// Formats a script's value.
fn described(value: &Value) -> String {
    match (&value["description"], &value["value"]) {
        (Value::String(text), _) | (_, Value::String(text)) => text.clone(),
        (_, value) => value.to_string(),
    }
}
