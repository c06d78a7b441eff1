//! A request, or the work of a worker, as the code of a rung sees it.

use std::sync::Arc;

use super::gate::Gate;
use super::output::Output;
use super::protocol::Line;
use crate::point::Point;
use crate::trace::{Event, EventKind, Server, now_us};

/// What requests of an instance share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) instance: u8,
    pub(super) is_traced: bool,
    pub(super) gate: Gate,
    pub(super) output: Output,
}

/// A request, or the work of a worker.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    number: Option<u32>,
    user: u64,
    shared: Arc<Shared>,
}

impl Request {
    pub(super) fn new(number: u32, user: u64, shared: &Arc<Shared>) -> Self {
        Self { number: Some(number), user, shared: Arc::clone(shared) }
    }

    /// Returns the work of a worker, for no user yet.
    pub(super) fn of_worker(shared: &Arc<Shared>) -> Self {
        Self { number: None, user: 0, shared: Arc::clone(shared) }
    }

    /// Returns the work of a worker for a user.
    pub(crate) fn of_user(&self, user: u64) -> Self {
        Self { number: None, user, shared: Arc::clone(&self.shared) }
    }

    /// Returns the buyer.
    pub(crate) fn user(&self) -> i64 {
        i64::try_from(self.user).unwrap_or(i64::MAX)
    }

    /// Marks a point. A trigger may hold the request here.
    pub(crate) async fn at(&self, point: Point) {
        let gate = self.shared.gate.at(point);
        self.event(EventKind::Reached { point, is_held: gate.is_some() }, now_us());
        if let Some(mut gate) = gate {
            self.shared.output.line(Line::Held(point));
            // An error is the end of the sender, for which the request waits.
            let _ = gate.changed().await;
            self.event(EventKind::LetGo { point }, now_us());
        }
    }

    /// Returns the start of a call, for [`called`](Self::called).
    pub(super) fn calling(&self) -> u64 {
        if self.shared.is_traced { now_us() } else { 0 }
    }

    /// Reports a call to a server that began at `at_us`.
    pub(super) fn called(&self, at_us: u64, server: Server, words: impl FnOnce() -> (String, String)) {
        if self.shared.is_traced {
            let (text, result) = words();
            self.event(EventKind::Called { server, text, result, until_us: now_us() }, at_us);
        }
    }

    fn event(&self, kind: EventKind, at_us: u64) {
        if self.shared.is_traced {
            let user = (self.user > 0).then_some(self.user);
            let event =
                Event { at_us, request: self.number, user, instance: Some(self.shared.instance), kind };
            self.shared.output.line(Line::Event(event));
        }
    }
}
