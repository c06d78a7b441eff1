//! Events that a mall owes a subscriber.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use mallbox_storage::{OrderFilter, OrderStatus, Page, Storage};

use super::http;
use super::mall::Person;

/// Rows per page.
const PAGE: u32 = 500;

/// Returns key and kinds of the events of all notes of `people`, and of all orders, as the database has them.
pub async fn due(
    storage: &Storage,
    people: &[Person],
) -> anyhow::Result<BTreeMap<String, Vec<&'static str>>> {
    let mut due = BTreeMap::new();
    for person in people {
        for page in 1.. {
            let notes = storage.writing.notes.of_author(person.id, Page::new(page, PAGE)).await?;
            if notes.is_empty() {
                break;
            }
            due.extend(notes.iter().map(|note| (format!("note/{}", note.id), vec!["note.published"])));
        }
    }
    for page in 1.. {
        let (orders, _) = storage.selling.orders.find(OrderFilter::default(), Page::new(page, PAGE)).await?;
        if orders.is_empty() {
            break;
        }
        for order in orders {
            let kinds = match order.status {
                OrderStatus::Unpaid => vec!["order.accepted"],
                OrderStatus::Cancelled => vec!["order.accepted", "order.cancelled"],
                status => panic!("{status:?}"),
            };
            due.insert(format!("order/{}", order.id), kinds);
        }
    }
    Ok(due)
}

/// Returns whether the mall at `address` has nothing left to deliver to its only subscriber.
pub fn are_done(address: SocketAddr, subscriber: &str) -> anyhow::Result<bool> {
    let metrics = http::ask(address, "GET", "/metrics", "")?.text;
    let gauges = [
        "mallbox_events_waiting".to_owned(),
        // Missing until the relay has run.
        format!("mallbox_event_subscriber_lag{{subscriber={subscriber:?}}}"),
        r#"mallbox_retry_tasks{kind="event-webhook"}"#.to_owned(),
    ];
    Ok(gauges.iter().all(|gauge| metrics.lines().any(|line| line == format!("{gauge} 0"))))
}
