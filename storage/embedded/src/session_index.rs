//! The tokens of each user's sessions.
//!
//! A token is added before its session and removed after it, both under the lock of the user, so that every
//! session is listed. A listed token may be without a session, or belong to another user's session by now:
//! readers look the session up.
//!
//! Lock order: a user's tokens before a session.

use std::collections::HashMap;

use mallbox_storage::{TokenHash, UserId};
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

const SHARDS: usize = 64;

/// The tokens of a user: most users have one session.
pub(super) type Tokens = SmallVec<[TokenHash; 1]>;
/// Users with their tokens.
pub(super) type TokensByUser = HashMap<UserId, Tokens>;

/// The tokens of all users.
pub(super) struct SessionIndex(Box<[Mutex<TokensByUser>]>);

impl SessionIndex {
    /// Creates an index with room for the sessions of `users` users.
    pub(super) fn with_capacity(users: usize) -> Self {
        let room = room_of_shard(users, SHARDS);
        Self((0..SHARDS).map(|_| Mutex::new(TokensByUser::with_capacity(room))).collect())
    }

    /// Locks the tokens of a user, together with the tokens of some other users.
    pub(super) fn lock(&self, user: UserId) -> MutexGuard<'_, TokensByUser> {
        let shard = usize::try_from(user.get() % SHARDS as u64).unwrap_or(0);
        self.0[shard].lock()
    }

    /// Returns the tokens of a user.
    pub(super) fn tokens(&self, user: UserId) -> Vec<TokenHash> {
        self.lock(user).get(&user).map(|tokens| tokens.to_vec()).unwrap_or_default()
    }

    /// Removes a token, unless the user has a live session of this token again: `is_live` decides under the
    /// user's lock.
    pub(super) fn remove_unless(&self, user: UserId, token: TokenHash, is_live: impl FnOnce() -> bool) {
        let mut users = self.lock(user);
        if is_live() {
            return;
        }
        if let Some(tokens) = users.get_mut(&user) {
            tokens.retain(|other| *other != token);
            if tokens.is_empty() {
                users.remove(&user);
            }
        }
    }
}
/// Returns the room of one of `shards` shards for `total` entries that hash evenly. A map that grows while it
/// is loaded would leave its former memory behind.
pub(super) fn room_of_shard(total: usize, shards: usize) -> usize {
    // A shard has a few more than its share.
    let share = total / shards;
    share + share / 8
}
