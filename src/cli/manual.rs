//! `mallbox manual`: the manual on the terminal.

use std::fmt::Write as _;

use clap::Args;

use super::messages::UsageError;
use super::output::print;
use crate::http::manual;
use crate::language::{Language, padded, sentence};

/// The flags of `manual`.
#[derive(Args)]
pub(super) struct Manual {
    /// The page to print; without a topic, the list of topics.
    topic: Option<String>,
}

/// Prints a topic, or the list of topics.
///
/// # Errors
/// [`UsageError::NoTopic`] with the names of all topics.
pub(super) fn run(Manual { topic }: &Manual, l: Language) -> anyhow::Result<()> {
    let topics = manual::topics(l);
    let Some(topic) = topic else {
        print(&list(&topics, l));
        return Ok(());
    };
    let known = topics.iter().any(|known| known.name == *topic);
    let Some(page) = manual::text(topic, l).filter(|_| known) else {
        let names = topics.into_iter().map(|topic| topic.name).collect();
        return Err(UsageError::NoTopic(topic.clone(), names).into());
    };
    // Only the test needs the marks around the generated table.
    let lines = page.lines().filter(|line| !line.starts_with("<!--"));
    print(&lines.fold(String::new(), |text, line| text + line + "\n"));
    Ok(())
}

/// Lists the topics, a line each, and the next command.
fn list(topics: &[manual::Topic], l: Language) -> String {
    let width = topics.iter().map(|topic| topic.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for manual::Topic { name, title, summary } in topics {
        let _ = match l {
            Language::Zh => writeln!(text, "{}  {title}：{summary}", padded(name, width)),
            Language::En => writeln!(text, "{}  {title}: {summary}", padded(name, width)),
        };
    }
    let name = topics.first().map_or("", |topic| topic.name.as_str());
    text + &sentence!(
        l,
        "\n用`mallbox manual {name}`这样的命令查看一页；运行中的商城在/mall/manual/提供整本手册。\n",
        "\n`mallbox manual {name}` prints a page; a running mall serves the manual at /mall/manual/.\n"
    )
}
