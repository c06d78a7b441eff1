//! Offsets of the counts in order ids: one per second, from a secret of the mall.

use std::sync::atomic::{AtomicU64, Ordering};

use hmac::{Hmac, KeyInit as _, Mac as _};
use mallbox_storage::{OrderId, Storage, StoreError};
use sha2::Sha256;

use crate::mall::base::Random;
use crate::mall::base::kept_secret::kept_secret;

/// Name of the setting that holds the secret behind all offsets. The secret is never disclosed: with the
/// secret, an id tells the day's count.
const SECRET: &str = "order id secret";
/// Bits of an offset: those of [`OrderId::MAX_COUNT`].
const OFFSET_BITS: u32 = 28;

/// Offsets of a mall's order ids: HMAC-SHA-256 of the id's second, modulo 2^28.
///
/// The ids of one second have one offset and rise with their counts, from zero again after 2^28. Ids of
/// different seconds tell nothing about each other's counts.
pub(in crate::mall) struct Offsets {
    /// With the secret read in.
    mac: Hmac<Sha256>,
    /// The last second and its offset, `second << 28 | offset`: a rush computes one HMAC per second.
    last: AtomicU64,
}

impl Offsets {
    fn new(secret: &str) -> Self {
        let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length will do for a secret");
        Self { mac, last: AtomicU64::new(u64::MAX) }
    }

    /// Returns the offsets by the mall's secret. Stores a secret of `random` if the mall has none; of several
    /// instances the first decides.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    pub(super) async fn kept(storage: &Storage, random: &Random) -> Result<Self, StoreError> {
        let made = || random.lasting_secret(SECRET);
        Ok(Self::new(&kept_secret(&*storage.base.upkeep, SECRET, made).await?))
    }

    /// Returns the offsets by the mall's secret; `None` before the first order of a mall.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    pub(in crate::mall) async fn stored(storage: &Storage) -> Result<Option<Self>, StoreError> {
        Ok(storage.base.upkeep.setting(SECRET).await?.map(|secret| Self::new(&secret)))
    }

    /// Hides the count of an id.
    pub(super) fn hide(&self, id: OrderId) -> OrderId {
        id.with_offset(self.of(id.second()))
    }

    /// Returns an id as it was before [`hide`](Self::hide).
    pub(in crate::mall) fn reveal(&self, id: OrderId) -> OrderId {
        id.without_offset(self.of(id.second()))
    }

    fn of(&self, second: u64) -> u64 {
        let last = self.last.load(Ordering::Relaxed);
        if last >> OFFSET_BITS == second {
            return last & OrderId::MAX_COUNT;
        }
        let offset = self.computed(second);
        self.last.store(second << OFFSET_BITS | offset, Ordering::Relaxed);
        offset
    }

    fn computed(&self, second: u64) -> u64 {
        let tag = self.mac.clone().chain_update(second.to_be_bytes()).finalize().into_bytes();
        let number = tag.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        number & OrderId::MAX_COUNT
    }
}

#[cfg(test)]
mod tests {
    use mallbox_storage::{Timestamp, VoucherId};

    use super::*;

    const VOUCHER: VoucherId = VoucherId::new(3);
    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    fn plain(second: i64, count: u64) -> OrderId {
        let at = Timestamp::from_millis(NOON.as_millis() + second * 1_000);
        OrderId::compose(at, count, VOUCHER).unwrap()
    }

    fn count(id: OrderId) -> u64 {
        id.get() >> 4 & OrderId::MAX_COUNT
    }

    #[test]
    fn an_offset_depends_on_secret_and_second_alone() {
        let (one, same, other) = (Offsets::new("one"), Offsets::new("one"), Offsets::new("other"));
        for second in 0..100 {
            let id = plain(second, 7);
            assert_eq!(one.hide(id), same.hide(id));
            assert_eq!(one.reveal(one.hide(id)), id);
            assert_ne!(one.hide(id), other.hide(id));
            assert_ne!(count(one.hide(id)), count(one.hide(plain(second + 1, 7))));
        }
        // The cached offset is of its second alone, also when seconds alternate.
        for second in [5, 6, 5, 6] {
            assert_eq!(one.hide(plain(second, 7)), Offsets::new("one").hide(plain(second, 7)));
        }
    }

    #[test]
    fn ids_of_a_second_rise_with_their_counts_and_wrap_at_most_once() {
        let offsets = Offsets::new("secret");
        let hidden: Vec<_> = (0..10_000).map(|count| offsets.hide(plain(0, count))).collect();
        assert!(hidden.is_sorted_by(|one, next| one < next));
        // A second whose counts pass the end of the bits.
        let start = OrderId::MAX_COUNT - offsets.of(plain(0, 0).second()) - 10;
        let hidden: Vec<_> = (start..start + 20).map(|count| offsets.hide(plain(0, count))).collect();
        assert_eq!(hidden.windows(2).filter(|pair| pair[0] > pair[1]).count(), 1);
        let distinct: std::collections::HashSet<_> = hidden.iter().collect();
        assert_eq!(distinct.len(), 20);
    }

    /// Returns the differences of the counts in two own ids a minute apart, on many days with `sold` orders
    /// in that minute.
    fn observed(days: std::ops::Range<i64>, sold: u64, id: impl Fn(i64, u64) -> OrderId) -> Vec<u64> {
        let difference = |day: i64| {
            // Every day has sold another number of units before.
            let (noon, before) = (day * 86_400, 100 + day.unsigned_abs() % 37);
            let (first, second) = (count(id(noon, before)), count(id(noon + 60, before + sold + 1)));
            second.wrapping_sub(first) & OrderId::MAX_COUNT
        };
        days.map(difference).collect()
    }

    /// Returns the greatest distance between the distributions of two samples of one size, as a number of
    /// values (Kolmogorov-Smirnov). The best guess by a threshold is right with probability
    /// 1/2 + distance / (2 · size).
    fn distance(one: &[u64], other: &[u64]) -> usize {
        let up_to = |sample: &[u64], step: u64| sample.iter().filter(|value| **value <= step).count();
        let steps = one.iter().chain(other);
        steps.map(|step| up_to(one, *step).abs_diff(up_to(other, *step))).max().unwrap()
    }

    /// Critical distance of two samples of 2,000 values at the 1 % level: 2,000 · 1.63 · √(2 / 2,000). Secret
    /// and days are fixed, so the outcome is too.
    const CRITICAL: usize = 103;

    #[test]
    fn an_observer_of_own_ids_cannot_tell_ten_orders_from_a_thousand() {
        let offsets = Offsets::new("secret of this mall");
        let hidden = |second, count| offsets.hide(plain(second, count));
        let (few, many) = (observed(0..2_000, 10, hidden), observed(2_000..4_000, 1_000, hidden));
        assert!(distance(&few, &many) < CRITICAL, "{}", distance(&few, &many));
        // Plain counts give the sales away every day: the method notices.
        let (few, many) = (observed(0..2_000, 10, plain), observed(2_000..4_000, 1_000, plain));
        assert_eq!(distance(&few, &many), 2_000);
    }

    #[test]
    fn a_single_id_tells_nothing_about_the_hour_of_the_day() {
        let offsets = Offsets::new("secret of this mall");
        let at_count = |sold: u64, days: std::ops::Range<i64>| -> Vec<u64> {
            days.map(|day| count(offsets.hide(plain(day * 86_400, sold)))).collect()
        };
        let (morning, evening) = (at_count(3, 0..2_000), at_count(100_000_000, 2_000..4_000));
        assert!(distance(&morning, &evening) < CRITICAL, "{}", distance(&morning, &evening));
    }
}
