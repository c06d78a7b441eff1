//! A page as somebody sees it: what it says, what can be done with it, and whether anything went wrong.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use mallbox_test_patience as patience;
use serde_json::{Value, json};

use super::browser::Profile;
use super::chromium::Listener;
use super::element::{Element, Place};
use super::events::{Cut, Events};
use super::patience::until;
use super::{keyboard, picture};

/// Looks in a row that have to find nothing under way until a page is at rest: one request may follow another.
const CALM_LOOKS: usize = 4;
/// Whether something of a page still moves, loads, or is announced.
const UNREST: &str = r#"(() => {
    if (document.readyState !== "complete") return "the document is being loaded";
    if (document.fonts.status !== "loaded") return "fonts are being loaded";
    const busy = document.querySelector("[aria-busy=true]");
    if (busy) return "busy: " + busy.outerHTML.slice(0, 80);
    const seen = (image) => {
        if (image.loading !== "lazy") return true;
        const box = image.getBoundingClientRect();
        // Further on in a row that is scrolled sideways it is not loaded yet.
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

/// A page in a [`Browser`](super::Browser). When it is dropped, nothing may have gone wrong in it but what was
/// [forgiven](Self::forgive).
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
        profile.chromium.listen(session, Arc::downgrade(&listener));
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

    /// Goes to a path of the mall, as somebody who writes it into the address bar.
    #[track_caller]
    pub fn go(&self, path: &str) {
        let went = self.ask("Page.navigate", &json!({ "url": format!("{}{path}", self.url) }));
        assert!(went["errorText"].is_null(), "{path} cannot be opened: {}", went["errorText"]);
        self.loaded();
    }

    /// Loads it again.
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

    /// Waits until it says this somewhere, visibly.
    #[track_caller]
    pub fn sees(&self, text: &str) {
        until(&format!("the page says “{text}”"), || {
            let said = self.visible_text()?;
            if said.contains(text) { Ok(()) } else { Err(format!("it says: {said}")) }
        });
    }

    /// Waits until it does not say this.
    #[track_caller]
    pub fn sees_no(&self, text: &str) {
        until(&format!("the page does not say “{text}”"), || {
            let said = self.visible_text()?;
            if said.contains(text) { Err(format!("it says: {said}")) } else { Ok(()) }
        });
    }

    /// Everything that it says at present, with one space between words.
    #[track_caller]
    pub fn text(&self) -> String {
        self.visible_text().unwrap()
    }

    fn visible_text(&self) -> Result<String, String> {
        let text = self.evaluate("document.body?.innerText ?? ''")?;
        Ok(one_line(text.as_str().unwrap_or_default()))
    }

    /// What stands in the address after the host.
    #[track_caller]
    pub fn address(&self) -> String {
        self.run("location.pathname + location.search + location.hash").as_str().unwrap().to_owned()
    }

    /// Waits until it is at this path.
    #[track_caller]
    pub fn is_at(&self, path: &str) {
        until(&format!("the page is at {path}"), || {
            let at = self.evaluate("location.pathname + location.search + location.hash")?;
            if at == path { Ok(()) } else { Err(format!("it is at {at}")) }
        });
    }

    /// Waits until nothing is loaded, announced or moved any more.
    #[track_caller]
    pub fn rests(&self) {
        let mut calm = 0;
        until("the page comes to rest", || {
            let unrest = self.evaluate(UNREST)?;
            let under_way = self.events.under_way();
            calm = if unrest == "" && under_way == 0 { calm + 1 } else { 0 };
            if calm >= CALM_LOOKS { Ok(()) } else { Err(format!("{unrest} ({under_way} requests)")) }
        });
    }

    /// Presses what is at this place of the window, with a finger or a mouse.
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

    /// Presses a key, such as `Tab`, `Shift+Tab`, `Enter` or `5`.
    #[track_caller]
    pub fn press(&self, key: &str) {
        for event in keyboard::strokes(key) {
            self.ask("Input.dispatchKeyEvent", &event);
        }
    }

    /// Writes where the focus is, key by key.
    #[track_caller]
    pub fn types(&self, text: &str) {
        for key in text.chars() {
            self.press(&key.to_string());
        }
    }

    /// Goes on with the tab key until the focus is on this.
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

    /// Has no network from now on.
    #[track_caller]
    pub fn go_offline(&self) {
        self.forgive("net::ERR_INTERNET_DISCONNECTED");
        self.set_offline(true);
    }

    /// Has it again.
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

    /// The next request to an address with this in it does not reach the mall.
    #[track_caller]
    pub fn cut(&self, address: &str) {
        self.add_cut(Cut { address: address.to_owned(), was_heard: false });
    }

    /// The next request to an address with this in it is done, and its answer does not come back.
    #[track_caller]
    pub fn lose_answer(&self, address: &str) {
        self.add_cut(Cut { address: address.to_owned(), was_heard: true });
    }

    /// Waits until every request that was to be cut, or to lose its answer, has.
    #[track_caller]
    pub fn was_cut(&self) {
        until("a request is cut", || self.events.all_cut().then_some(()).ok_or("none was made".into()));
    }

    #[track_caller]
    fn add_cut(&self, cut: Cut) {
        self.forgive("net::ERR_CONNECTION_CLOSED");
        let patterns: Vec<Value> = self
            .events
            .add_cut(cut)
            .into_iter()
            .map(|Cut { address, was_heard }| {
                let stage = if was_heard { "Response" } else { "Request" };
                json!({ "urlPattern": format!("*{address}*"), "requestStage": stage })
            })
            .collect();
        self.ask("Fetch.enable", &json!({ "patterns": patterns }));
    }

    /// The next dialog for files is answered with these.
    #[track_caller]
    pub fn will_choose(&self, files: &[PathBuf]) {
        self.events.will_choose(files);
        self.ask("Page.setInterceptFileChooserDialog", &json!({ "enabled": true }));
    }

    /// From now on it looks as on paper.
    #[track_caller]
    pub fn print_preview(&self) {
        self.ask("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    }

    /// Lets what went wrong pass if it says this: it was caused on purpose.
    pub fn forgive(&self, text: &str) {
        self.forgiven.lock().unwrap().push(text.to_owned());
    }

    /// Fails if anything went wrong so far that was not caused on purpose.
    #[track_caller]
    pub fn is_content(&self) {
        let forgiven = self.forgiven.lock().unwrap();
        let mut complaints = self.events.take_complaints();
        complaints.retain(|complaint| !forgiven.iter().any(|text| complaint.contains(text)));
        // A busy machine's mall may ask a page to come again, which the page does.
        complaints.retain(|complaint| !complaint.contains("status of 503") || !patience::is_busy());
        assert_eq!(complaints, [""; 0], "the page at {} complains", self.address());
    }

    /// Runs a script, waits for what it promises, and answers its value.
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
        self.profile.chromium.ask(&self.session, method, params)
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
            picture::of_failure(self);
        } else {
            // What a script has said by now has been told before this is answered.
            let _ = self.evaluate("0");
            self.is_content();
        }
        self.profile.chromium.forget(&self.session);
    }
}

/// With one space wherever there is any, as people read it.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
