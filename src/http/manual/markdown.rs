//! Markdown to HTML: anchors for headings, mall addresses for links between pages, scrolling tables and code.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

use super::INDEX;

/// The address in the text's examples: links to this address lead to the serving mall.
const EXAMPLE: &str = "http://127.0.0.1:8080";

/// A page in HTML, and its headings.
pub(super) struct Rendered {
    pub(super) html: String,
    pub(super) headings: Vec<Heading>,
}

pub(super) struct Heading {
    /// 1 for the page's title.
    pub(super) level: usize,
    pub(super) anchor: String,
    pub(super) text: String,
}

/// Parses a page, without the line ends between Chinese characters.
pub(super) fn events(markdown: &str) -> Vec<Event<'_>> {
    joined_lines(Parser::new_ext(markdown, Options::ENABLE_TABLES).collect())
}

pub(super) fn render(markdown: &str) -> Rendered {
    let events = events(markdown);
    let headings = headings(&events);
    let mut at = headings.iter();
    let mut links_left_out = 0_usize;
    let shown = events.into_iter().filter_map(|event| match event {
        Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
            let id = at.next().map(|heading| CowStr::from(heading.anchor.clone()));
            Some(Event::Start(Tag::Heading { level, id, classes, attrs }))
        }
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => match address(&dest_url) {
            Some(address) => Some(Event::Start(Tag::Link { link_type, dest_url: address.into(), title, id })),
            None => {
                links_left_out += 1;
                None
            }
        },
        Event::End(TagEnd::Link) if links_left_out > 0 => {
            links_left_out -= 1;
            None
        }
        // Marks for the generator of the table of calls; pages have no other HTML.
        Event::Html(_) | Event::InlineHtml(_) => None,
        event => Some(event),
    });
    let mut html = String::new();
    html::push_html(&mut html, shown);
    // Tables and code may be wider than a phone: each scrolls alone, by keyboard too.
    let html = html
        .replace("<table>", "<div class=\"scroll\" tabindex=\"0\"><table>")
        .replace("</table>", "</table></div>")
        .replace("<pre>", "<pre tabindex=\"0\">");
    Rendered { html, headings }
}

/// Returns the address in the mall for a link between files. `None` for a link to a file outside the manual.
fn address(target: &str) -> Option<String> {
    if let Some(path) = target.strip_prefix(EXAMPLE) {
        return Some(path.to_owned());
    }
    if target.starts_with("http") || target.starts_with('#') {
        return Some(target.to_owned());
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, at)| (file, Some(at)));
    let topic = file.strip_suffix(".zh.md").or_else(|| file.strip_suffix(".md"))?;
    if topic.contains('/') {
        return None;
    }
    let topic = if topic == INDEX { "./" } else { topic };
    Some(anchor.map_or_else(|| topic.to_owned(), |anchor| format!("{topic}#{anchor}")))
}

fn headings(events: &[Event]) -> Vec<Heading> {
    let mut headings = Vec::new();
    let mut text = String::new();
    let mut is_inside = false;
    for event in events {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                text.clear();
                is_inside = true;
            }
            Event::Text(part) | Event::Code(part) if is_inside => text += part,
            Event::End(TagEnd::Heading(level)) => {
                is_inside = false;
                headings.push(Heading { level: *level as usize, anchor: anchor(&text), text: text.clone() });
            }
            _ => {}
        }
    }
    headings
}

/// Returns the anchor of a heading by the rule of forges, so that links work in both places.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// Replaces line ends by spaces, and by nothing beside Chinese characters.
pub(super) fn joined_lines(events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let is_chinese = |c: char| c >= '\u{2e80}';
    let mut joined = Vec::with_capacity(events.len());
    let mut last = None::<char>;
    let mut waits = false;
    for event in events {
        if let Event::SoftBreak = event {
            waits = true;
            continue;
        }
        if let Event::Text(text) | Event::Code(text) = &event {
            let next = text.chars().next();
            if waits && !last.is_some_and(is_chinese) && !next.is_some_and(is_chinese) {
                // Before a link or an emphasis begun after the line end.
                let at = joined.iter().rposition(|event| !matches!(event, Event::Start(_)));
                joined.insert(at.map_or(0, |at| at + 1), Event::Text(" ".into()));
            }
            waits = false;
            last = text.chars().last();
        }
        joined.push(event);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_between_files_lead_to_pages_and_others_are_text() {
        for (markdown, html) in [
            ("[a](import.md)", "<p><a href=\"import\">a</a></p>\n"),
            ("[a](import.zh.md#图片)", "<p><a href=\"import#%E5%9B%BE%E7%89%87\">a</a></p>\n"),
            ("[a](index.md)", "<p><a href=\"./\">a</a></p>\n"),
            ("[a](#b)", "<p><a href=\"#b\">a</a></p>\n"),
            ("<http://127.0.0.1:8080/>", "<p><a href=\"/\">http://127.0.0.1:8080/</a></p>\n"),
            ("[`a`](../../tests/a.md) [b](c.md)", "<p><code>a</code> <a href=\"c\">b</a></p>\n"),
            ("a <b onclick=c>d</b>\n\n<script>e</script>", "<p>a d</p>\n"),
        ] {
            assert_eq!(render(markdown).html, html, "{markdown}");
        }
    }

    #[test]
    fn headings_have_the_anchors_that_forges_give_them() {
        for (heading, want) in [
            ("Language, log and exit codes", "language-log-and-exit-codes"),
            ("Payment: `--payment none|sandbox`", "payment---payment-nonesandbox"),
            ("支付：`--payment none|sandbox`", "支付--payment-nonesandbox"),
        ] {
            let rendered = render(&format!("## {heading}\n"));
            assert_eq!(rendered.headings[0].anchor, want);
            assert!(rendered.html.starts_with(&format!("<h2 id=\"{want}\">")), "{}", rendered.html);
        }
    }

    #[test]
    fn lines_of_chinese_are_joined_without_a_space() {
        for (markdown, html) in [
            ("一行，\n又一行", "<p>一行，又一行</p>\n"),
            ("one line\nand another", "<p>one line and another</p>\n"),
            ("用`a`\n和`b`", "<p>用<code>a</code>和<code>b</code></p>\n"),
            ("one\n[link](a.md)", "<p>one <a href=\"a\">link</a></p>\n"),
        ] {
            assert_eq!(render(markdown).html, html, "{markdown}");
        }
    }
}
