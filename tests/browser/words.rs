//! Checks that a page uses one language: text in the other language must be data from the mall.

use serde_json::Value;

use crate::harness::Page;

/// Records the mall's responses. Must run before the page's first request.
pub const LISTEN: &str = r#"{
    const heard = window.heard = [];
    const ask = window.fetch;
    window.fetch = async (...asked) => {
        const answer = await ask(...asked);
        (async () => {
            const text = new TextDecoder();
            for await (const part of answer.clone().body ?? []) heard.push(text.decode(part, { stream: true }));
        })().catch(() => {});
        return answer;
    };
}"#;
/// Finds words in the other language in visible text and names, except in parts marked with another language.
const FOREIGN: &str = r#"((foreign) => {
    const shown = [document.title];
    for (const part of document.querySelectorAll("body, body *")) {
        const spoken = part.closest("[lang]");
        if (spoken !== document.documentElement || part.matches("script, style, pre, code") || !part.checkVisibility()) continue;
        for (const name of ["aria-label", "alt", "placeholder", "title"]) shown.push(part.getAttribute(name) ?? "");
        for (const child of part.childNodes) if (child.nodeType === Node.TEXT_NODE) shown.push(child.data);
    }
    // By the mall just now, or on an earlier visit.
    const said = heard.join("") + Object.values(localStorage).join("") + location.href;
    const words = shown.flatMap((text) => text.match(foreign) ?? []);
    return [...new Set(words)].filter((word) => !said.includes(word));
})"#;
/// Names spelled identically in Chinese.
const NAMES: &[&str] =
    &["mallbox", "API", "Redis", "MySQL", "SQLite", "UTC", "MiB", "PNG", "JPEG", "WebP", "GIF"];

/// Fails if a page with [`LISTEN`] shows text of its own in another language.
#[track_caller]
pub fn speaks(page: &Page, language: &str) {
    let foreign = if language == "zh" { "/[A-Za-z]{3,}/g" } else { "/\\p{Script=Han}+/gu" };
    let Value::Array(mut words) = page.run(&format!("{FOREIGN}({foreign})")) else { panic!("no words") };
    words.retain(|word| !NAMES.contains(&word.as_str().unwrap()));
    assert_eq!(words, [""; 0], "{} does not speak {language} alone", page.address());
}
