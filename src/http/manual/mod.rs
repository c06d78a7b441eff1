//! The manual: `web/manual/`, a Markdown file per topic and language, as text and as pages.
//!
//! Pages link to each other by file name, so that a forge shows working links; [`markdown`] turns file names
//! into addresses of the mall.
//!
//! Reasons and figures: `src/decisions/0024-manual-as-markdown.md`.

mod index;
mod markdown;
mod pages;
mod search;

#[cfg(feature = "cli")]
pub(crate) use index::Topic;
pub(crate) use index::{text, topics};
pub(super) use pages::chapter;
pub(super) use search::entries;

use crate::language::Language;

/// The name of the page with the list of topics.
const INDEX: &str = "index";

/// Returns the path of a topic's file below `web/`.
fn file(topic: &str, language: Language) -> String {
    let ending = match language {
        Language::Zh => "zh.md",
        Language::En => "md",
    };
    format!("manual/{topic}.{ending}")
}
