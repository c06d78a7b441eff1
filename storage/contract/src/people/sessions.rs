//! `Sessions`: tokens slide.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{NewSession, TokenHash, UserId};

use crate::world::{HOUR, NOON, World};

crate::cases! {
    a_session_begun_by_a_clock_years_ahead_ends_as_any_other,
    a_session_begun_by_a_clock_some_minutes_ahead_ends_as_any_other,
    a_session_keeps_its_own_time_to_live,
    a_session_for_good_outlives_a_clock_set_back,
    a_session_that_nobody_uses_is_cut_after_a_restart,
    a_session_slides_and_ends_at_the_instant,
    a_session_is_extended_to_within_a_minute,
    a_session_that_ended_is_not_revived_by_a_look,
    a_user_may_have_many_sessions,
    a_token_is_free_again_after_its_end,
    all_sessions_of_a_user_end_together,
    in_a_rush_what_had_begun_is_ended,
    what_was_answered_is_there_after_a_stop,
}

const MS: Duration = Duration::from_millis(1);
const TTL: Duration = Duration::from_secs(1800);

fn token(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

async fn find(w: &World, number: u8, now: mallbox_storage::Timestamp) -> Option<u64> {
    w.storage.people.sessions.find(token(number), TTL, now).await.unwrap().map(|session| session.user.get())
}

async fn a_session_begun_by_a_clock_years_ahead_ends_as_any_other(w: &World) {
    let ahead = NOON + 10 * 365 * 24 * HOUR;
    w.storage.people.sessions.begin(token(1), &NewSession::of(UserId::new(7), TTL), ahead).await.unwrap();
    w.storage.people.sessions.begin(token(2), &NewSession::of(UserId::new(8), TTL), ahead).await.unwrap();
    let look = w.storage.people.sessions.find(token(1), Duration::ZERO, NOON).await.unwrap();
    assert_eq!(look.map(|session| session.user), Some(UserId::new(7)), "a look of no length changes nothing");
    assert_eq!(find(w, 1, NOON).await, Some(7), "nobody is logged out by a clock that is set right");
    assert_eq!(find(w, 1, NOON + TTL - MS).await, Some(7));
    assert_eq!(find(w, 1, NOON + 2 * TTL).await, None, "it ends as any other");
    w.storage.base.upkeep.sweep(NOON).await.unwrap();
    if w.back_end().ends_sessions_by_clock() {
        // Redis expires a key by the server's own time, which no wall clock moves.
        assert_eq!(find(w, 2, NOON + TTL).await, None, "one that nobody uses ends, too");
    }
}

async fn a_session_begun_by_a_clock_some_minutes_ahead_ends_as_any_other(w: &World) {
    let ahead = NOON + TTL - Duration::from_secs(60);
    w.storage.people.sessions.begin(token(1), &NewSession::of(UserId::new(7), TTL), ahead).await.unwrap();
    assert_eq!(find(w, 1, NOON).await, Some(7));
    let look = w.storage.people.sessions.find(token(1), Duration::ZERO, NOON + TTL - MS).await.unwrap();
    assert_eq!(look.map(|session| session.user), Some(UserId::new(7)));
    assert_eq!(find(w, 1, NOON + TTL).await, None, "it lasted its TTL by the clock that was set right");
}

async fn a_session_keeps_its_own_time_to_live(w: &World) {
    w.storage.people.sessions.begin(token(1), &NewSession::of(UserId::new(7), 48 * TTL), NOON).await.unwrap();
    assert_eq!(find(w, 1, NOON).await, Some(7), "a look of a shorter life cuts nothing");
    assert_eq!(find(w, 1, NOON + 48 * TTL - MS).await, Some(7));
    let w = w.another().await;
    w.storage.people.sessions.begin(token(1), &NewSession::of(UserId::new(7), TTL), NOON).await.unwrap();
    let look = w.storage.people.sessions.find(token(1), 48 * TTL, NOON).await.unwrap();
    assert_eq!(look.map(|session| session.user), Some(UserId::new(7)));
    assert_eq!(find(&w, 1, NOON + 48 * TTL - MS).await, Some(7), "nor after it was extended by a longer one");
}

async fn a_session_for_good_outlives_a_clock_set_back(w: &World) {
    w.storage
        .people
        .sessions
        .begin(token(1), &NewSession::of(UserId::new(7), Duration::MAX), NOON)
        .await
        .unwrap();
    assert_eq!(find(w, 1, NOON - 24 * HOUR).await, Some(7));
    assert_eq!(find(w, 1, NOON + 20 * 365 * 24 * HOUR).await, Some(7));
}

async fn a_session_that_nobody_uses_is_cut_after_a_restart(w: &World) {
    if !w.back_end().ends_sessions_by_clock() {
        // Redis expires a key by the server's own time, which no wall clock moves.
        return;
    }
    let w = w.another().await;
    let ahead = NOON + 10 * 365 * 24 * HOUR;
    w.storage.people.sessions.begin(token(1), &NewSession::of(UserId::new(7), TTL), ahead).await.unwrap();
    let w = w.reopen().await;
    w.storage.base.upkeep.sweep(NOON).await.unwrap();
    assert_eq!(find(&w, 1, NOON + TTL).await, None);
}

async fn a_session_slides_and_ends_at_the_instant(w: &World) {
    assert_eq!(find(w, 1, NOON).await, None);
    w.storage.people.sessions.begin(token(1), &NewSession::of(UserId::new(7), TTL), NOON).await.unwrap();
    assert_eq!(find(w, 1, NOON + TTL - MS).await, Some(7));
    let step = mallbox_storage::sessions::EXTENSION_STEP;
    assert_eq!(
        find(w, 1, NOON + TTL - MS - step).await,
        Some(7),
        "a minute's difference of clocks shortens nothing"
    );
    let look =
        w.storage.people.sessions.find(token(1), Duration::ZERO, NOON + 2 * TTL - 2 * MS).await.unwrap();
    assert_eq!(look.map(|session| session.user), Some(UserId::new(7)), "a look of no length extends nothing");
    assert_eq!(
        w.storage.people.sessions.find(token(1), Duration::ZERO, NOON + 2 * TTL - MS).await.unwrap(),
        None
    );
    assert_eq!(find(w, 1, NOON + 2 * TTL - 2 * MS).await, Some(7));
    assert_eq!(find(w, 1, NOON + 3 * TTL - 2 * MS).await, None, "dead at the instant");
    assert_eq!(find(w, 2, NOON).await, None, "another token is another session");
}

async fn a_session_is_extended_to_within_a_minute(w: &World) {
    let (step, later) = (mallbox_storage::sessions::EXTENSION_STEP, Duration::from_secs(90));
    w.storage.people.sessions.begin(token(1), &NewSession::of(UserId::new(7), TTL), NOON).await.unwrap();
    // A back end may skip an extension this small; the next extension counts from its own time.
    assert_eq!(find(w, 1, NOON + step - MS).await, Some(7));
    assert_eq!(find(w, 1, NOON + later).await, Some(7));
    assert_eq!(find(w, 1, NOON + later + TTL - step - MS).await, Some(7));
    assert_eq!(find(w, 1, NOON + later + 2 * TTL - step).await, None);
}

async fn a_session_that_ended_is_not_revived_by_a_look(w: &World) {
    for round in 0..40_u8 {
        w.storage
            .people
            .sessions
            .begin(token(round), &NewSession::of(UserId::new(7), TTL), NOON)
            .await
            .unwrap();
        let sessions = Arc::clone(&w.storage.people.sessions);
        // The session is worth extending, so a write follows the read.
        let look =
            tokio::spawn(async move { sessions.find(token(round), TTL, NOON + TTL - MS).await.unwrap() });
        assert_eq!(w.storage.people.sessions.end_all(UserId::new(7)).await.unwrap(), 1);
        look.await.unwrap();
        assert_eq!(find(w, round, NOON).await, None, "round {round}");
    }
}

async fn a_user_may_have_many_sessions(w: &World) {
    for number in 0..60 {
        let now = NOON + Duration::from_secs(61) * u32::from(number);
        w.storage
            .people
            .sessions
            .begin(token(number), &NewSession::of(UserId::new(7), TTL), now)
            .await
            .unwrap();
        if number % 2 == 1 {
            w.storage.people.sessions.end(token(number)).await.unwrap();
        }
    }
    assert_eq!(w.storage.people.sessions.end_all(UserId::new(7)).await.unwrap(), 30);
    for number in 0..60 {
        assert_eq!(find(w, number, NOON).await, None);
    }
}

async fn a_token_is_free_again_after_its_end(w: &World) {
    for user in [7, 8] {
        w.storage
            .people
            .sessions
            .begin(token(1), &NewSession::of(UserId::new(user), TTL), NOON)
            .await
            .unwrap();
        assert_eq!(find(w, 1, NOON).await, Some(user));
        for _ in 0..2 {
            w.storage.people.sessions.end(token(1)).await.unwrap();
            assert_eq!(find(w, 1, NOON).await, None);
        }
    }
}

async fn all_sessions_of_a_user_end_together(w: &World) {
    for (number, user) in [(1, 7), (2, 7), (3, 8)] {
        w.storage
            .people
            .sessions
            .begin(token(number), &NewSession::of(UserId::new(user), TTL), NOON)
            .await
            .unwrap();
    }
    assert_eq!(w.storage.people.sessions.end_all(UserId::new(7)).await.unwrap(), 2);
    assert_eq!(w.storage.people.sessions.end_all(UserId::new(7)).await.unwrap(), 0);
    assert_eq!(
        (find(w, 1, NOON).await, find(w, 2, NOON).await, find(w, 3, NOON).await),
        (None, None, Some(8))
    );
}

/// Log-ins go on while all sessions are ended, again and again; other people's are left alone. Four users:
/// the log-ins of one user alone would exceed the limit of live sessions, and end sessions as well.
async fn in_a_rush_what_had_begun_is_ended(w: &World) {
    let users: Vec<UserId> = (7..11).map(UserId::new).collect();
    w.storage.people.sessions.begin(token(255), &NewSession::of(UserId::new(6), TTL), NOON).await.unwrap();
    let begun = Arc::new(std::sync::Mutex::new(Vec::new()));
    let tasks: Vec<_> = (0..8_u8)
        .map(|task| {
            let (sessions, begun) = (Arc::clone(&w.storage.people.sessions), Arc::clone(&begun));
            let user = users[usize::from(task) % users.len()];
            tokio::spawn(async move {
                for number in 0..25_u8 {
                    let token = token(task * 25 + number);
                    sessions.begin(token, &NewSession::of(user, TTL), NOON).await.unwrap();
                    begun.lock().unwrap().push(token);
                }
            })
        })
        .collect();
    let mut ended = 0;
    while tasks.iter().any(|task| !task.is_finished()) {
        let before = begun.lock().unwrap().clone();
        for user in &users {
            ended += w.storage.people.sessions.end_all(*user).await.unwrap();
        }
        for token in before {
            assert_eq!(w.storage.people.sessions.find(token, TTL, NOON).await.unwrap(), None);
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    for user in &users {
        ended += w.storage.people.sessions.end_all(*user).await.unwrap();
    }
    assert_eq!(ended, 200, "each was ended once");
    for user in &users {
        assert_eq!(w.storage.people.sessions.end_all(*user).await.unwrap(), 0);
    }
    assert_eq!(find(w, 255, NOON).await, Some(6));
}

async fn what_was_answered_is_there_after_a_stop(w: &World) {
    let w = w.another().await;
    for number in [1, 2] {
        w.storage
            .people
            .sessions
            .begin(token(number), &NewSession::of(UserId::new(7), TTL), NOON)
            .await
            .unwrap();
    }
    w.storage.people.sessions.end(token(2)).await.unwrap();
    let w = w.reopen().await;
    assert_eq!((find(&w, 1, NOON).await, find(&w, 2, NOON).await), (Some(7), None));
}
