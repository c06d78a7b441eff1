//! Numbers that name things. Each kind is a type of its own, so that two cannot be swapped.
//!
//! What is stored has a number below 2^63. Any number can be looked up.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(u64);

        impl $name {
            /// Wraps the number. Nothing is checked: an id that names nothing is found out by looking it up.
            #[must_use]
            pub const fn new(id: u64) -> Self {
                Self(id)
            }

            /// The number.
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// One person. Nearly dense: given out in order from 1, which is what keeps a set of buyers small.
    UserId
);
id!(
    /// One shop.
    ShopId
);
id!(
    /// One kind of shop.
    ShopTypeId
);
id!(
    /// One voucher; a sale is known by its voucher's id.
    VoucherId
);
id!(
    /// One attempt to pay for an order.
    PaymentId
);
id!(
    /// One dead letter. Not its order's id: of two claims with one id, each may end as a dead letter.
    DeadLetterId
);
id!(
    /// One note.
    NoteId
);
id!(
    /// One comment on a note.
    CommentId
);
id!(
    /// One order. See [`OrderId::compose`] for what its bits say.
    OrderId
);

const SECONDS_PER_DAY: u64 = 86_400;
/// Sales are spread over this many partitions by voucher id, for ever: order ids carry the partition.
pub const PARTITIONS: u64 = 16;

impl OrderId {
    /// 2022-01-01T00:00:00Z, where an id's seconds begin.
    pub const EPOCH: Timestamp = Timestamp::from_millis(1_640_995_200_000);
    /// The largest count that fits beside the partition: 28 bits a day.
    pub const MAX_COUNT: u64 = (1 << 28) - 1;

    /// Sign bit 0, 31 bits of seconds since 2022-01-01T00:00:00Z, 28 bits of `count`, 4 bits of the
    /// voucher's partition. `count` must be unique among the ids of one [`OrderId::day`].
    ///
    /// `None` before 2022, after the 31 bits end (2090), or if `count` is past [`OrderId::MAX_COUNT`].
    #[must_use]
    pub fn compose(at: Timestamp, count: u64, voucher: VoucherId) -> Option<Self> {
        let seconds = Self::seconds(at)?;
        if count > Self::MAX_COUNT {
            return None;
        }
        Some(Self((seconds << 32) | (count << 4) | (voucher.get() % PARTITIONS)))
    }

    /// The smallest id an order of `at` can have: ids are ordered by their seconds.
    #[must_use]
    pub fn floor(at: Timestamp) -> Self {
        Self(Self::seconds(at).unwrap_or(0) << 32)
    }

    /// The day whose counter an id made at `at` uses, in days since 2022-01-01T00:00:00Z whatever the mall's zone.
    #[must_use]
    pub fn day(at: Timestamp) -> Option<u64> {
        Some(Self::seconds(at)? / SECONDS_PER_DAY)
    }

    fn seconds(at: Timestamp) -> Option<u64> {
        let seconds = u64::try_from(at.as_millis().checked_sub(Self::EPOCH.as_millis())?).ok()? / 1000;
        (seconds < 1 << 31).then_some(seconds)
    }
}

/// A phone number: eleven digits of mainland China's form, beginning with 1 and 3 to 9.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Phone(String);

impl Phone {
    /// `None` for anything but 11 digits that begin with 13 to 19.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        let well_formed = digits.len() == 11
            && digits.iter().all(u8::is_ascii_digit)
            && digits[0] == b'1'
            && (b'3'..=b'9').contains(&digits[1]);
        well_formed.then(|| Self(text.to_owned()))
    }

    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_795_240_800_000);

    #[test]
    fn order_id_says_its_second_count_and_partition() {
        let id = OrderId::compose(NOON, 5, VoucherId::new(35)).unwrap().get();
        assert_eq!(id >> 32, 1_795_240_800 - 1_640_995_200);
        assert_eq!(id >> 4 & OrderId::MAX_COUNT, 5);
        assert_eq!(id & 15, 3);
        assert!(OrderId::floor(NOON).get() <= id);
    }

    #[test]
    fn order_id_refuses_what_it_cannot_hold() {
        let voucher = VoucherId::new(1);
        assert_eq!(
            OrderId::compose(Timestamp::from_millis(OrderId::EPOCH.as_millis() - 1), 0, voucher),
            None
        );
        assert_eq!(OrderId::compose(NOON, OrderId::MAX_COUNT + 1, voucher), None);
        assert_eq!(OrderId::compose(Timestamp::from_millis(i64::MAX), 0, voucher), None);
        assert!(OrderId::compose(NOON, OrderId::MAX_COUNT, voucher).unwrap().get() < 1 << 63);
    }

    #[test]
    fn phone_takes_mainland_numbers_only() {
        assert!(Phone::parse("13900000001").is_some());
        for bad in
            ["", "1390000000", "139000000011", "12900000001", "23900000001", "1390000000x", "１３９００００"]
        {
            assert!(Phone::parse(bad).is_none(), "{bad}");
        }
    }
}
