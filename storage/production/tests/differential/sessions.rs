//! Steps on [`Sessions`](mallbox_storage::Sessions).

use std::time::Duration;

use mallbox_storage::{NewSession, Role, SessionOrigin, Storage, Timestamp, TokenHash, UserId};

use crate::dice::Dice;
use crate::normal::{self, said};
use crate::scene::{Scene, minutes, note, one_of};
use crate::step::Side;

const TOKENS: u8 = 5;

#[derive(Clone, Debug)]
pub enum SessionStep {
    Begin(TokenHash, NewSession, Timestamp),
    Find(TokenHash, Duration, Timestamp),
    End(TokenHash),
    List(UserId, Timestamp),
    EndAll(UserId, Timestamp),
    EndOthers(UserId, TokenHash, Timestamp),
}

impl SessionStep {
    /// Sessions live in whole minutes: an extension by less may be left out, and what follows would differ.
    pub fn roll(dice: &mut Dice, scene: &mut Scene) -> Self {
        let minute = Timestamp::from_millis(scene.now.as_millis() / 60_000 * 60_000);
        let minute = minute + minutes(dice.pick(&[0, 0, 1, 2]));
        let ttl = minutes(dice.pick(&[0, 1, 1, 2, 2, 10, 60, 60 * 24 * 30]));
        let user = scene.user(dice);
        match dice.below(100) {
            0..36 => {
                let token = token(dice);
                note(&mut scene.sessions, (token, minute + ttl));
                Self::Begin(token, new_session(dice, user, ttl), minute)
            }
            36..64 => Self::Find(token(dice), ttl, minute),
            64..82 => {
                // Around expiry: in the last minute or the first minute after. Sessions long expired may have
                // been swept, and sessions used a day ahead of a sweep have been cut by the sweeping side.
                let near = scene.now - minutes(25)..scene.now + minutes(60 * 12);
                let noted = one_of(dice, &scene.sessions).filter(|(_, end)| near.contains(end));
                let (token, end) = noted.unwrap_or((token(dice), minute));
                Self::Find(token, ttl, end - minutes(dice.below(2)))
            }
            82..85 => Self::End(token(dice)),
            85..90 => Self::List(user, minute),
            90..95 => Self::EndOthers(user, token(dice), minute),
            _ => Self::EndAll(user, minute),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let sessions = &side.storage.people.sessions;
        match self {
            Self::Begin(token, session, now) => said(sessions.begin(*token, session, *now).await),
            Self::Find(token, ttl, now) => said(sessions.find(*token, *ttl, *now).await),
            Self::List(user, now) => said(sessions.list(*user, *now).await),
            Self::End(token) => said(sessions.end(*token).await),
            Self::EndAll(user, now) => {
                let live = sessions.list(*user, *now).await.map(|live| live.len() as u64).unwrap_or(0);
                let ended = sessions.end_all(*user).await;
                said(ended.map(|ended| normal::ended(ended, live)))
            }
            Self::EndOthers(user, kept, now) => {
                let mut live = sessions.list(*user, *now).await.unwrap_or_default();
                live.retain(|session| session.token != *kept);
                let ended = sessions.end_others(*user, *kept).await;
                said(ended.map(|ended| normal::ended(ended, live.len() as u64)))
            }
        }
    }
}

/// Returns the user of each token at `now`, without extending a session.
pub async fn live(storage: &Storage, now: Timestamp) -> Vec<Option<UserId>> {
    let mut users = Vec::new();
    for number in 0..TOKENS {
        let found = storage.people.sessions.find(named(number), Duration::ZERO, now).await.unwrap();
        users.push(found.map(|session| session.user));
    }
    users
}

fn new_session(dice: &mut Dice, user: UserId, ttl: Duration) -> NewSession {
    NewSession {
        role: dice.pick(&[Role::Customer, Role::Operator]),
        origin: dice.pick(&[SessionOrigin::Code, SessionOrigin::Password, SessionOrigin::Other]),
        address: dice
            .pick(&[None, Some("203.0.113.7"), Some("2001:db8::7")])
            .map(|text| text.parse().unwrap()),
        browser: dice.pick(&["", "Chrome · Windows", "微信 · Android"]).to_owned(),
        has_second_factor: dice.pick(&[false, true]),
        ..NewSession::of(user, ttl)
    }
}

fn token(dice: &mut Dice) -> TokenHash {
    named(u8::try_from(dice.below(u64::from(TOKENS))).unwrap_or(0))
}

fn named(number: u8) -> TokenHash {
    TokenHash([number * 25; 32])
}
