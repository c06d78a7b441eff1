//! Aggregation of page views into storable visits.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{Day, Salt, Timestamp, TokenHash, UserId, Visit, VisitTarget, Visitor};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use super::page_view::{Caller, PageView};
use crate::mall::base::{Context, Failure};

/// Aggregates page views; caches the salts of the days in use.
#[derive(Debug, Default)]
pub(super) struct VisitAggregator {
    salts: BTreeMap<Day, Salt>,
}

impl VisitAggregator {
    /// Aggregates and stores page views.
    pub(super) async fn take_down(
        &mut self,
        context: &Context,
        seen: &[PageView],
        now: Timestamp,
    ) -> Result<(), Failure> {
        let users = users(context, seen).await?;
        let mut visitors = HashMap::new();
        let mut views = HashMap::<(VisitTarget, Day, Visitor), u64>::new();
        for PageView { at, shop, by } in seen {
            let Some(day) = context.day_of(*at) else { continue };
            let visitor = match visitors.entry((day, *by)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => *new.insert(match by.session.and_then(|session| users.get(&session)) {
                    Some(user) => of_user(*user),
                    None => of_anonymous(*by, self.salt(context, day).await?),
                }),
            };
            for of in [Some(VisitTarget::Mall), shop.map(VisitTarget::Shop)].into_iter().flatten() {
                *views.entry((of, day, visitor)).or_default() += 1;
            }
        }
        let visit = |((of, day, visitor), views)| Visit { of, day, visitor, views };
        let visits: Vec<Visit> = views.into_iter().map(visit).collect();
        Ok(context.storage.people.visitors.note(&visits, context.today(now)?).await?)
    }

    async fn salt(&mut self, context: &Context, day: Day) -> Result<Salt, Failure> {
        if let Some(salt) = self.salts.get(&day) {
            return Ok(*salt);
        }
        // Not from the mall's own generator: the arrival of visitors must not change the tokens that a test
        // sees.
        let salt = context.storage.people.visitors.salt(day, rand::random()).await?;
        // Around midnight there are views of two days. Other salts are dropped.
        self.salts.retain(|other, _| (other.number() - day.number()).abs() <= 1);
        self.salts.insert(day, salt);
        Ok(salt)
    }
}

/// Resolves live sessions to users without extending them: the reader's own request extends the session when
/// it authenticates.
async fn users(context: &Context, seen: &[PageView]) -> Result<HashMap<TokenHash, UserId>, Failure> {
    let sessions: HashMap<TokenHash, Timestamp> =
        seen.iter().filter_map(|seen| Some((seen.by.session?, seen.at))).collect();
    // Run concurrently, so that Redis look-ups share a round trip.
    let mut looks = JoinSet::new();
    for (session, at) in sessions {
        let sessions = Arc::clone(&context.storage.people.sessions);
        looks.spawn(async move {
            let found = sessions.find(session, Duration::ZERO, at).await?;
            Ok(found.map(|found| (session, found.user)))
        });
    }
    looks.join_all().await.into_iter().filter_map(Result::transpose).collect()
}

/// Independent of the day: a user who comes all week counts once.
fn of_user(user: UserId) -> Visitor {
    bits(&[b"user", &user.get().to_le_bytes()])
}

fn of_anonymous(caller: Caller, salt: Salt) -> Visitor {
    bits(&[b"stranger", &salt, &caller.anonymous.to_le_bytes()])
}

fn bits(parts: &[&[u8]]) -> Visitor {
    let digest = parts.iter().fold(Sha256::new(), |digest, part| digest.chain_update(part)).finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    Visitor(u64::from_le_bytes(first))
}
