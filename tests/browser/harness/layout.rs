//! What can be said of a page's form without looking at it.

use serde_json::Value;

use super::Page;

/// What reaches over the right edge, unless it is in something that scrolls by itself.
const TOO_WIDE: &str = r#"(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const wide = [...document.body.querySelectorAll("*")].filter((part) => part.getBoundingClientRect().right > width + 1);
    return [`${document.documentElement.scrollWidth} of ${width}`, ...wide.slice(0, 5).map((part) => part.outerHTML.slice(0, 100))];
})()"#;

impl Page {
    /// Fails if it has to be scrolled sideways.
    #[track_caller]
    pub fn fits(&self) {
        let Value::Array(wide) = self.run(TOO_WIDE) else { panic!("its width cannot be told") };
        assert_eq!(wide, [""; 0], "{} has to be scrolled sideways", self.address());
    }
}
