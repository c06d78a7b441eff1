//! Key events sent to a page.

use serde_json::{Value, json};

/// Returns the events of one key, with modifiers: `Enter`, `Shift+Tab`, `5`.
pub fn strokes(keys: &str) -> [Value; 2] {
    let (held, key) = match keys.strip_prefix("Shift+") {
        Some(key) => (8, key),
        None => (0, keys),
    };
    let (code, number, text) = match key {
        "Tab" => ("Tab", 9, ""),
        "Enter" => ("Enter", 13, "\r"),
        "Escape" => ("Escape", 27, ""),
        " " => ("Space", 32, " "),
        "End" => ("End", 35, ""),
        "Home" => ("Home", 36, ""),
        "ArrowLeft" => ("ArrowLeft", 37, ""),
        "ArrowUp" => ("ArrowUp", 38, ""),
        "ArrowRight" => ("ArrowRight", 39, ""),
        "ArrowDown" => ("ArrowDown", 40, ""),
        written => ("", 0, written),
    };
    let stroke = |kind: &str, text: &str| {
        let mut event = json!({ "type": kind, "key": key, "modifiers": held });
        if !code.is_empty() {
            event["code"] = json!(code);
            event["windowsVirtualKeyCode"] = json!(number);
        }
        if !text.is_empty() {
            event["text"] = json!(text);
        }
        event
    };
    [stroke(if text.is_empty() { "rawKeyDown" } else { "keyDown" }, text), stroke("keyUp", "")]
}
