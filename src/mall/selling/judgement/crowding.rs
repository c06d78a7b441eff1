//! How crowded an address, a device or a user is at a sale: distinct users and attempts of the last moments,
//! counted in this process.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::time::Duration;

use mallbox_storage::{Timestamp, UserId, VoucherId};
use parking_lot::Mutex;
use roaring::RoaringTreemap;

/// Span of a window of users. A signal covers the present window and the one before.
const USERS_WINDOW: Duration = Duration::from_secs(30);
/// Span of a window of attempts.
const ATTEMPTS_WINDOW: Duration = Duration::from_secs(5);
/// Parts of a table with a lock each: attempts of different addresses seldom wait for one another.
const PARTS: usize = 16;
/// Most entries of a part and window: some 20 MiB of users in all. What comes later is not counted.
const ENTRIES_MAX: usize = 8_192;
/// Most users counted of one address or device.
const USERS_MAX: u64 = 10_000;

/// Counts of an attacked sale, and of any other.
pub(super) struct Crowding {
    users: Table<(VoucherId, u64), Users>,
    attempts: Table<(VoucherId, UserId), u32>,
    hasher: RandomState,
}

/// Entries by key, in parts.
type Table<K, V> = [Mutex<Windows<K, V>>; PARTS];

/// The users of an address or a device in a window.
#[derive(Default)]
struct Users {
    ids: RoaringTreemap,
    /// Number of these that the window before has too.
    also_before: u64,
}

/// Entries of the present window and of the one before.
struct Windows<K, V> {
    began: Timestamp,
    present: HashMap<K, V>,
    before: HashMap<K, V>,
}

impl<K, V> Default for Windows<K, V> {
    fn default() -> Self {
        Self { began: Timestamp::from_millis(0), present: HashMap::new(), before: HashMap::new() }
    }
}

impl<K: Eq + Hash, V: Default> Windows<K, V> {
    /// Begins a new window if the present one is over, or of another time.
    fn turn(&mut self, span: Duration, now: Timestamp) {
        if now >= self.began && now.since(self.began) < span {
            return;
        }
        let is_next = now >= self.began && now.since(self.began) < span * 2;
        let present = std::mem::take(&mut self.present);
        self.before = if is_next { present } else { HashMap::new() };
        self.began = if is_next { self.began + span } else { now };
    }

    /// Returns the entries of a key in both windows; `None` if there is no room for a new one.
    fn entry(&mut self, key: K) -> Option<(&mut V, Option<&V>)> {
        if self.present.len() >= ENTRIES_MAX && !self.present.contains_key(&key) {
            return None;
        }
        let before = self.before.get(&key);
        Some((self.present.entry(key).or_default(), before))
    }
}

impl Default for Crowding {
    fn default() -> Self {
        Self {
            users: std::array::from_fn(|_| Mutex::default()),
            attempts: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
        }
    }
}

impl Crowding {
    /// Counts a user of an address or a device at a sale. Returns the number of distinct users in the last 30
    /// to 60 seconds; `None` if there are too many addresses to count.
    pub(super) fn users(&self, voucher: VoucherId, trace: u64, user: UserId, now: Timestamp) -> Option<u32> {
        let mut windows = self.users[self.part(trace)].lock();
        windows.turn(USERS_WINDOW, now);
        let (present, before) = windows.entry((voucher, trace))?;
        if present.ids.len() < USERS_MAX && present.ids.insert(user.get()) {
            present.also_before += u64::from(before.is_some_and(|before| before.ids.contains(user.get())));
        }
        let earlier = before.map_or(0, |before| before.ids.len());
        u32::try_from(present.ids.len() + earlier - present.also_before).ok()
    }

    /// Counts an attempt of a user at a sale. Returns the number of attempts in the last 5 to 10 seconds;
    /// `None` if there are too many users to count.
    pub(super) fn attempts(&self, voucher: VoucherId, user: UserId, now: Timestamp) -> Option<u32> {
        let mut windows = self.attempts[self.part(user.get())].lock();
        windows.turn(ATTEMPTS_WINDOW, now);
        let (present, before) = windows.entry((voucher, user))?;
        *present = present.saturating_add(1);
        Some(present.saturating_add(before.copied().unwrap_or(0)))
    }

    /// Drops windows that are over.
    pub(super) fn forget(&self, now: Timestamp) {
        for part in &self.users {
            part.lock().turn(USERS_WINDOW, now);
        }
        for part in &self.attempts {
            part.lock().turn(ATTEMPTS_WINDOW, now);
        }
    }

    fn part(&self, key: u64) -> usize {
        usize::try_from(self.hasher.hash_one(key) % PARTS as u64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALE: VoucherId = VoucherId::new(7);

    fn at(second: u64) -> Timestamp {
        Timestamp::from_millis(1_795_262_400_000) + Duration::from_secs(second)
    }

    fn users(crowding: &Crowding, trace: u64, user: u64, second: u64) -> Option<u32> {
        crowding.users(SALE, trace, UserId::new(user), at(second))
    }

    #[test]
    fn distinct_users_of_a_minute_are_counted_once_each() {
        let crowding = Crowding::default();
        for (user, second, count) in
            [(1, 0, 1), (1, 1, 1), (2, 2, 2), (2, 31, 2), (3, 32, 3), (1, 33, 3), (3, 61, 3), (4, 62, 4)]
        {
            assert_eq!(users(&crowding, 9, user, second), Some(count), "user {user} at {second}");
        }
        assert_eq!(users(&crowding, 9, 5, 200), Some(1), "long after");
        assert_eq!(users(&crowding, 9, 6, 100), Some(1), "by a clock moved back");
        assert_eq!(users(&crowding, 8, 1, 100), Some(1), "another address");
        assert_eq!(crowding.users(VoucherId::new(8), 9, UserId::new(1), at(100)), Some(1), "another sale");
    }

    #[test]
    fn attempts_of_ten_seconds_are_counted() {
        let crowding = Crowding::default();
        let attempts = |user, second| crowding.attempts(SALE, UserId::new(user), at(second));
        for (second, count) in [(0, 1), (0, 2), (4, 3), (5, 4), (9, 5), (10, 3), (30, 1)] {
            assert_eq!(attempts(1, second), Some(count), "at {second}");
        }
        assert_eq!(attempts(2, 30), Some(1));
    }

    #[test]
    fn what_is_over_is_dropped_and_memory_is_bounded() {
        let crowding = Crowding::default();
        let counted =
            (0..2 * (PARTS * ENTRIES_MAX) as u64).filter(|trace| users(&crowding, *trace, 1, 0).is_some());
        let counted = counted.count();
        assert!(counted <= PARTS * ENTRIES_MAX && counted > PARTS * ENTRIES_MAX / 2, "{counted}");
        for user in 0..USERS_MAX + 5 {
            users(&crowding, 0, user, 1);
        }
        assert_eq!(users(&crowding, 0, 1, 1), Some(u32::try_from(USERS_MAX).unwrap()));
        crowding.forget(at(31));
        crowding.forget(at(61));
        let entries = |part: &Mutex<Windows<_, Users>>| {
            let windows = part.lock();
            windows.present.len() + windows.before.len()
        };
        assert_eq!(crowding.users.iter().map(entries).sum::<usize>(), 0);
    }
}
