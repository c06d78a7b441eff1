//! From readers who looked at something to visits that can be stored.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{Day, Salt, Timestamp, TokenHash, UserId, Visit, Visited, Visitor};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use super::{Caller, Seen};
use crate::mall::{Context, Failure};

/// Gathers visits, and knows the salts of the days that they are on.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    salts: BTreeMap<Day, Salt>,
}

impl Gathering {
    /// Tells storage of all who looked.
    pub(super) async fn take_down(
        &mut self,
        context: &Context,
        seen: &[Seen],
        now: Timestamp,
    ) -> Result<(), Failure> {
        let users = users(context, seen).await?;
        let mut visitors = HashMap::new();
        let mut views = HashMap::<(Visited, Day, Visitor), u64>::new();
        for Seen { at, shop, by } in seen {
            let Some(day) = context.day_of(*at) else { continue };
            let visitor = match visitors.entry((day, *by)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => *new.insert(match by.session.and_then(|session| users.get(&session)) {
                    Some(user) => of_user(*user),
                    None => of_stranger(*by, self.salt(context, day).await?),
                }),
            };
            for of in [Some(Visited::Mall), shop.map(Visited::Shop)].into_iter().flatten() {
                *views.entry((of, day, visitor)).or_default() += 1;
            }
        }
        let visit = |((of, day, visitor), views)| Visit { of, day, visitor, views };
        let visits: Vec<Visit> = views.into_iter().map(visit).collect();
        Ok(context.storage.visitors.note(&visits, context.today(now)?).await?)
    }

    async fn salt(&mut self, context: &Context, day: Day) -> Result<Salt, Failure> {
        if let Some(salt) = self.salts.get(&day) {
            return Ok(*salt);
        }
        // Not from the mall's own randomness: when somebody comes must not decide what a test's tokens are.
        let salt = context.storage.visitors.salt(day, rand::random()).await?;
        // About midnight there are visits of two days. Of others nothing is remembered.
        self.salts.retain(|other, _| (other.number() - day.number()).abs() <= 1);
        self.salts.insert(day, salt);
        Ok(salt)
    }
}

/// Whose sessions they were, of those that were live. Nobody's is extended: the reader's own call does that, where it asks who they are.
async fn users(context: &Context, seen: &[Seen]) -> Result<HashMap<TokenHash, UserId>, Failure> {
    let sessions: HashMap<TokenHash, Timestamp> =
        seen.iter().filter_map(|seen| Some((seen.by.session?, seen.at))).collect();
    // Together: on servers they share a round trip.
    let mut looks = JoinSet::new();
    for (session, at) in sessions {
        let sessions = Arc::clone(&context.storage.sessions);
        looks.spawn(async move {
            let user = sessions.find(session, Duration::ZERO, at).await?;
            Ok(user.map(|user| (session, user)))
        });
    }
    looks.join_all().await.into_iter().filter_map(Result::transpose).collect()
}

/// The same on every day, so that who comes all week is one visitor of it.
fn of_user(user: UserId) -> Visitor {
    bits(&[b"user", &user.get().to_le_bytes()])
}

fn of_stranger(caller: Caller, salt: Salt) -> Visitor {
    bits(&[b"stranger", &salt, &caller.stranger.to_le_bytes()])
}

fn bits(parts: &[&[u8]]) -> Visitor {
    let digest = parts.iter().fold(Sha256::new(), |digest, part| digest.chain_update(part)).finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    Visitor(u64::from_le_bytes(first))
}
