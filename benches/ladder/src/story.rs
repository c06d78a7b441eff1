//! The events that explain a result: those of one or two buyers, and what the trigger did.

use std::collections::{BTreeMap, HashSet};

use crate::findings::{Evidence, Findings};
use crate::reply::Reply;
use crate::trace::{Event, EventKind, Server};
use crate::trigger::Trigger;

/// Buyers of a story.
const USERS_MAX: usize = 2;
/// Events of a story.
const EVENTS_MAX: usize = 60;

/// Chooses the events of those whom the failure struck; of the first buyer if nothing failed.
pub(crate) fn choose(evidence: &Evidence, findings: &Findings, events: Vec<Event>) -> Vec<Event> {
    let users = users(evidence, findings);
    let is_told = |event: &Event| match (&event.kind, event.user) {
        // Workers ask again and again for messages.
        (EventKind::Called { .. }, None) => false,
        (_, Some(user)) => users.contains(&user),
        (_, None) => event.request.is_none(),
    };
    let mut called = HashSet::new();
    let mut is_new = |event: &Event| match &event.kind {
        // A request that tries again and again is told once.
        EventKind::Called { text, result, .. } => {
            called.insert((event.request, event.user, text.clone(), result.clone()))
        }
        _ => true,
    };
    let mut story: Vec<Event> = events.into_iter().filter(|event| is_told(event) && is_new(event)).collect();
    story.truncate(EVENTS_MAX);
    let began = story.first().map_or(0, |event| event.at_us);
    for event in &mut story {
        event.at_us -= began;
        if let EventKind::Called { until_us, .. } = &mut event.kind {
            *until_us = until_us.saturating_sub(began);
        }
    }
    story
}

fn users(evidence: &Evidence, findings: &Findings) -> Vec<u64> {
    let mut orders: BTreeMap<u64, u64> = BTreeMap::new();
    for user in &evidence.orders {
        *orders.entry(*user).or_default() += 1;
    }
    let replied = |wanted: fn(&Option<Reply>) -> bool| {
        evidence.replies.iter().filter(move |(_, reply)| wanted(reply)).map(|(user, _)| *user)
    };
    let accepted = || replied(|reply| *reply == Some(Reply::Accepted));
    let mut users: Vec<u64> = Vec::new();
    users.extend(evidence.stuck.iter().take(1));
    if findings.bought_twice > 0 {
        users.extend(orders.iter().find(|(_, orders)| **orders > 1).map(|(user, _)| *user));
    }
    if findings.oversold > 0 && findings.bought_twice == 0 {
        // The last order that was right, and the first one that was not.
        let units = usize::try_from(evidence.units).unwrap_or(0);
        users.extend(evidence.orders.iter().skip(units.saturating_sub(1)).take(2));
    }
    if findings.lost > 0 {
        users.extend(accepted().find(|user| !orders.contains_key(user)));
    }
    if findings.refused_while_left > 0 {
        users.extend(accepted().next());
        let is_refused = |user: &u64| !orders.contains_key(user);
        let mut refused =
            replied(|reply| matches!(reply, Some(Reply::SoldOut | Reply::Busy | Reply::Failed(_))));
        users.extend(refused.find(is_refused));
    }
    if users.is_empty() {
        users.extend(evidence.replies.first().map(|(user, _)| *user));
    }
    users.dedup();
    users.truncate(USERS_MAX);
    users
}

/// Returns the event with which the failure is decided: the place in the story.
pub(crate) fn mistake(trigger: Trigger, story: &[Event]) -> Option<usize> {
    let first = |wanted: &dyn Fn(&Event) -> bool| story.iter().position(wanted);
    let is_refusal = |event: &Event| {
        let EventKind::Replied { reply } = &event.kind else { return false };
        [Reply::SoldOut.name(), Reply::Busy.name()].contains(&reply.as_str())
    };
    match trigger {
        // The second request that passes the check; a refusal; or a check while the first order is not seen.
        Trigger::ThreeAtOnce => {
            let held: Vec<usize> =
                places(story, |event| matches!(event.kind, EventKind::Reached { is_held: true, .. }));
            let next_call = || {
                let first = *held.first()?;
                let is_other =
                    |event: &Event| event.request != story[first].request && is_call(event, Server::Database);
                Some(first + story[first..].iter().position(is_other)?)
            };
            held.get(1).copied().or_else(|| first(&is_refusal)).or_else(next_call)
        }
        // The first thing that the holder does after its lease.
        Trigger::StoppedBeforeWrite | Trigger::StoppedBeforeRelease => {
            let resumed = first(&|event| matches!(event.kind, EventKind::Resumed))?;
            let instance = story[resumed].instance;
            let late = |server| {
                let is_late = |event: &Event| event.instance == instance && is_call(event, server);
                story[resumed..].iter().position(is_late).map(|place| resumed + place)
            };
            let write = late(Server::Database).filter(|_| trigger == Trigger::StoppedBeforeWrite);
            write.or_else(|| late(Server::Redis))
        }
        Trigger::Killed => first(&|event| matches!(event.kind, EventKind::Killed)),
        Trigger::FailedOver => first(&|event| matches!(event.kind, EventKind::FailedOver)),
        Trigger::Returned => {
            let returned = first(&|event| matches!(event.kind, EventKind::UnitsReturned { .. }))?;
            story[returned..].iter().position(is_refusal).map(|place| returned + place)
        }
    }
}

fn places(story: &[Event], wanted: impl Fn(&Event) -> bool) -> Vec<usize> {
    story.iter().enumerate().filter(|(_, event)| wanted(event)).map(|(place, _)| place).collect()
}

fn is_call(event: &Event, server: Server) -> bool {
    matches!(event.kind, EventKind::Called { server: called, .. } if called == server)
}
