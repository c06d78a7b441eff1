//! The users of a seeded demo.

use anyhow::Context as _;
use mallbox_storage::UserId;

/// Ids of the catalogue's users, in catalogue order.
pub(super) struct People(pub Vec<UserId>);

impl People {
    /// Returns the user at a position, from 1.
    pub(super) fn at(&self, place: usize) -> anyhow::Result<UserId> {
        place.checked_sub(1).and_then(|place| self.0.get(place)).copied().context("nobody has that place")
    }

    /// Returns everybody but one user.
    pub(super) fn others(&self, user: UserId) -> impl Iterator<Item = UserId> {
        self.0.iter().copied().filter(move |other| *other != user)
    }
}
