//! The index of the manual's search: every section with heading and text.

use pulldown_cmark::{Event, Tag, TagEnd};
use serde::Serialize;

use super::markdown::{events, render};
use super::{text, topics};
use crate::language::Language;

/// A heading and the text below, up to the next heading.
#[derive(Serialize)]
pub(crate) struct Entry {
    /// The page's address relative to the index page.
    topic: String,
    title: String,
    anchor: String,
    heading: String,
    text: String,
}

/// Returns every section of every topic.
pub(crate) fn entries(language: Language) -> Vec<Entry> {
    topics(language)
        .into_iter()
        .flat_map(|topic| {
            let page = text(&topic.name, language).unwrap_or_default();
            let headings = render(&page).headings;
            let sections = headings.into_iter().zip(sections(&page));
            sections
                .map(|(heading, text)| Entry {
                    topic: topic.name.clone(),
                    title: topic.title.clone(),
                    anchor: heading.anchor,
                    heading: heading.text,
                    text,
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the text of each section without the heading; a space separates blocks and cells.
fn sections(markdown: &str) -> Vec<String> {
    let mut sections = Vec::<String>::new();
    let mut is_heading = false;
    for event in events(markdown) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                sections.push(String::new());
                is_heading = true;
            }
            Event::End(TagEnd::Heading(_)) => is_heading = false,
            Event::Text(part) | Event::Code(part) if !is_heading => {
                if let Some(section) = sections.last_mut() {
                    *section += &part;
                }
            }
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::CodeBlock) => {
                if let Some(section) = sections.last_mut() {
                    section.push(' ');
                }
            }
            _ => {}
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_has_the_text_up_to_the_next_heading() {
        let page = "# A\n\none `two`\nthree\n\n## B\n\n| a | b |\n| --- | --- |\n| c | d |\n\n- e\n- f\n";
        assert_eq!(sections(page), ["one two three ", "a b c d e f "]);
    }
}
