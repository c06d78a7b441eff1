//! `mallbox events`: shows what happens in a mall.

use clap::{Args, Subcommand};
use serde_json::Value;

use super::control_calls::{self, NextCall};
use super::output::{print, print_unless_closed, warn};
use crate::config::PlaceConfig;
use crate::language::{Language, sentence};

/// Subcommands of `events`.
#[derive(Subcommand)]
pub(super) enum Events {
    /// Shows the newest events, and then each event as it happens.
    Tail(Tail),
    /// Has the mall write events and keep them for 7 days, for `tail` and other readers.
    Keep(Keep),
}

/// Flags of `events tail`.
#[derive(Args)]
pub(super) struct Tail {
    #[command(flatten)]
    mall: PlaceConfig,
    /// Begins behind the event with this position; 0 for the oldest event.
    #[arg(long, value_name = "POSITION")]
    after: Option<u64>,
    /// Prints each event as a line of JSON, for programs.
    #[arg(long)]
    json: bool,
    /// Ends after the newest event instead of waiting for the next.
    #[arg(long)]
    once: bool,
}

/// Flags of `events keep`.
#[derive(Args)]
pub(super) struct Keep {
    #[command(flatten)]
    mall: PlaceConfig,
}

/// Runs the subcommand.
///
/// # Errors
/// One sentence: the mall cannot be read, or was stopped.
pub(super) fn run(events: Events, l: Language) -> anyhow::Result<()> {
    match events {
        Events::Tail(which) => tail(&which, l),
        Events::Keep(Keep { mall }) => {
            control_calls::request(&mall, "POST", "/control/events/keep", l)?;
            print(&sentence!(
                l,
                "商城从现在起写入事件并保留7天。要停止，请在管理台的“事件订阅”中删除log\n",
                "The mall writes events from now on and keeps them for 7 days. To stop, delete log under \
                 Event subscribers in the console\n"
            ));
            Ok(())
        }
    }
}

fn tail(which: &Tail, l: Language) -> anyhow::Result<()> {
    let mut position = which.after;
    let mut is_first = true;
    control_calls::poll(&which.mall, l, |page| {
        let Some(page) = page else { return NextCall::Now(path(position)) };
        if is_first && page["subscribers"].as_u64() == Some(0) {
            warn(&sentence!(
                l,
                "商城没有事件订阅，不写入事件；mallbox events keep 让商城开始写入",
                "the mall has no subscriber and writes no events; mallbox events keep makes it write them"
            ));
        }
        is_first = false;
        let lost = page["lost"].as_u64().unwrap_or_default();
        if lost > 0 {
            warn(&sentence!(
                l,
                "其中{lost}个事件已超过7天，已被清理",
                "{lost} events were older than 7 days and are gone"
            ));
        }
        let events = page["events"].as_array().map(Vec::as_slice).unwrap_or_default();
        let lines: String = events.iter().map(|event| line(event, which.json)).collect();
        let is_open = print_unless_closed(&lines);
        let last = events.last().and_then(|event| event["position"].as_u64());
        let head = page["head"].as_u64().unwrap_or_default();
        position = Some(last.unwrap_or_else(|| position.unwrap_or(head).saturating_add(lost)));
        if !is_open {
            NextCall::End
        } else if position < Some(head) {
            NextCall::Now(path(position))
        } else if which.once {
            NextCall::End
        } else {
            NextCall::Later(path(position))
        }
    })
}

fn path(position: Option<u64>) -> String {
    position
        .map_or_else(|| "/control/events".to_owned(), |position| format!("/control/events?after={position}"))
}

fn line(event: &Value, json: bool) -> String {
    if json {
        return format!("{event}\n");
    }
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let position = event["position"].as_u64().unwrap_or_default();
    format!("{position:>8}  {}  {:<17}  {}  {}\n", text("at"), text("kind"), text("key"), event["data"])
}
