//! A page from the user's point of view: text, input, and errors.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mallbox_test_patience as patience;
use serde_json::{Value, json};

use super::browser::Profile;
use super::chromium::Listener;
use super::element::{Element, Place};
use super::events::{Events, Interception};
use super::patience::until;
use super::{keyboard, picture};

/// Consecutive checks without activity before a page counts as idle: one request may follow another.
const IDLE_CHECKS: usize = 3;
/// Returns the activity of a page, if any: movement, loading, announcements.
const UNREST: &str = r#"(() => {
    if (document.readyState !== "complete") return "the document is being loaded";
    if (document.fonts.status !== "loaded") return "fonts are being loaded";
    const busy = document.querySelector("[aria-busy=true]");
    if (busy) return "busy: " + busy.outerHTML.slice(0, 80);
    const seen = (image) => {
        if (image.loading !== "lazy") return true;
        const box = image.getBoundingClientRect();
        // Outside the visible part of a horizontal scroller an image is not loaded yet.
        for (let part = image.parentElement; part; part = part.parentElement) {
            const { left, right } = part.getBoundingClientRect();
            const isAside = box.left >= right || box.right <= left;
            if (isAside && getComputedStyle(part).overflowX !== "visible") return false;
        }
        return box.top < innerHeight;
    };
    const image = [...document.images].find((image) => !image.complete && seen(image));
    if (image) return "not loaded: " + image.src;
    const moves = (animation) => animation.playState === "running"
        && animation.effect.getComputedTiming().endTime !== Infinity;
    if (document.getAnimations().some(moves)) return "something moves";
    return "";
})()"#;

/// A page in a [`Browser`](super::Browser). On drop it is closed, and any error not
/// [forgiven](Self::forgive) fails the test.
pub struct Page {
    profile: Arc<Profile>,
    session: String,
    url: String,
    is_touched: bool,
    events: Arc<Events>,
    forgiven: Mutex<Vec<String>>,
}

impl Page {
    pub(super) fn new(profile: &Arc<Profile>, session: &str, url: &str, is_touched: bool) -> Self {
        let events = Arc::new(Events::of(session));
        let listener: Arc<dyn Listener> = Arc::clone(&events) as _;
        profile.chromium.subscribe(session, Arc::downgrade(&listener));
        let page = Self {
            profile: Arc::clone(profile),
            session: session.to_owned(),
            url: url.to_owned(),
            is_touched,
            events,
            forgiven: Mutex::default(),
        };
        for domain in ["Page", "Runtime", "Log", "Network", "DOM"] {
            page.ask(&format!("{domain}.enable"), &json!({}));
        }
        page
    }

    /// Navigates to a path of the mall, as from the address bar.
    #[track_caller]
    pub fn go(&self, path: &str) {
        let went = self.ask("Page.navigate", &json!({ "url": format!("{}{path}", self.url) }));
        assert!(went["errorText"].is_null(), "{path} cannot be opened: {}", went["errorText"]);
        self.loaded();
    }

    /// Reloads the page.
    #[track_caller]
    pub fn reload(&self) {
        self.run("window.isOld = true");
        self.ask("Page.reload", &json!({}));
        until("reloading", || {
            (self.evaluate("!window.isOld")? == true).then_some(()).ok_or("still old".into())
        });
        self.loaded();
    }

    #[track_caller]
    fn loaded(&self) {
        until("loading", || {
            let state = self.evaluate("document.readyState")?;
            if state == "complete" { Ok(()) } else { Err(format!("the document is {state}")) }
        });
    }

    /// Waits until the page visibly contains a text.
    #[track_caller]
    pub fn sees(&self, text: &str) {
        until(&format!("the page says “{text}”"), || {
            let visible = self.visible_text()?;
            if visible.contains(text) { Ok(()) } else { Err(format!("it says: {visible}")) }
        });
    }

    /// Waits until the page does not contain a text.
    #[track_caller]
    pub fn sees_no(&self, text: &str) {
        until(&format!("the page does not say “{text}”"), || {
            let visible = self.visible_text()?;
            if visible.contains(text) { Err(format!("it says: {visible}")) } else { Ok(()) }
        });
    }

    /// Returns the visible text, with single spaces between words.
    #[track_caller]
    pub fn text(&self) -> String {
        self.visible_text().unwrap()
    }

    fn visible_text(&self) -> Result<String, String> {
        let text = self.evaluate("document.body?.innerText ?? ''")?;
        Ok(one_line(text.as_str().unwrap_or_default()))
    }

    /// Returns the address after the host.
    #[track_caller]
    pub fn address(&self) -> String {
        self.run("location.pathname + location.search + location.hash").as_str().unwrap().to_owned()
    }

    /// Waits until the page is at a path.
    #[track_caller]
    pub fn is_at(&self, path: &str) {
        until(&format!("the page is at {path}"), || {
            let at = self.evaluate("location.pathname + location.search + location.hash")?;
            if at == path { Ok(()) } else { Err(format!("it is at {at}")) }
        });
    }

    /// Waits until nothing loads, moves or is announced any more.
    #[track_caller]
    pub fn rests(&self) {
        let mut calm = 0;
        until("the page comes to rest", || {
            let unrest = self.evaluate(UNREST)?;
            let under_way = self.events.under_way();
            calm = if unrest == "" && under_way == 0 { calm + 1 } else { 0 };
            if calm >= IDLE_CHECKS { Ok(()) } else { Err(format!("{unrest} ({under_way} requests)")) }
        });
    }

    /// Presses at a position of the window, by touch or mouse.
    #[track_caller]
    pub fn click_at(&self, x: f64, y: f64) {
        if self.is_touched {
            let points = json!([{ "x": x, "y": y }]);
            self.ask("Input.dispatchTouchEvent", &json!({ "type": "touchStart", "touchPoints": points }));
            self.ask("Input.dispatchTouchEvent", &json!({ "type": "touchEnd", "touchPoints": [] }));
            return;
        }
        for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let params = json!({
                "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1,
            });
            self.ask("Input.dispatchMouseEvent", &params);
        }
    }

    /// Presses at the first position, moves over the others, and lets go at the last: by touch or mouse.
    #[track_caller]
    pub fn drag(&self, positions: impl IntoIterator<Item = (f64, f64)>, pause: Duration) {
        let touch = |kind: &str, points: Value| {
            self.ask("Input.dispatchTouchEvent", &json!({ "type": kind, "touchPoints": points }));
        };
        let mouse = |kind: &str, (x, y): (f64, f64), buttons: u8| {
            let params = json!({
                "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1,
            });
            self.ask("Input.dispatchMouseEvent", &params);
        };
        let mut last = None;
        for (x, y) in positions {
            let points = json!([{ "x": x, "y": y }]);
            match (self.is_touched, last) {
                (true, None) => touch("touchStart", points),
                (true, Some(_)) => touch("touchMove", points),
                (false, None) => mouse("mousePressed", (x, y), 1),
                (false, Some(_)) => mouse("mouseMoved", (x, y), 1),
            }
            last = Some((x, y));
            std::thread::sleep(pause);
        }
        match last {
            Some(_) if self.is_touched => touch("touchEnd", json!([])),
            Some(position) => mouse("mouseReleased", position, 0),
            None => {}
        }
    }

    /// Presses a key, such as `Tab`, `Shift+Tab`, `Enter` or `5`.
    #[track_caller]
    pub fn press(&self, key: &str) {
        for event in keyboard::strokes(key) {
            self.ask("Input.dispatchKeyEvent", &event);
        }
    }

    /// Types at the focus, key by key.
    #[track_caller]
    pub fn types(&self, text: &str) {
        for key in text.chars() {
            self.press(&key.to_string());
        }
    }

    /// Presses the tab key until `wanted` has the focus.
    #[track_caller]
    pub fn tab_to(&self, wanted: &Element) {
        let mut passed = Vec::new();
        wanted.is_there();
        while !wanted.has_focus() {
            passed.push(self.run("document.activeElement.outerHTML.slice(0, 60)").to_string());
            assert!(passed.len() < 150, "the tab key never comes to {wanted}; it passed {passed:#?}");
            self.press("Tab");
        }
    }

    /// Disables the network.
    #[track_caller]
    pub fn go_offline(&self) {
        self.forgive("net::ERR_INTERNET_DISCONNECTED");
        self.set_offline(true);
    }

    /// Enables the network again.
    #[track_caller]
    pub fn go_online(&self) {
        self.set_offline(false);
    }

    #[track_caller]
    fn set_offline(&self, offline: bool) {
        let conditions = json!({
            "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1,
        });
        self.ask("Network.emulateNetworkConditions", &conditions);
    }

    /// Fails the next request to an address containing `address` before it reaches the mall.
    #[track_caller]
    pub fn cut(&self, address: &str) {
        self.add_cut(Interception { address: address.to_owned(), was_heard: false });
    }

    /// Lets the next request to an address containing `address` take effect, and drops the response.
    #[track_caller]
    pub fn lose_answer(&self, address: &str) {
        self.add_cut(Interception { address: address.to_owned(), was_heard: true });
    }

    /// Waits until every interception has happened.
    #[track_caller]
    pub fn was_cut(&self) {
        until("a request is cut", || self.events.all_cut().then_some(()).ok_or("none was made".into()));
    }

    /// Holds all requests to addresses containing `address` back from the mall, until
    /// [`release`](Self::release).
    #[track_caller]
    pub fn hold(&self, address: &str) {
        self.events.hold(address);
        let pattern = json!({ "urlPattern": format!("*{address}*"), "requestStage": "Request" });
        self.ask("Fetch.enable", &json!({ "patterns": [pattern] }));
    }

    /// Lets the held requests continue, and all later ones.
    #[track_caller]
    pub fn release(&self) {
        for request in self.events.release() {
            // The page may have given the request up.
            let _ = self.try_ask("Fetch.continueRequest", &json!({ "requestId": request }));
        }
    }

    #[track_caller]
    fn add_cut(&self, cut: Interception) {
        self.forgive("net::ERR_CONNECTION_CLOSED");
        let patterns: Vec<Value> = self
            .events
            .add_cut(cut)
            .into_iter()
            .map(|Interception { address, was_heard }| {
                let stage = if was_heard { "Response" } else { "Request" };
                json!({ "urlPattern": format!("*{address}*"), "requestStage": stage })
            })
            .collect();
        self.ask("Fetch.enable", &json!({ "patterns": patterns }));
    }

    /// Sets the files for the next file dialog.
    #[track_caller]
    pub fn will_choose(&self, files: &[PathBuf]) {
        self.events.will_choose(files);
        self.ask("Page.setInterceptFileChooserDialog", &json!({ "enabled": true }));
    }

    /// Switches to the print style.
    #[track_caller]
    pub fn print_preview(&self) {
        self.ask("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    }

    /// Ignores errors that contain `text`, because the test causes them.
    pub fn forgive(&self, text: &str) {
        self.forgiven.lock().unwrap().push(text.to_owned());
    }

    /// Fails on any error so far, except forgiven ones.
    #[track_caller]
    pub fn is_content(&self) {
        let forgiven = self.forgiven.lock().unwrap();
        let mut complaints = self.events.take_complaints();
        complaints.retain(|complaint| !forgiven.iter().any(|text| complaint.contains(text)));
        // On a busy machine the mall may respond with a 503, which the page retries.
        complaints.retain(|complaint| !complaint.contains("status of 503") || !patience::is_busy());
        assert_eq!(complaints, [""; 0], "the page at {} complains", self.address());
    }

    /// Runs a script, awaits its promise, and returns the value.
    #[track_caller]
    pub fn run(&self, script: &str) -> Value {
        self.evaluate(script).unwrap_or_else(|why| panic!("{script}: {why}"))
    }

    pub(super) fn evaluate(&self, script: &str) -> Result<Value, String> {
        let params = json!({
            "expression": script, "returnByValue": true, "awaitPromise": true, "userGesture": true,
        });
        let done = self.try_ask("Runtime.evaluate", &params)?;
        match &done["exceptionDetails"] {
            Value::Null => Ok(done["result"]["value"].clone()),
            thrown => Err(format!("{} {}", thrown["text"], thrown["exception"]["description"])),
        }
    }

    #[track_caller]
    pub(super) fn ask(&self, method: &str, params: &Value) -> Value {
        self.try_ask(method, params).unwrap_or_else(|why| panic!("{method}: {why}"))
    }

    pub(super) fn try_ask(&self, method: &str, params: &Value) -> Result<Value, String> {
        self.profile.chromium.command(&self.session, method, params)
    }
}

impl Place for Page {
    fn page(&self) -> &Page {
        self
    }

    fn scope(&self) -> Option<Element<'_>> {
        None
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if std::thread::panicking() {
            picture::save_failure_screenshot(self);
        } else {
            // Events of earlier scripts arrive before the response to this evaluation.
            let _ = self.evaluate("0");
            self.is_content();
        }
        self.profile.chromium.forget(&self.session);
        // The browser may stay, for other pages.
        self.profile.chromium.send(&self.session, "Page.close", &json!({}));
    }
}

/// Collapses white space to single spaces, as displayed.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
