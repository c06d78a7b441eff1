//! A second factor that is given while something else ends sessions, or removes the factor.

use mallbox::mall::Refusal;
use mallbox::mall::people::accounts::Client;
use mallbox_storage::Timestamp;
use totp_rs::{Builder, Secret};

use super::sessions::meanwhile;
use super::world::{ANNE, World, refusal, world};

/// Returns the code that an authenticator app shows.
fn code_at(secret: &str, at: Timestamp) -> String {
    let secret = Secret::try_from_base32(secret).unwrap();
    let seconds = u64::try_from(at.as_millis()).unwrap() / 1_000;
    Builder::new().with_secret(secret).build().unwrap().generate(seconds).to_string()
}

/// Makes Anne an operator with a second factor. Returns the recovery codes, at a time for the next log-in.
async fn enrolled(w: &World) -> Vec<String> {
    w.people.grant(ANNE, w.by()).await.unwrap();
    let session = w.session(&w.log_in(ANNE).await).await;
    let enrolment = w.accounts.begin_enrolment(&session, (None, None), w.now()).await.unwrap();
    let code = code_at(&enrolment.secret, w.now());
    let confirmed = w.accounts.confirm_enrolment(&session, &code, Client::default(), w.now()).await.unwrap();
    w.advance_ms(55_000);
    confirmed.recovery_codes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_given_while_all_sessions_end_opens_none() {
    let w = world().await;
    let codes = enrolled(&w).await;
    let session = w.session(&w.log_in(ANNE).await).await;
    let (people, user) = (w.storage.people.clone(), session.user());
    let end = async move {
        people.sessions.end_all(user).await.unwrap();
    };
    let given = meanwhile(&w, end).raise(&session, &codes[0], Client::default(), w.now()).await;
    assert_eq!(refusal(given), Refusal::NotLoggedIn);
    assert_eq!(w.storage.people.sessions.end_all(user).await.unwrap(), 0, "no session is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_given_while_the_factor_is_removed_counts_for_nothing() {
    let w = world().await;
    let codes = enrolled(&w).await;
    let session = w.session(&w.log_in(ANNE).await).await;
    let (people, user) = (w.storage.people.clone(), session.user());
    let remove = async move {
        people.second_factors.remove(user).await.unwrap();
    };
    let given = meanwhile(&w, remove).raise(&session, &codes[0], Client::default(), w.now()).await;
    assert_eq!(refusal(given), Refusal::NotLoggedIn);
    let left = w.storage.people.sessions.list(user, w.now()).await.unwrap();
    assert_eq!(
        left.iter().filter(|record| record.session.has_second_factor).count(),
        1,
        "that of the enrolment"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_codes_of_a_session_at_once_a_refused_one_leaves_no_session() {
    let w = world().await;
    let codes = enrolled(&w).await;
    let session = w.session(&w.log_in(ANNE).await).await;
    let now = w.now();
    let raise = |at: usize| w.accounts.raise(&session, &codes[at], Client::default(), now);
    let (one, other) = tokio::join!(raise(0), raise(1));
    let live = w.storage.people.sessions.list(session.user(), now).await.unwrap();
    let given = [&one, &other].into_iter().filter(|given| given.is_ok()).count();
    assert!(given >= 1, "somebody comes first");
    // Besides the session of the enrolment.
    assert_eq!(live.iter().filter(|record| record.session.has_second_factor).count(), given + 1);
}
