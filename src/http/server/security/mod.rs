//! Security events: counts, log lines and a list of recent events.
//!
//! Every event is counted. A line in the log, with the target `security`, and an entry of the list have one
//! budget per kind of event, and each client has a share of the budget: during a flood both are left out, and
//! the next line says how many. Values from requests appear in neither, except for a request id of letters
//! and digits: nobody can forge a line.
//!
//! Reasons and figures: `src/decisions/0043-traces-of-attacks.md`.

mod event;
mod history;
mod line_budget;

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use axum::http::Method;
use mallbox_storage::Timestamp;
use parking_lot::Mutex;

use crate::http::request::attempt::Attempt;
use crate::mall::Clock;

use self::event::EVENTS;
use self::history::History;
use self::line_budget::LineBudget;

pub(in crate::http) use self::event::SecurityEvent;
pub(in crate::http) use self::history::{Count, EventRecord, Filter};

/// Counts, log lines and recent events of one process.
pub struct SecurityEvents {
    clock: Arc<dyn Clock>,
    since: Timestamp,
    /// Paths of the API, for the route of an event.
    routes: OnceLock<Vec<&'static str>>,
    budgets: [LineBudget; EVENTS.len()],
    history: Mutex<History>,
}

impl fmt::Debug for SecurityEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecurityEvents").field("since", &self.since).finish_non_exhaustive()
    }
}

/// The request that caused an event.
#[derive(Clone, Copy)]
pub(in crate::http) struct Cause<'a> {
    /// The client's address; `None` for a call from within the machine.
    pub(in crate::http) client: Option<IpAddr>,
    /// User, phone and act.
    pub(in crate::http) attempt: Attempt,
    /// The request's id, restricted to letters, digits and `-_.:`.
    pub(in crate::http) request_id: &'a str,
    /// The request's method.
    pub(in crate::http) method: &'a Method,
    /// The path below the API's prefix; `None` for a page.
    pub(in crate::http) path: Option<&'a str>,
    /// The code of the refusal, `""` for a success.
    pub(in crate::http) code: &'static str,
}

impl SecurityEvents {
    /// Creates an empty record of events, timed by `clock`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let since = clock.now();
        let budgets = std::array::from_fn(|_| LineBudget::default());
        Self { clock, since, routes: OnceLock::new(), budgets, history: Mutex::default() }
    }

    /// Sets the paths of the API, such as `/user/{id}`. The first call counts.
    pub(in crate::http) fn set_routes(&self, routes: Vec<&'static str>) {
        let _ = self.routes.set(routes);
    }

    /// Returns the time from which events are recorded: the start of the process.
    pub(in crate::http) fn since(&self) -> Timestamp {
        self.since
    }

    /// Records the events of a completed request, if any. A request that is neither refused nor a noted act
    /// costs one comparison.
    pub(in crate::http) fn record_request(&self, cause: &Cause<'_>) {
        if cause.code.is_empty() && cause.attempt.act.is_none() {
            return;
        }
        if let Some(event) = SecurityEvent::of(cause.attempt.act, cause.code) {
            self.record(event, cause);
        }
        if cause.code.is_empty() && cause.attempt.is_operator_log_in {
            self.record(SecurityEvent::OperatorLogin, cause);
        }
    }

    /// Records a connection refused by a limit on connections.
    pub(in crate::http) fn record_refused_connection(&self, limit: SecurityEvent, client: IpAddr) {
        let cause = Cause {
            client: Some(client.to_canonical()),
            attempt: Attempt::default(),
            request_id: "",
            method: &Method::OPTIONS,
            path: None,
            code: "BUSY",
        };
        self.record(limit, &cause);
    }

    fn record(&self, event: SecurityEvent, cause: &Cause<'_>) {
        let at = self.clock.now();
        let Some(suppressed) = self.budgets[event as usize].acquire(cause.client) else {
            self.history.lock().count(event, at);
            return;
        };
        let record = self.describe(event, cause, at);
        write_line(&record, suppressed);
        let mut history = self.history.lock();
        history.count(event, at);
        history.push(record);
    }

    fn describe(&self, event: SecurityEvent, cause: &Cause<'_>, at: Timestamp) -> EventRecord {
        let Cause { client, attempt, request_id, method, path, code } = *cause;
        let is_request = !request_id.is_empty();
        EventRecord {
            number: 0,
            at,
            event,
            client,
            user: attempt.user,
            subject: attempt.subject,
            phone: attempt.phone,
            request_id: request_id.to_owned(),
            method: is_request.then(|| known_method(method)),
            route: path.and_then(|path| self.route_of(path)),
            code: (!code.is_empty()).then_some(code),
        }
    }

    /// Returns the route of a path: the fitting one with the fewest parameters.
    pub(super) fn route_of(&self, path: &str) -> Option<&'static str> {
        let routes = self.routes.get()?.iter().copied();
        routes.filter(|route| fits(route, path)).min_by_key(|route| route.matches('{').count())
    }

    /// Writes a line for each kind of event with lines left out and not reported yet.
    pub(in crate::http) fn report_suppressed(&self) {
        for (at, (_, event, _)) in EVENTS.iter().enumerate() {
            let suppressed = self.budgets[at].take_suppressed();
            if suppressed > 0 {
                tracing::warn!(target: "security", event, suppressed, "left out lines of security events");
            }
        }
    }

    /// Returns the counts of every kind of event.
    pub(in crate::http) fn counts(&self) -> Vec<Count> {
        self.history.lock().counts(self.clock.now())
    }

    /// Returns the number of fitting events in the list, and a page of them, newest first.
    pub(in crate::http) fn recent(
        &self,
        filter: Filter,
        skipped: usize,
        max: usize,
    ) -> (usize, Vec<EventRecord>) {
        self.history.lock().recent(filter, skipped, max)
    }

    /// Returns the name of every kind of event, and the number of its events since the start.
    pub(in crate::http) fn totals(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let totals = self.history.lock().totals();
        EVENTS.iter().zip(totals).map(|((_, name, _), total)| (*name, total))
    }
}

/// Writes the line of an event. Values are numbers, addresses, and texts of this program.
fn write_line(record: &EventRecord, suppressed: u64) {
    let EventRecord { event, client, user, subject, phone, request_id, method, route, code, .. } = record;
    let (client, phone) = (client.map(tracing::field::display), phone.map(tracing::field::display));
    let (user_id, subject_id) = (user.map(|user| user.get()), subject.map(|user| user.get()));
    let request_id = (!request_id.is_empty()).then_some(request_id.as_str());
    // One macro call per level, because the level of a line is a constant.
    if event.is_refusal() {
        tracing::warn!(
            target: "security", event = event.name(), client, user_id, subject_id, phone, request_id, method, route,
            code, suppressed, "{}", event.text()
        );
    } else {
        tracing::info!(
            target: "security", event = event.name(), client, user_id, subject_id, phone, request_id, method, route,
            code, suppressed, "{}", event.text()
        );
    }
}

/// Returns the name of a method; `OTHER` for a client's own.
pub(super) fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::PATCH => "PATCH",
        Method::OPTIONS => "OPTIONS",
        _ => "OTHER",
    }
}

/// Returns whether a path has the form of a route such as `/user/{id}`.
fn fits(route: &str, path: &str) -> bool {
    let (mut route, mut path) = (route.split('/'), path.split('/'));
    loop {
        match (route.next(), path.next()) {
            (None, None) => return true,
            (Some(part), Some(value)) if part == value || (part.starts_with('{') && !value.is_empty()) => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::request::attempt::Act;
    use crate::mall::SystemClock;

    static POST: Method = Method::POST;

    fn cause(code: &'static str, act: Option<Act>) -> Cause<'static> {
        Cause {
            client: Some([203, 0, 113, 7].into()),
            attempt: Attempt { act, ..Attempt::default() },
            request_id: "r-1",
            method: &POST,
            path: Some("/user/7"),
            code,
        }
    }

    fn total(events: &SecurityEvents, event: SecurityEvent) -> u64 {
        events.history.lock().totals()[event as usize]
    }

    #[test]
    fn a_route_is_the_one_with_the_fewest_parameters() {
        let events = SecurityEvents::new(Arc::new(SystemClock));
        assert_eq!(events.route_of("/user/7"), None, "no routes yet");
        events.set_routes(vec!["/user/{id}", "/user/me", "/user", "/follow/{id}/{follow}"]);
        for (path, want) in [
            ("/user/me", Some("/user/me")),
            ("/user/7", Some("/user/{id}")),
            ("/user/7%0a client=1.2.3.4", Some("/user/{id}")),
            ("/user/", None),
            ("/user", Some("/user")),
            ("/user/7/x", None),
            ("/follow/7/true", Some("/follow/{id}/{follow}")),
            ("", None),
        ] {
            assert_eq!(events.route_of(path), want, "{path}");
        }
    }

    #[test]
    fn a_flood_is_counted_whole_and_listed_in_part() {
        let events = SecurityEvents::new(Arc::new(SystemClock));
        for _ in 0..1_000 {
            events.record_request(&cause("NOT_LOGGED_IN", None));
        }
        events.record_request(&cause("", Some(Act::SetPassword)));
        assert_eq!(total(&events, SecurityEvent::Unauthenticated), 1_000);
        let (listed, page) = events.recent(Filter::default(), 0, 5_000);
        // A second may end in between; a test of many seconds would be a slow machine's.
        assert!(listed < 1_000 && listed == page.len(), "{listed}");
        assert_eq!(page[0].event, SecurityEvent::PasswordChanged, "another kind has a budget of its own");
        let left_out = events.budgets[SecurityEvent::Unauthenticated as usize].take_suppressed();
        assert!(left_out > 0, "the rest is reported");
    }

    #[test]
    fn what_is_neither_refused_nor_an_act_is_no_event() {
        let events = SecurityEvents::new(Arc::new(SystemClock));
        for code in ["", "SOLD_OUT", "ALREADY_BOUGHT", "NOT_FOUND", "UNAVAILABLE"] {
            events.record_request(&cause(code, None));
        }
        assert_eq!(events.recent(Filter::default(), 0, 10).0, 0);
    }
}
