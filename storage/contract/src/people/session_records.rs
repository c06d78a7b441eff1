//! `Sessions`: what users see of their sessions, and how they end them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::sessions::{BROWSER_MAX_BYTES, EXTENSION_STEP, SESSIONS_PER_USER_MAX};
use mallbox_storage::{
    LiveSession, NewSession, Role, SessionOrigin, SessionRecord, Timestamp, TokenHash, UserId,
};

use crate::world::{HOUR, NOON, World};

crate::cases! {
    a_record_has_what_the_session_began_with,
    live_sessions_are_listed_newest_first,
    the_last_use_is_known_to_within_a_minute,
    a_clock_that_ran_ahead_leaves_no_times_in_the_future,
    a_long_name_of_a_browser_is_cut,
    the_other_sessions_of_a_user_end_together,
    one_session_too_many_ends_the_oldest,
    a_session_that_expired_takes_no_place_of_a_live_one,
    of_too_many_sessions_at_once_the_limit_stays,
    a_session_begun_while_others_are_ended_is_listed_or_ended,
    a_session_with_a_second_factor_continues_an_earlier_one,
    records_and_ends_outlast_a_stop,
}

const MS: Duration = Duration::from_millis(1);
const TTL: Duration = Duration::from_secs(1800);
const USER: UserId = UserId::new(7);

fn token(number: usize) -> TokenHash {
    let mut hash = [3; 32];
    hash[..8].copy_from_slice(&number.to_le_bytes());
    TokenHash(hash)
}

async fn begin(w: &World, number: usize, user: UserId, now: Timestamp) {
    w.storage.people.sessions.begin(token(number), &NewSession::of(user, TTL), now).await.unwrap();
}

async fn find(w: &World, number: usize, now: Timestamp) -> Option<LiveSession> {
    w.storage.people.sessions.find(token(number), TTL, now).await.unwrap()
}

async fn list(w: &World, user: UserId, now: Timestamp) -> Vec<SessionRecord> {
    w.storage.people.sessions.list(user, now).await.unwrap()
}

async fn listed(w: &World, user: UserId, now: Timestamp) -> Vec<TokenHash> {
    list(w, user, now).await.into_iter().map(|record| record.token).collect()
}

fn by_code() -> NewSession {
    NewSession {
        role: Role::Operator,
        origin: SessionOrigin::Code,
        address: Some("203.0.113.7".parse().unwrap()),
        browser: "微信 · Android".to_owned(),
        ..NewSession::of(USER, TTL)
    }
}

async fn a_record_has_what_the_session_began_with(w: &World) {
    assert_eq!(list(w, USER, NOON).await, []);
    let by_password = NewSession {
        origin: SessionOrigin::Password,
        address: Some("2001:db8::7".parse().unwrap()),
        ..NewSession::of(USER, TTL)
    };
    for (number, session) in [(1, by_code()), (2, by_password), (3, NewSession::of(USER, TTL))] {
        w.storage.people.sessions.begin(token(number), &session, NOON).await.unwrap();
        let NewSession { user, role, origin, address, browser, .. } = session;
        let live = LiveSession { user, role, created: Some(NOON), origin, has_second_factor: false };
        assert_eq!(find(w, number, NOON).await, Some(live));
        let record =
            SessionRecord { token: token(number), session: live, seen: Some(NOON), address, browser };
        assert_eq!(list(w, USER, NOON).await, [record]);
        w.storage.people.sessions.end(token(number)).await.unwrap();
    }
    // A token begun again has nothing of its former session.
    w.storage.people.sessions.begin(token(1), &by_code(), NOON).await.unwrap();
    let other = UserId::new(8);
    begin(w, 1, other, NOON + MS).await;
    assert_eq!(list(w, USER, NOON + MS).await, []);
    let records = list(w, other, NOON + MS).await;
    assert_eq!((records[0].session.created, records[0].address), (Some(NOON + MS), None));
    assert_eq!((records[0].session.origin, records[0].browser.as_str()), (SessionOrigin::Other, ""));
}

async fn live_sessions_are_listed_newest_first(w: &World) {
    for (number, minutes) in [(1, 5), (2, 1), (3, 9), (4, 0)] {
        begin(w, number, USER, NOON + Duration::from_secs(60 * minutes)).await;
    }
    begin(w, 5, UserId::new(8), NOON).await;
    let now = NOON + Duration::from_secs(600);
    assert_eq!(listed(w, USER, now).await, [3, 1, 2, 4].map(token));
    assert_eq!(listed(w, USER, NOON + TTL).await, [3, 1, 2].map(token), "dead at the instant");
    w.storage.people.sessions.end(token(1)).await.unwrap();
    assert_eq!(listed(w, USER, now).await, [3, 2, 4].map(token));
    // Reading the list is no use.
    assert_eq!(list(w, USER, now).await[1].seen, Some(NOON + Duration::from_secs(60)));
    assert_eq!(listed(w, UserId::new(8), NOON).await, [token(5)]);
}

async fn the_last_use_is_known_to_within_a_minute(w: &World) {
    let forever = NewSession::of(USER, Duration::MAX);
    w.storage.people.sessions.begin(token(1), &forever, NOON).await.unwrap();
    begin(w, 2, USER, NOON).await;
    for number in [1, 2] {
        for now in [NOON + EXTENSION_STEP / 2, NOON + EXTENSION_STEP, NOON + TTL - MS] {
            assert_eq!(find(w, number, now).await.unwrap().created, Some(NOON));
            let record = list(w, USER, now).await.into_iter().find(|record| record.token == token(number));
            let seen = record.unwrap().seen.unwrap();
            assert!(seen <= now && now.since(seen) < EXTENSION_STEP, "{number}: {seen:?} at {now:?}");
        }
        let look = w.storage.people.sessions.find(token(number), Duration::ZERO, NOON + TTL + HOUR / 4).await;
        assert!(look.unwrap().is_some());
        let record = list(w, USER, NOON).await.into_iter().find(|record| record.token == token(number));
        assert_eq!(record.unwrap().seen, Some(NOON + TTL - MS), "a look of no length is no use");
    }
}

async fn a_clock_that_ran_ahead_leaves_no_times_in_the_future(w: &World) {
    let ahead = NOON + 10 * 365 * 24 * HOUR;
    begin(w, 1, USER, ahead).await;
    assert_eq!(find(w, 1, NOON).await.unwrap().created, Some(NOON), "the begin counts from the first use");
    let record = &list(w, USER, NOON).await[0];
    assert_eq!((record.session.created, record.seen), (Some(NOON), Some(NOON)));
    assert_eq!(find(w, 1, NOON + EXTENSION_STEP).await.unwrap().created, Some(NOON));

    begin(w, 2, UserId::new(8), NOON).await;
    assert!(find(w, 2, NOON + TTL - MS).await.is_some());
    assert_eq!(find(w, 2, NOON + MS).await.unwrap().created, Some(NOON), "an earlier begin stays");
    assert_eq!(list(w, UserId::new(8), NOON).await[0].seen, Some(NOON + MS));
}

async fn a_long_name_of_a_browser_is_cut(w: &World) {
    let browser = "浏".repeat(BROWSER_MAX_BYTES);
    let session = NewSession { browser, ..NewSession::of(USER, TTL) };
    w.storage.people.sessions.begin(token(1), &session, NOON).await.unwrap();
    assert_eq!(list(w, USER, NOON).await[0].browser, "浏".repeat(BROWSER_MAX_BYTES / 3));
}

async fn the_other_sessions_of_a_user_end_together(w: &World) {
    for number in 1..=4 {
        begin(w, number, USER, NOON).await;
    }
    begin(w, 5, UserId::new(8), NOON).await;
    assert_eq!(w.storage.people.sessions.end_others(USER, token(2)).await.unwrap(), 3);
    assert_eq!(w.storage.people.sessions.end_others(USER, token(2)).await.unwrap(), 0);
    assert_eq!(listed(w, USER, NOON).await, [token(2)]);
    for (number, is_live) in [(1, false), (2, true), (3, false), (4, false), (5, true)] {
        assert_eq!(find(w, number, NOON).await.is_some(), is_live, "{number}");
    }
    // The session to keep is over, or another user's.
    for kept in [9, 5] {
        begin(w, 1, USER, NOON).await;
        w.storage.people.sessions.end_others(USER, token(kept)).await.unwrap();
        assert_eq!(listed(w, USER, NOON).await, [], "{kept}");
        assert!(find(w, 5, NOON).await.is_some());
    }
}

async fn one_session_too_many_ends_the_oldest(w: &World) {
    let at = |number: usize| NOON + Duration::from_secs(number as u64);
    for number in 0..SESSIONS_PER_USER_MAX {
        begin(w, number, USER, at(number)).await;
        begin(w, 1_000 + number, UserId::new(8), at(number)).await;
    }
    let now = at(SESSIONS_PER_USER_MAX);
    assert_eq!(list(w, USER, now).await.len(), SESSIONS_PER_USER_MAX);
    // A session that ended makes room.
    w.storage.people.sessions.end(token(20)).await.unwrap();
    begin(w, 100, USER, now).await;
    assert!(find(w, 0, now).await.is_some());
    for (number, oldest) in [(101, 0), (102, 1)] {
        begin(w, number, USER, now).await;
        assert_eq!(find(w, oldest, now).await, None, "the oldest went");
        assert!(find(w, oldest + 1, now).await.is_some() && find(w, number, now).await.is_some());
        assert_eq!(list(w, USER, now).await.len(), SESSIONS_PER_USER_MAX);
    }
    // The same token again is no further session.
    begin(w, 102, USER, now).await;
    assert_eq!(list(w, USER, now).await.len(), SESSIONS_PER_USER_MAX);
    // A clock that is behind: the new session is the oldest, and stays.
    begin(w, 103, USER, NOON - HOUR / 4).await;
    assert!(find(w, 103, NOON).await.is_some());
    assert_eq!(list(w, UserId::new(8), now).await.len(), SESSIONS_PER_USER_MAX, "other users keep theirs");
}

async fn a_session_that_expired_takes_no_place_of_a_live_one(w: &World) {
    begin(w, 0, USER, NOON).await;
    for number in 1..SESSIONS_PER_USER_MAX {
        begin(w, number, USER, NOON + MS).await;
    }
    assert!(find(w, 0, NOON + TTL / 2).await.is_some());
    let now = NOON + TTL + MS;
    assert_eq!(listed(w, USER, now).await, [token(0)], "in use, and the oldest");
    begin(w, 100, USER, now).await;
    assert_eq!(listed(w, USER, now).await, [token(100), token(0)]);
    assert!(find(w, 0, now).await.is_some());
}

async fn of_too_many_sessions_at_once_the_limit_stays(w: &World) {
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let sessions = Arc::clone(&w.storage.people.sessions);
            tokio::spawn(async move {
                for number in 0..20 {
                    let now = NOON + Duration::from_secs(number);
                    let token = token(task * 100 + usize::try_from(number).unwrap());
                    sessions.begin(token, &NewSession::of(USER, TTL), now).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let now = NOON + Duration::from_secs(20);
    let live: BTreeSet<[u8; 32]> = listed(w, USER, now).await.into_iter().map(|token| token.0).collect();
    assert!(!live.is_empty() && live.len() <= SESSIONS_PER_USER_MAX, "{}", live.len());
    for number in (0..800).filter(|number| number % 100 < 20) {
        let is_listed = live.contains(&token(number).0);
        assert_eq!(find(w, number, now).await.is_some(), is_listed, "listed if and only if live: {number}");
    }
}

/// A log-in by another proof runs into the end of all sessions but one.
async fn a_session_begun_while_others_are_ended_is_listed_or_ended(w: &World) {
    begin(w, 1, USER, NOON).await;
    for round in 10..50 {
        let sessions = Arc::clone(&w.storage.people.sessions);
        let log_in = tokio::spawn(async move {
            sessions.begin(token(round), &NewSession::of(USER, TTL), NOON).await.unwrap();
        });
        w.storage.people.sessions.end_others(USER, token(1)).await.unwrap();
        log_in.await.unwrap();
        let is_listed = listed(w, USER, NOON).await.contains(&token(round));
        assert_eq!(find(w, round, NOON).await.is_some(), is_listed, "round {round}");
        w.storage.people.sessions.end_others(USER, token(1)).await.unwrap();
        assert_eq!(find(w, round, NOON).await, None, "round {round}");
    }
    assert_eq!(listed(w, USER, NOON).await, [token(1)]);
}

async fn a_session_with_a_second_factor_continues_an_earlier_one(w: &World) {
    let w = w.another().await;
    begin(&w, 1, USER, NOON).await;
    assert!(!find(&w, 1, NOON).await.unwrap().has_second_factor);
    let raised = NewSession { has_second_factor: true, begun: Some(NOON - HOUR), ..by_code() };
    w.storage.people.sessions.begin(token(2), &raised, NOON).await.unwrap();
    for now in [NOON, NOON + EXTENSION_STEP, NOON + 2 * EXTENSION_STEP] {
        let found = find(&w, 2, now).await.unwrap();
        assert!(found.has_second_factor, "an extension keeps it");
        assert_eq!(found.created, Some(NOON - HOUR), "the session began with the log-in");
    }
    let w = w.reopen().await;
    let records = list(&w, USER, NOON + 2 * EXTENSION_STEP).await;
    let raised: Vec<_> =
        records.iter().map(|record| (record.token, record.session.has_second_factor)).collect();
    assert_eq!(raised, [(token(1), false), (token(2), true)], "sorted by the log-in");
    assert_eq!(find(&w, 2, NOON + TTL + EXTENSION_STEP - MS).await.unwrap().created, Some(NOON - HOUR));
    // A token begun again has nothing of its former session.
    begin(&w, 2, USER, NOON).await;
    let found = find(&w, 2, NOON).await.unwrap();
    assert_eq!((found.has_second_factor, found.created), (false, Some(NOON)));
}

async fn records_and_ends_outlast_a_stop(w: &World) {
    let w = w.another().await;
    w.storage.people.sessions.begin(token(1), &by_code(), NOON).await.unwrap();
    begin(&w, 2, USER, NOON).await;
    begin(&w, 3, UserId::new(8), NOON).await;
    w.storage.people.sessions.end_others(USER, token(1)).await.unwrap();
    begin(&w, 4, USER, NOON + MS).await;
    let before = list(&w, USER, NOON + MS).await;
    let w = w.reopen().await;
    assert_eq!(list(&w, USER, NOON + MS).await, before);
    assert_eq!(listed(&w, USER, NOON + MS).await, [4, 1].map(token));
    assert_eq!(find(&w, 2, NOON).await, None);
    assert_eq!(w.storage.people.sessions.end_all(USER).await.unwrap(), 2, "found by their user");
    assert!(find(&w, 3, NOON).await.is_some());
}
