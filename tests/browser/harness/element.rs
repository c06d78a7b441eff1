//! Elements of a page, located by role and accessible name.
//!
//! Roles and names come from the browser's accessibility tree, as for screen readers: a button without a name
//! is not found.

use std::fmt;

use serde_json::{Value, json};

use super::page::{Page, one_line};
use super::patience::until;

/// Returns the point where a press hits the element, or the reason why none does.
const SPOT: &str = r#"function () {
    if (!this.isConnected) return { why: "it is gone" };
    if (this.matches(":disabled, [aria-disabled=true], [aria-disabled=true] *")) return { why: "it is disabled" };
    this.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const box = [...this.getClientRects()].find(({ width, height }) => width && height);
    if (!box) return { why: "it has no size" };
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const met = document.elementFromPoint(x, y);
    const isMet = this.contains(met) || met?.closest("label")?.control === this;
    return isMet ? { x, y } : { why: `${met?.outerHTML.slice(0, 120)} lies over it` };
}"#;
/// Watches for the next click on the element, or on its equal copy if the page replaces the element. A
/// control that acts on `pointerdown` prevents the default action, and may be gone before the click.
const WATCH_CLICK: &str = r#"function () {
    window.harnessClick?.watch.abort();
    const watch = new AbortController();
    const { promise, resolve } = Promise.withResolvers();
    const isThis = (node) => node === this || (!this.isConnected && node instanceof Node && node.isEqualNode(this));
    const hits = (event) => event.composedPath().some(isThis);
    const click = (event) => hits(event) && resolve(true);
    const down = (event) => event.defaultPrevented && hits(event) && resolve(true);
    addEventListener("click", click, { capture: true, signal: watch.signal });
    addEventListener("pointerdown", down, { signal: watch.signal });
    window.harnessClick = { watch, promise };
}"#;
/// Returns whether the watched press became a click: a touch does only after the browser has ruled out a
/// gesture. A press that opened another document leaves no watch.
const IS_CLICKED: &str = r#"window.harnessClick
    ? Promise.race([harnessClick.promise, new Promise((done) => setTimeout(done, 500, false))]) : true"#;
const CHOOSE: &str = r#"function (wanted) {
    const option = [...this.options].find((option) => option.label.includes(wanted));
    if (!option) return `it offers ${[...this.options].map((option) => option.label)}`;
    this.value = option.value;
    for (const name of ["input", "change"]) this.dispatchEvent(new Event(name, { bubbles: true }));
    return "";
}"#;

/// Scope of a search: a page, or a part of one.
pub trait Place {
    /// Returns the page.
    fn page(&self) -> &Page;

    /// Returns the part searched, or `None` for the whole page.
    fn scope(&self) -> Option<Element<'_>>;

    /// Locates an element of one of the roles whose name equals or contains `name`.
    fn find(&self, roles: &'static [&'static str], name: &str) -> Element<'_> {
        let within = self.scope().map(Box::new);
        Element { page: self.page(), roles, name: one_line(name), saying: String::new(), within, at: None }
    }

    fn button(&self, name: &str) -> Element<'_> {
        self.find(&["button"], name)
    }

    fn link(&self, name: &str) -> Element<'_> {
        self.find(&["link"], name)
    }

    fn heading(&self, name: &str) -> Element<'_> {
        self.find(&["heading"], name)
    }

    /// Locates an input field or a select box.
    fn field(&self, label: &str) -> Element<'_> {
        const FIELDS: &[&str] =
            &["textbox", "searchbox", "spinbutton", "combobox", "slider", "Date", "DateTime", "InputTime"];
        self.find(FIELDS, label)
    }

    /// Locates a checkbox, switch, tab or option.
    fn choice(&self, label: &str) -> Element<'_> {
        self.find(&["checkbox", "switch", "radio", "tab", "option", "menuitemradio"], label)
    }

    fn image(&self, name: &str) -> Element<'_> {
        self.find(&["image", "img"], name)
    }

    /// Locates the table row that contains a text.
    fn row(&self, saying: &str) -> Element<'_> {
        Element { saying: saying.to_owned(), ..self.find(&["row"], "") }
    }

    /// Locates a part of the page to search in.
    fn part(&self, name: &str) -> Element<'_> {
        const PARTS: &[&str] = &[
            "region",
            "dialog",
            "alertdialog",
            "article",
            "listitem",
            "group",
            "form",
            "navigation",
            "main",
            "list",
            "table",
            "complementary",
            "banner",
            "contentinfo",
            "search",
            "tabpanel",
        ];
        self.find(PARTS, name)
    }
}

/// A lazy locator: each use searches again and waits for the element to appear.
#[derive(Clone)]
pub struct Element<'p> {
    page: &'p Page,
    roles: &'static [&'static str],
    name: String,
    saying: String,
    within: Option<Box<Element<'p>>>,
    at: Option<usize>,
}

impl<'p> Element<'p> {
    /// Selects the match with an index, from 0.
    pub fn at(self, at: usize) -> Self {
        Self { at: Some(at), ..self }
    }

    /// Selects the first match.
    pub fn first(self) -> Self {
        self.at(0)
    }

    /// Presses the element by touch or mouse, as soon as possible, and again if the press had no effect on
    /// the element: a page may replace a button between press and release.
    #[track_caller]
    pub fn click(&self) {
        let mut last = None;
        until(&format!("pressing {self}"), || {
            let node = self.node()?;
            let spot = self.call_of(node, SPOT, &[])?;
            if let Some(why) = spot["why"].as_str() {
                return Err(why.to_owned());
            }
            // Not while the element moves or is replaced.
            if last.replace((node, spot.clone())) != Some((node, spot.clone())) {
                return Err("it moves".to_owned());
            }
            self.call_of(node, WATCH_CLICK, &[])?;
            self.page.click_at(spot["x"].as_f64().unwrap(), spot["y"].as_f64().unwrap());
            let is_clicked = until("a press becomes a click", || self.page.evaluate(IS_CLICKED));
            if is_clicked == true { Ok(()) } else { Err("a press was lost".to_owned()) }
        });
    }

    /// Replaces the content with `text`.
    #[track_caller]
    pub fn fill(&self, text: &str) {
        self.does("function () { this.focus(); this.select?.(); return ''; }", &[]);
        self.page.ask("Input.insertText", &json!({ "text": text }));
    }

    /// Sets a date or a time, which users enter part by part.
    #[track_caller]
    pub fn set(&self, value: &str) {
        let set = "function (value) { this.value = value; \
            for (const name of ['input', 'change']) this.dispatchEvent(new Event(name, { bubbles: true })); \
            return this.value === value ? '' : `it keeps ${this.value}`; }";
        self.does(set, &[json!(value)]);
    }

    /// Selects the option whose label contains `label`.
    #[track_caller]
    pub fn choose(&self, label: &str) {
        self.does(CHOOSE, &[json!(label)]);
    }

    /// Waits until the element exists.
    #[track_caller]
    pub fn is_there(&self) {
        until(&format!("{self} is there"), || self.node());
    }

    /// Waits until the element does not exist.
    #[track_caller]
    pub fn is_gone(&self) {
        until(&format!("{self} is gone"), || match self.nodes()?.len() {
            0 => Ok(()),
            some => Err(format!("there are {some}")),
        });
    }

    /// Waits until the element is enabled.
    #[track_caller]
    pub fn is_enabled(&self) {
        self.is_so("is enabled", "function () { return !this.matches(':disabled, [aria-disabled=true]'); }");
    }

    /// Waits until the element is disabled.
    #[track_caller]
    pub fn is_disabled(&self) {
        self.is_so("is disabled", "function () { return this.matches(':disabled, [aria-disabled=true]'); }");
    }

    /// Waits until the element contains a text.
    #[track_caller]
    pub fn sees(&self, text: &str) {
        until(&format!("{self} says “{text}”"), || {
            let shown = self.text_of(self.node()?)?;
            if shown.contains(text) { Ok(()) } else { Err(format!("it says: {shown}")) }
        });
    }

    /// Returns the element's text, once the element exists.
    #[track_caller]
    pub fn text(&self) -> String {
        until(&format!("reading {self}"), || self.text_of(self.node()?))
    }

    /// Returns the value of a field.
    #[track_caller]
    pub fn value(&self) -> String {
        let value =
            until(&format!("reading {self}"), || self.call("function () { return this.value; }", &[]));
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the element has the keyboard focus. A page may move the focus only after it has
    /// drawn what the address asks for.
    #[track_caller]
    pub fn is_focused(&self) {
        self.is_so("has the focus", "function () { return document.activeElement === this; }");
    }

    /// Returns whether the element has the keyboard focus now.
    #[track_caller]
    pub fn has_focus(&self) -> bool {
        self.call("function () { return document.activeElement === this; }", &[])
            .is_ok_and(|it_is| it_is == true)
    }

    #[track_caller]
    fn is_so(&self, what: &str, function: &str) {
        until(&format!("{self} {what}"), || {
            if self.call(function, &[])? == true { Ok(()) } else { Err("it is not".to_owned()) }
        });
    }

    /// Calls a function of the element that returns an empty string, or the reason of its failure.
    #[track_caller]
    fn does(&self, function: &str, args: &[Value]) {
        until(&format!("using {self}"), || match self.call(function, args)?.as_str() {
            Some("") => Ok(()),
            why => Err(why.unwrap_or_default().to_owned()),
        });
    }

    /// Calls a function with the element as `this`.
    fn call(&self, function: &str, args: &[Value]) -> Result<Value, String> {
        self.call_of(self.node()?, function, args)
    }

    fn text_of(&self, node: u64) -> Result<String, String> {
        // An element detached from the page returns its text without spaces.
        let text =
            self.call_of(node, "function () { return this.isConnected ? this.innerText : null; }", &[])?;
        if text.is_null() {
            return Err("it is gone".to_owned());
        }
        Ok(one_line(text.as_str().unwrap_or_default()))
    }

    fn call_of(&self, node: u64, function: &str, args: &[Value]) -> Result<Value, String> {
        let resolved = self.page.try_ask("DOM.resolveNode", &json!({ "backendNodeId": node }))?;
        let args: Vec<_> = args.iter().map(|value| json!({ "value": value })).collect();
        let called = self.page.try_ask(
            "Runtime.callFunctionOn",
            &json!({
                "objectId": resolved["object"]["objectId"], "functionDeclaration": function, "arguments": args,
                "returnByValue": true, "userGesture": true,
            }),
        )?;
        match &called["exceptionDetails"] {
            Value::Null => Ok(called["result"]["value"].clone()),
            thrown => Err(thrown["exception"]["description"].to_string()),
        }
    }

    /// Returns the element's node: of several matches, the one with exactly the given name.
    fn node(&self) -> Result<u64, String> {
        let found = self.nodes()?;
        if let Some(at) = self.at {
            let found = found.get(at).map(|(node, _)| *node);
            return found.ok_or_else(|| "there are not so many".to_owned());
        }
        let mut exact = found.iter().filter(|(_, name)| *name == self.name);
        match (exact.next(), exact.next(), &found[..]) {
            (Some((node, _)), None, _) | (None, _, [(node, _)]) => Ok(*node),
            (None, _, []) => Err(format!("there is none, only {:?}", self.others())),
            (_, _, several) => Err(format!("there are several: {:?}", names(several))),
        }
    }

    fn nodes(&self) -> Result<Vec<(u64, String)>, String> {
        let mut nodes = self.of_role()?;
        nodes.retain(|(_, name)| name.contains(&self.name));
        if !self.saying.is_empty() {
            // A node removed meanwhile has no text.
            nodes.retain(|(node, _)| self.text_of(*node).is_ok_and(|text| text.contains(&self.saying)));
        }
        Ok(nodes)
    }

    /// Returns all elements of the roles, with any name.
    fn of_role(&self) -> Result<Vec<(u64, String)>, String> {
        let root = match &self.within {
            Some(part) => part.node()?,
            None => {
                let document = self.page.try_ask("DOM.getDocument", &json!({ "depth": 0 }))?;
                document["root"]["backendNodeId"].as_u64().ok_or("no document")?
            }
        };
        let mut query = json!({ "backendNodeId": root });
        if let [role] = self.roles {
            query["role"] = json!(role);
        }
        let found = self.page.try_ask("Accessibility.queryAXTree", &query)?;
        let nodes = found["nodes"].as_array().into_iter().flatten();
        let is_meant = |node: &&Value| {
            node["ignored"] != true && self.roles.iter().any(|role| node["role"]["value"] == **role)
        };
        let text_of_node = |node: &Value| {
            let name = one_line(node["name"]["value"].as_str().unwrap_or_default());
            Some((node["backendDOMNodeId"].as_u64()?, name))
        };
        Ok(nodes.filter(is_meant).filter_map(text_of_node).collect())
    }

    fn others(&self) -> Vec<String> {
        names(&self.of_role().unwrap_or_default())
    }
}

fn names(found: &[(u64, String)]) -> Vec<String> {
    found.iter().map(|(_, name)| name.clone()).collect()
}

impl Place for Element<'_> {
    fn page(&self) -> &Page {
        self.page
    }

    fn scope(&self) -> Option<Element<'_>> {
        Some(self.clone())
    }
}

impl fmt::Display for Element<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} “{}”", self.roles[0], if self.saying.is_empty() { &self.name } else { &self.saying })?;
        match &self.within {
            Some(part) => write!(f, " in {part}"),
            None => Ok(()),
        }
    }
}
