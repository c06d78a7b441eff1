//! Whether a page speaks one language: what is in the other one has to be data, which the mall has told it.

use serde_json::Value;

use crate::harness::Page;

/// Remembers what the mall says. To be run before the page asks it anything.
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
/// Words in the other language, wherever a page shows or names something, with no part that is in another language by its own word.
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
/// Names that are the same in Chinese.
const NAMES: &[&str] = &["mallbox", "API", "Redis", "MySQL", "SQLite", "MiB", "PNG", "JPEG", "WebP", "GIF"];

/// Fails if a page that [listens](LISTEN) says something of its own that is not in this language.
#[track_caller]
pub fn speaks(page: &Page, language: &str) {
    let foreign = if language == "zh" { "/[A-Za-z]{3,}/g" } else { "/\\p{Script=Han}+/gu" };
    let Value::Array(mut words) = page.run(&format!("{FOREIGN}({foreign})")) else { panic!("no words") };
    words.retain(|word| !NAMES.contains(&word.as_str().unwrap()));
    assert_eq!(words, [""; 0], "{} does not speak {language} alone", page.address());
}
