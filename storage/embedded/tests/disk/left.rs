//! A mall that was left with a session and pending claims.

use mallbox_storage::sessions::TokenHash;
use mallbox_storage::{ClaimOutcome, Durability, NewSession, UserId};

use crate::world::{Closed, HOUR, NOON, World};

/// The session of user 1.
pub const TOKEN: TokenHash = TokenHash([7; 32]);
/// Number of claims, all pending.
pub const CLAIMS: u64 = 300;

/// A cleanly stopped mall with a logged-in user and accepted claims, none of them an order yet.
pub async fn left() -> Closed {
    let world = World::open(Durability::Process).await;
    world.storage.people.sessions.begin(TOKEN, &NewSession::of(UserId::new(1), HOUR), NOON).await.unwrap();
    for user in 1..=CLAIMS {
        assert_eq!(world.claim(user).await.unwrap(), ClaimOutcome::Accepted);
    }
    world.closed().await
}

/// Checks that claims and session are there.
pub async fn has_everything(world: &World) {
    assert_eq!(world.taken().await, CLAIMS);
    assert_eq!(world.storage.selling.order_log.state().await.pending, CLAIMS);
    let found = world.storage.people.sessions.find(TOKEN, HOUR, NOON).await.unwrap();
    assert_eq!(found.map(|session| session.user), Some(UserId::new(1)));
}
