//! Steps on [`Sessions`](mallbox_storage::Sessions).

use std::time::Duration;

use mallbox_storage::{CodeRules, Phone, Storage, Timestamp, TokenHash, UserId};

use crate::dice::Dice;
use crate::normal::{self, said};
use crate::scene::{Scene, minutes, note, one_of};
use crate::step::Side;

const TOKENS: u8 = 5;

#[derive(Clone, Debug)]
pub enum SessionStep {
    IssueCode(Phone, String, CodeRules, Timestamp),
    CheckCode(Phone, String, CodeRules, Timestamp),
    Begin(TokenHash, UserId, Duration, Timestamp),
    Find(TokenHash, Duration, Timestamp),
    End(TokenHash),
    EndAll(UserId, Timestamp),
}

impl SessionStep {
    /// Sessions live in whole minutes: an extension by less may be left out, and what follows would differ.
    pub fn roll(dice: &mut Dice, scene: &mut Scene) -> Self {
        let minute = Timestamp::from_millis(scene.now.as_millis() / 60_000 * 60_000);
        let minute = minute + minutes(dice.pick(&[0, 0, 1, 2]));
        let ttl = minutes(dice.pick(&[0, 1, 1, 2, 2, 10, 60, 60 * 24 * 30]));
        let (user, phone) = (scene.user(dice), scene.phone(dice));
        let code = dice.pick(&["000000", "000001", "", "一二三"]).to_owned();
        match dice.below(100) {
            0..22 => Self::IssueCode(phone, code, rules(dice), scene.now),
            22..45 => Self::CheckCode(phone, code, rules(dice), scene.now),
            45..65 => {
                let token = token(dice);
                note(&mut scene.sessions, (token, minute + ttl));
                Self::Begin(token, user, ttl, minute)
            }
            65..80 => Self::Find(token(dice), ttl, minute),
            80..90 => {
                // Around expiry: in the last minute or the first minute after. Sessions long expired may have
                // been swept, and sessions used a day ahead of a sweep have been cut by the sweeping side.
                let near = scene.now - minutes(25)..scene.now + minutes(60 * 12);
                let noted = one_of(dice, &scene.sessions).filter(|(_, end)| near.contains(end));
                let (token, end) = noted.unwrap_or((token(dice), minute));
                Self::Find(token, ttl, end - minutes(dice.below(2)))
            }
            90..95 => Self::End(token(dice)),
            _ => Self::EndAll(user, minute),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let sessions = &side.storage.people.sessions;
        match self {
            Self::IssueCode(phone, code, rules, now) => {
                said(sessions.issue_code(phone, code, rules, *now).await)
            }
            Self::CheckCode(phone, code, rules, now) => {
                said(sessions.check_code(phone, code, rules, *now).await)
            }
            Self::Begin(token, user, ttl, now) => said(sessions.begin(*token, *user, *ttl, *now).await),
            Self::Find(token, ttl, now) => said(sessions.find(*token, *ttl, *now).await),
            Self::End(token) => said(sessions.end(*token).await),
            Self::EndAll(user, now) => {
                let live =
                    live(&side.storage, *now).await.into_iter().filter(|whose| *whose == Some(*user)).count();
                let ended = sessions.end_all(*user).await;
                said(ended.map(|ended| normal::ended(ended, live as u64)))
            }
        }
    }
}

/// Returns the user of each token at `now`, without extending a session.
pub async fn live(storage: &Storage, now: Timestamp) -> Vec<Option<UserId>> {
    let mut users = Vec::new();
    for number in 0..TOKENS {
        users.push(storage.people.sessions.find(named(number), Duration::ZERO, now).await.unwrap());
    }
    users
}

fn token(dice: &mut Dice) -> TokenHash {
    named(u8::try_from(dice.below(u64::from(TOKENS))).unwrap_or(0))
}

fn named(number: u8) -> TokenHash {
    TokenHash([number * 25; 32])
}

fn rules(dice: &mut Dice) -> CodeRules {
    CodeRules {
        lives: dice.pick(&[Duration::ZERO, minutes(2), minutes(10), minutes(60 * 48)]),
        gap: dice.pick(&[Duration::ZERO, Duration::ZERO, Duration::from_secs(5), minutes(1)]),
        per_day: dice.pick(&[0, 1, 3, 10]),
        tries: dice.pick(&[0, 1, 2, 5]),
    }
}
