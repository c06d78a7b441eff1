//! Layout checks without a picture.

use serde_json::{Value, json};

use super::{Page, Screen};

/// Lists elements that exceed the right edge, except inside a scrolling container.
const TOO_WIDE: &str = r#"(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    // A fixed element is as wide as the widest other; a scrolling container may hold wider elements.
    const isApart = (part) => part && part !== document.body
        && (getComputedStyle(part).position === "fixed" || getComputedStyle(part).overflowX !== "visible" || isApart(part.parentElement));
    const wide = [...document.body.querySelectorAll("*")]
        .filter((part) => part.getBoundingClientRect().right > width + 1 && !isApart(part.parentElement));
    return [`${document.documentElement.scrollWidth} of ${width}`, ...wide.slice(0, 5).map((part) => part.outerHTML.slice(0, 100))];
})()"#;

impl Page {
    /// Sets the browser's text size to 200 % for the current document.
    #[track_caller]
    pub fn enlarges_text(&self) {
        // Twice Chromium's defaults.
        self.ask("Page.setFontSizes", &json!({ "fontSizes": { "standard": 32, "fixed": 26 } }));
        let size = self.run("parseFloat(getComputedStyle(document.documentElement).fontSize)");
        assert!(size.as_f64().is_some_and(|size| size >= 32.0), "{size}");
    }

    /// Changes the window to that of another screen.
    #[track_caller]
    pub fn is_on(&self, screen: Screen) {
        self.ask("Emulation.setDeviceMetricsOverride", &screen.metrics());
    }

    /// Changes the preferred colour scheme to dark.
    #[track_caller]
    pub fn is_dark(&self) {
        self.prefers("dark");
    }

    /// Changes the preferred colour scheme to light.
    #[track_caller]
    pub fn is_light(&self) {
        self.prefers("light");
    }

    #[track_caller]
    pub(super) fn prefers(&self, scheme: &str) {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", &media);
    }

    /// Fails if the page scrolls horizontally.
    #[track_caller]
    pub fn fits(&self) {
        let Value::Array(wide) = self.run(TOO_WIDE) else { panic!("its width cannot be told") };
        assert_eq!(wide, [""; 0], "{} has to be scrolled sideways", self.address());
    }
}
