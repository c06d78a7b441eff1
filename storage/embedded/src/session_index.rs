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

const SHARDS: u64 = 64;

/// Users with their tokens.
pub(super) type TokensByUser = HashMap<UserId, Vec<TokenHash>>;

/// The tokens of all users.
pub(super) struct SessionIndex(Box<[Mutex<TokensByUser>]>);

impl SessionIndex {
    pub(super) fn new() -> Self {
        Self((0..SHARDS).map(|_| Mutex::default()).collect())
    }

    /// Locks the tokens of a user, together with the tokens of some other users.
    pub(super) fn lock(&self, user: UserId) -> MutexGuard<'_, TokensByUser> {
        let shard = usize::try_from(user.get() % SHARDS).unwrap_or(0);
        self.0[shard].lock()
    }

    /// Returns the tokens of a user.
    pub(super) fn tokens(&self, user: UserId) -> Vec<TokenHash> {
        self.lock(user).get(&user).cloned().unwrap_or_default()
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
