//! What can be said of a page's form without looking at it.

use serde_json::{Value, json};

use super::Page;

/// What reaches over the right edge, unless it is in something that scrolls by itself.
const TOO_WIDE: &str = r#"(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    // What is fixed to the window is as wide as the widest of the others; what scrolls by itself may hold wider things.
    const isApart = (part) => part && part !== document.body
        && (getComputedStyle(part).position === "fixed" || getComputedStyle(part).overflowX !== "visible" || isApart(part.parentElement));
    const wide = [...document.body.querySelectorAll("*")]
        .filter((part) => part.getBoundingClientRect().right > width + 1 && !isApart(part.parentElement));
    return [`${document.documentElement.scrollWidth} of ${width}`, ...wide.slice(0, 5).map((part) => part.outerHTML.slice(0, 100))];
})()"#;

impl Page {
    /// Sets the browser's text to 200 %, for the document that is loaded now.
    #[track_caller]
    pub fn enlarges_text(&self) {
        // Twice Chromium's own sizes.
        self.ask("Page.setFontSizes", &json!({ "fontSizes": { "standard": 32, "fixed": 26 } }));
        let size = self.run("parseFloat(getComputedStyle(document.documentElement).fontSize)");
        assert!(size.as_f64().is_some_and(|size| size >= 32.0), "{size}");
    }

    /// Fails if it has to be scrolled sideways.
    #[track_caller]
    pub fn fits(&self) {
        let Value::Array(wide) = self.run(TOO_WIDE) else { panic!("its width cannot be told") };
        assert_eq!(wide, [""; 0], "{} has to be scrolled sideways", self.address());
    }
}
