//! Places for uploads in progress: a number in total, and a share for each user.

use std::collections::HashMap;
use std::sync::Arc;

use mallbox_storage::UserId;
use parking_lot::Mutex;

/// Bounds the uploads in progress, whose files are in memory.
#[derive(Debug)]
pub(super) struct UploadPlaces {
    total_max: usize,
    user_max: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    /// Users without an upload are not listed.
    of_user: HashMap<UserId, usize>,
}

/// A permit for one upload; covers the memory of its file.
#[must_use]
#[derive(Debug)]
pub struct UploadPermit {
    places: Arc<UploadPlaces>,
    user: UserId,
}

impl Drop for UploadPermit {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock();
        taken.total -= 1;
        if let Some(count) = taken.of_user.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                taken.of_user.remove(&self.user);
            }
        }
    }
}

impl UploadPlaces {
    /// Creates `total_max` places, of which a user takes at most `user_max`.
    pub(super) fn new(total_max: usize, user_max: usize) -> Arc<Self> {
        Arc::new(Self { total_max, user_max, taken: Mutex::default() })
    }

    /// Takes a place; `None` if all places, or all of the user's share, are taken.
    pub(super) fn take(self: &Arc<Self>, user: UserId) -> Option<UploadPermit> {
        let mut taken = self.taken.lock();
        let of_user = taken.of_user.get(&user).copied().unwrap_or_default();
        if taken.total >= self.total_max || of_user >= self.user_max {
            return None;
        }
        taken.total += 1;
        taken.of_user.insert(user, of_user + 1);
        Some(UploadPermit { places: Arc::clone(self), user })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_takes_a_share_and_all_users_the_total() {
        let [anne, ben, cleo] = [1, 2, 3].map(UserId::new);
        let places = UploadPlaces::new(3, 2);
        let annes = [places.take(anne), places.take(anne)];
        assert!(annes.iter().all(Option::is_some));
        assert!(places.take(anne).is_none(), "the share is taken");
        let bens = places.take(ben);
        assert!(bens.is_some());
        assert!(places.take(cleo).is_none(), "all places are taken");
        drop(annes);
        assert!(places.take(cleo).is_some());
        drop(bens);
        assert!(places.taken.lock().of_user.is_empty());
        assert_eq!(places.taken.lock().total, 0);
    }
}
