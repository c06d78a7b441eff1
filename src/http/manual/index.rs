//! Topics in the order of the index page, with title, summary and text.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::markdown::joined_lines;
use super::{INDEX, file};
use crate::http::web_files::text as embedded;
use crate::language::Language;

/// One page of the manual.
#[derive(Debug)]
pub(crate) struct Topic {
    /// The name in addresses and on the command line.
    pub(crate) name: String,
    pub(crate) title: String,
    /// The content in a few words.
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "the command line prints summaries"))]
    pub(crate) summary: String,
}

/// Returns the topics on the index page: `- [title](name.md): summary`.
pub(crate) fn topics(language: Language) -> Vec<Topic> {
    let index = text(INDEX, language).unwrap_or_default();
    let mut topics = Vec::new();
    let mut line = String::new();
    let mut link = None;
    for event in joined_lines(Parser::new(&index).collect()) {
        match event {
            Event::Start(Tag::Item) => line.clear(),
            Event::Start(Tag::Link { dest_url, .. }) => link = dest_url.split('.').next().map(str::to_owned),
            Event::Text(text) | Event::Code(text) => line += &text,
            Event::End(TagEnd::Item) => {
                let (title, summary) = line.split_once([':', '：']).unwrap_or((&line, ""));
                if let Some(name) = link.take() {
                    let (title, summary) = (title.to_owned(), summary.trim().to_owned());
                    topics.push(Topic { name, title, summary });
                }
            }
            _ => {}
        }
    }
    topics
}

/// Returns the Markdown of a topic or of the index page.
pub(crate) fn text(topic: &str, language: Language) -> Option<String> {
    let is_name = topic.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    embedded(&file(topic, language)).filter(|_| is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_lists_every_topic_with_its_title_and_a_summary() {
        for language in [Language::En, Language::Zh] {
            let topics = topics(language);
            assert!(topics.len() >= 10, "{topics:?}");
            for Topic { name, title, summary } in topics {
                let page = text(&name, language).unwrap_or_else(|| panic!("{name} is listed and not there"));
                assert!(page.starts_with(&format!("# {title}\n")), "{name}: {title} is not the page's title");
                assert!(!summary.is_empty(), "{name} has no summary");
            }
        }
    }

    #[test]
    fn other_files_are_no_topics() {
        for name in ["", "../core/dom", "index.zh", "nothing", "Index"] {
            assert!(text(name, Language::En).is_none(), "{name}");
        }
    }
}
