//! Screenshots of whole pages: for review, and of failed tests.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::Page;

/// Directory for screenshots of failures, named after the test.
const FAILURES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/browser-failures");

impl Page {
    /// Writes a screenshot of the full page, including the part below the fold.
    #[track_caller]
    pub fn take_picture(&self, file: &Path) {
        self.try_picture(file).unwrap_or_else(|why| panic!("no picture {}: {why}", file.display()));
    }

    fn try_picture(&self, file: &Path) -> Result<(), String> {
        let size = self.try_ask("Page.getLayoutMetrics", &json!({}))?["cssContentSize"].clone();
        let whole = json!({
            "captureBeyondViewport": true,
            "clip": { "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1 },
        });
        let taken = self.try_ask("Page.captureScreenshot", &whole)?;
        let bytes = STANDARD.decode(taken["data"].as_str().unwrap_or_default()).map_err(|e| e.to_string())?;
        let written =
            fs::create_dir_all(file.parent().ok_or("no folder")?).and_then(|()| fs::write(file, bytes));
        written.map_err(|error| error.to_string())
    }
}

/// Saves a screenshot for a failing test, if possible.
pub fn save_failure_screenshot(page: &Page) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test").replace("::", "-");
    let free = |number: &usize| !PathBuf::from(format!("{FAILURES}/{test}-{number}.png")).exists();
    let number = (1..100).find(free).unwrap_or(1);
    let file = PathBuf::from(format!("{FAILURES}/{test}-{number}.png"));
    match page.try_picture(&file) {
        Ok(()) => eprintln!("how the page looked: {}", file.display()),
        Err(why) => eprintln!("there is no picture of the page: {why}"),
    }
}
