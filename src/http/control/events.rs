//! Events of the mall, for the command line.

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use mallbox_storage::Actor;
use serde::Serialize;

use crate::http::App;
use crate::http::api::operator::events::{Behind, EventsAnswer, PAGE_MAX};
use crate::http::request::extract::{Now, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::mall::base::{By, SubscriberRefusal};
use crate::mall::operator::event_subscribers::SubscriptionForm;
use crate::mall::{Failure, Refusal};

/// Returns the routes of events.
pub(super) fn routes() -> Router<App> {
    Router::new().route("/control/events", get(page)).route("/control/events/keep", post(keep))
}

/// Events shown before the first new one, without a position to begin behind.
const SHOWN_BEFORE: u64 = 10;
/// Name of the subscriber that keeps events for readers.
const LOG_NAME: &str = "log";

/// A page of events.
#[derive(Serialize)]
struct PageAnswer {
    #[serde(flatten)]
    page: EventsAnswer,
    /// Number of subscribers: without one, no events are written.
    subscribers: usize,
}

async fn page(State(app): State<App>, Query(behind): Query<Behind>) -> Reply<PageAnswer> {
    let (subscribers, counts) = app.event_admin.list().await?;
    let ends = counts.ends;
    let newest = ends.head.saturating_sub(SHOWN_BEFORE).max(ends.pruned);
    let page = app.event_admin.after(behind.after.unwrap_or(newest), PAGE_MAX).await?;
    Ok(Answer::ok(PageAnswer { page: page.into(), subscribers: subscribers.len() }))
}

/// Makes a subscriber that keeps events for readers. A repeat succeeds.
async fn keep(State(app): State<App>, Now(now): Now) -> Reply {
    let by = By { actor: Actor::CommandLine, at: now };
    let form = SubscriptionForm {
        name: LOG_NAME.to_owned(),
        target: "log".to_owned(),
        url: None,
        secret: None,
        kinds: Vec::new(),
    };
    match app.event_admin.subscribe(by, form).await {
        Ok(_) | Err(Failure::Refused(Refusal::Subscriber(SubscriberRefusal::NameTaken))) => {
            Ok(Answer::done())
        }
        Err(failure) => Err(failure.into()),
    }
}
