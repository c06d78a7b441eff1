//! A page of the manual with header, language switch and list of topics.

use std::fmt::Write as _;

use super::markdown::{Heading, render};
use super::{INDEX, text, topics};
use crate::language::{Language, both};

/// Placeholders of `web/manual.html` with their values.
pub(crate) type Chapter = Vec<(&'static str, String)>;

/// Fills the placeholders for a topic, or for the index page with an empty name. `None` for an unknown topic.
pub(crate) fn chapter(topic: &str, language: Language) -> Option<Chapter> {
    let file = match topic {
        "" => INDEX,
        // The index page has one address.
        INDEX => return None,
        topic => topic,
    };
    let page = render(&text(file, language)?);
    let words = |zh, en| both(zh, en).spoken(language).to_owned();
    let switch = match language {
        Language::Zh => "<a class=\"link\" id=\"language\" href=\"?lang=en\" lang=\"en\">English</a>",
        Language::En => "<a class=\"link\" id=\"language\" href=\"?lang=zh\" lang=\"zh-CN\">中文</a>",
    };
    let title = page.headings.first().map(|heading| heading.text.clone()).unwrap_or_default();
    Some(vec![
        ("{lang}", words("zh-CN", "en")),
        ("{tag}", language.tag().to_owned()),
        ("{title}", escaped(&title)),
        ("{manual}", words("手册", "Manual")),
        ("{topics}", words("目录", "Topics")),
        ("{storefront}", words("店面", "Storefront")),
        ("{console}", words("管理台", "Console")),
        ("{skip}", words("跳到正文", "Skip to the content")),
        ("{switch}", switch.to_owned()),
        ("{nav}", contents(topic, &page.headings, language)),
        // Last, because the text may contain the name of a placeholder.
        ("{article}", page.html),
    ])
}

/// Lists the topics as HTML, and below the current topic the sections.
fn contents(at: &str, headings: &[Heading], language: Language) -> String {
    let mut list = String::new();
    for topic in topics(language) {
        let is_here = topic.name == at;
        let mark = if is_here { " aria-current=\"page\"" } else { "" };
        let title = escaped(&topic.title);
        let _ = write!(list, "<li><a href=\"{}\"{mark}>{title}</a>", topic.name);
        if is_here {
            let sections: String = headings
                .iter()
                .filter(|heading| heading.level == 2)
                .map(|heading| {
                    format!("<li><a href=\"#{}\">{}</a></li>", heading.anchor, escaped(&heading.text))
                })
                .collect();
            if !sections.is_empty() {
                let _ = write!(list, "<ul>{sections}</ul>");
            }
        }
        list += "</li>";
    }
    list
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
