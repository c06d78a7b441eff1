//! Lifetimes of sessions, the user's own list, and what a token alone cannot do.

use std::sync::Arc;
use std::time::Duration;

use mallbox::mall::people::accounts::{Accounts, Client, Credential, PASSWORD_AFTER_CODE, SentCode};
use mallbox::mall::people::sms::Inbox;
use mallbox::mall::{Context, InputError, Random, Refusal, UserAdmin};
use mallbox_storage::{Role, SessionOrigin, UserId};

use super::super::operator::users::Meanwhile;
use super::world::{ANNE, BOB, World, mistake, refusal, world};

const MS: Duration = Duration::from_millis(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const GOOD: &str = "correct horse";
const OTHER: &str = "battery staple";

/// Uses a session every 20 minutes until `until` after the present. Returns whether the session was live at
/// each use.
async fn use_until(w: &World, token: &str, until: Duration) -> bool {
    let end = w.now() + until;
    let mut is_live = true;
    while w.now() < end {
        w.clock.advance(end.since(w.now()).min(20 * MINUTE));
        is_live &= w.now() == end || w.who(token).await.is_some();
    }
    is_live
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_after_thirty_days_however_much_it_is_used() {
    let w = world().await;
    let token = w.log_in(ANNE).await;
    assert!(use_until(&w, &token, 30 * 24 * HOUR - MS).await);
    assert!(w.who(&token).await.is_some());
    w.clock.advance(MS);
    assert_eq!(w.who(&token).await, None, "dead at the exact instant");
    assert_eq!(w.storage.people.sessions.list(UserId::new(1), w.now()).await.unwrap(), [], "and removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operators_session_ends_after_twelve_hours() {
    let w = world().await;
    w.people.grant(ANNE, w.by()).await.unwrap();
    let token = w.log_in(ANNE).await;
    assert!(use_until(&w, &token, 12 * HOUR - MS).await);
    let session = w.session(&token).await;
    assert_eq!(w.accounts.role_in(&session, w.now()).await.unwrap(), Some(Role::Operator));
    w.clock.advance(MS);
    assert_eq!(w.who(&token).await, None, "for calls of customers as well");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_becomes_an_operator_keeps_no_old_session_for_operators_calls() {
    let w = world().await;
    let (old, bob) = (w.log_in(ANNE).await, w.log_in(BOB).await);
    assert!(use_until(&w, &old, 12 * HOUR).await);
    let young = w.log_in(ANNE).await;
    w.people.grant(ANNE, w.by()).await.unwrap();
    let session = w.session(&young).await;
    assert_eq!(w.accounts.role_in(&session, w.now()).await.unwrap(), Some(Role::Operator));
    let session = w.session(&old).await;
    assert_eq!(w.accounts.operator_refusal(&session, w.now()).await.unwrap(), Some(Refusal::NotLoggedIn));
    assert_eq!(w.who(&old).await, None, "such a call ends the session");
    assert_eq!(w.who(&bob).await, None, "half an hour without use still ends any session");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customers_session_may_be_older_than_an_operators() {
    let w = world().await;
    let token = w.log_in(ANNE).await;
    assert!(use_until(&w, &token, 13 * HOUR).await);
    let session = w.session(&token).await;
    assert_eq!(w.accounts.role_in(&session, w.now()).await.unwrap(), Some(Role::Customer));
    assert!(w.who(&token).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_alone_sets_no_password() {
    let w = world().await;
    let token = w.log_in(ANNE).await;
    w.clock.advance(PASSWORD_AFTER_CODE - MS);
    let session = w.session(&token).await;
    w.clock.advance(MS);
    let answer = w.accounts.set_password(&session, None, GOOD, w.now()).await;
    assert_eq!(refusal(answer), Refusal::CodeLoginNeeded, "too late at the exact instant");
    let answer = w.accounts.set_password(&session, Some("guessed it"), GOOD, w.now()).await;
    assert_eq!(refusal(answer), Refusal::CodeLoginNeeded);
    assert_eq!(w.storage.people.users.password(session.user()).await.unwrap(), None);

    let session = w.session(&w.log_in(ANNE).await).await;
    w.clock.advance(PASSWORD_AFTER_CODE - MS);
    w.accounts.set_password(&session, None, GOOD, w.now()).await.unwrap();
    // A session begun by the password proves no phone.
    let session = w.session(&w.try_password(ANNE, GOOD).await.unwrap()).await;
    let answer = w.accounts.set_password(&session, None, OTHER, w.now()).await;
    assert_eq!(mistake(answer), InputError::Missing("oldPassword"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_password_is_replaced_after_a_log_in_by_code() {
    let w = world().await;
    let session = w.session(&w.log_in(ANNE).await).await;
    w.accounts.set_password(&session, None, GOOD, w.now()).await.unwrap();
    w.clock.advance(PASSWORD_AFTER_CODE);
    let session = w.session(&w.log_in(ANNE).await).await;
    let wrong = w.accounts.set_password(&session, Some(OTHER), OTHER, w.now()).await;
    assert_eq!(mistake(wrong), InputError::OldPassword, "an old password that is given is checked");
    w.accounts.set_password(&session, None, OTHER, w.now()).await.unwrap();
    w.try_password(ANNE, OTHER).await.unwrap();
    assert_eq!(mistake(w.try_password(ANNE, GOOD).await), InputError::Password);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_password_ends_all_other_sessions() {
    let w = world().await;
    let thief = w.log_in(ANNE).await;
    w.advance_ms(55_000);
    let (token, bob) = (w.log_in(ANNE).await, w.log_in(BOB).await);
    let session = w.session(&token).await;
    w.accounts.set_password(&session, None, GOOD, w.now()).await.unwrap();
    assert_eq!(w.who(&thief).await, None);
    let by_password = w.try_password(ANNE, GOOD).await.unwrap();
    w.accounts.set_password(&session, Some(GOOD), OTHER, w.now()).await.unwrap();
    assert_eq!(w.who(&by_password).await, None);
    assert!(w.who(&token).await.is_some(), "this one stays");
    assert!(w.who(&bob).await.is_some(), "and others' do");
}

/// Returns the service with an action that runs after the next log-in has checked its proof, and before its
/// session begins.
pub fn meanwhile(w: &World, action: impl Future<Output = ()> + Send + 'static) -> Accounts {
    let zone = jiff::tz::TimeZone::UTC;
    let mut storage = w.storage.clone();
    storage.people.sessions = Arc::new(Meanwhile::new(w.storage.people.sessions.clone(), action));
    let context = Context::new(storage, w.clock.clone(), zone, Arc::default());
    let inbox = Arc::new(Inbox::default());
    Accounts::new(context, Arc::new(Random::seeded(9)), inbox.clone(), Some(inbox))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_in_by_the_old_password_does_not_outlive_the_change() {
    let w = Arc::new(world().await);
    let session = w.session(&w.log_in(ANNE).await).await;
    w.accounts.set_password(&session, None, GOOD, w.now()).await.unwrap();
    let change = {
        let w = w.clone();
        async move { w.accounts.set_password(&session, Some(GOOD), OTHER, w.now()).await.unwrap() }
    };
    let accounts = meanwhile(&w, change);
    let log_in = accounts.log_in(ANNE, Credential::Password(GOOD), Client::default(), w.now()).await;
    assert_eq!(mistake(log_in), InputError::Password);
    assert_eq!(w.accounts.end_other_sessions(&session).await.unwrap(), 0, "no session is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_in_with_the_old_phone_does_not_outlive_the_change() {
    let w = world().await;
    let user = w.user(ANNE).await;
    w.advance_ms(55_000);
    let random = Arc::new(Random::seeded(8));
    let context = Context::new(w.storage.clone(), w.clock.clone(), jiff::tz::TimeZone::UTC, Arc::default());
    let (people, by) = (UserAdmin::new(context, w.audit.clone(), random), w.by());
    let change = async move {
        people.set_phone(user, "13900000077", "lost", by).await.unwrap();
    };
    let accounts = meanwhile(&w, change);
    accounts.send_code(ANNE, &Client::default(), w.now()).await.unwrap();
    let code = accounts.inbox(ANNE).unwrap().unwrap();
    let log_in = accounts
        .log_in(ANNE, Credential::Code(SentCode::without_ticket(&code)), Client::default(), w.now())
        .await;
    assert_eq!(mistake(log_in), InputError::NoCode);
    assert_eq!(w.storage.people.sessions.end_all(user).await.unwrap(), 0, "no session is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_lists_and_ends_the_own_sessions() {
    let w = world().await;
    let first = w.log_in(ANNE).await;
    w.advance_ms(55_000);
    let (second, bob) = (w.log_in(ANNE).await, w.log_in(BOB).await);
    let session = w.session(&second).await;
    let own = w.accounts.own_sessions(&session, w.now()).await.unwrap();
    let [newest, oldest] = &own[..] else { panic!("{own:?}") };
    assert!(newest.is_current && !oldest.is_current);
    assert_eq!(newest.record.session.created, Some(w.now()));
    assert_eq!(newest.record.session.origin, SessionOrigin::Code);
    for own in &own {
        assert!(Accounts::session_of(&own.id).is_none() && own.id.len() == 32, "an id is no token");
    }

    let of_bob = w.session(&bob).await;
    for id in [&oldest.id, "", "x", &"0".repeat(32), &first] {
        let answer = w.accounts.end_own_session(&of_bob, id, w.now()).await;
        assert_eq!(refusal(answer), Refusal::NotFound("session"), "{id}");
    }
    assert!(w.who(&first).await.is_some());
    w.accounts.end_own_session(&session, &oldest.id, w.now()).await.unwrap();
    assert_eq!(w.who(&first).await, None);
    let again = w.accounts.end_own_session(&session, &oldest.id, w.now()).await;
    assert_eq!(refusal(again), Refusal::NotFound("session"));
    w.accounts.end_own_session(&session, &newest.id, w.now()).await.unwrap();
    assert_eq!(w.who(&second).await, None, "one's own, too");
    assert!(w.who(&bob).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_logs_out_everywhere() {
    let w = world().await;
    let mut tokens = Vec::new();
    for _ in 0..3 {
        tokens.push(w.log_in(ANNE).await);
        w.advance_ms(55_000);
    }
    let bob = w.log_in(BOB).await;
    let session = w.session(&tokens[1]).await;
    assert_eq!(w.accounts.end_other_sessions(&session).await.unwrap(), 2);
    assert_eq!((w.who(&tokens[0]).await, w.who(&tokens[2]).await), (None, None));
    assert!(w.who(&tokens[1]).await.is_some());
    tokens[0] = w.log_in(ANNE).await;
    w.accounts.log_out_everywhere("", w.now()).await.unwrap();
    w.accounts.log_out_everywhere(&tokens[2], w.now()).await.unwrap();
    assert!(w.who(&tokens[0]).await.is_some(), "a dead token ends nothing");
    w.accounts.log_out_everywhere(&tokens[0], w.now()).await.unwrap();
    assert_eq!((w.who(&tokens[0]).await, w.who(&tokens[1]).await), (None, None));
    assert!(w.who(&bob).await.is_some());
}
