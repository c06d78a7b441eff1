//! Ids. Each kind has a type of its own, so that two kinds cannot be confused.
//!
//! Stored ids are below 2^63. Any number can be looked up.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(u64);

        impl $name {
            /// Wraps the number without validation: only a lookup tells whether the id exists.
            #[must_use]
            pub const fn new(id: u64) -> Self {
                Self(id)
            }

            /// Returns the wrapped number.
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
    /// Id of a user. Accounts are nearly dense: assigned in order from 1, which keeps sets of buyers small.
    /// [Staff](UserId::of_staff) and [walk-in customers](UserId::of_walk_in) have ids above all accounts.
    UserId
);
id!(
    /// Id of a shop.
    ShopId
);
id!(
    /// Id of a shop type.
    ShopTypeId
);
id!(
    /// Id of a voucher, and of the voucher's flash sale.
    VoucherId
);
id!(
    /// Id of a payment attempt.
    PaymentId
);
id!(
    /// Id of a dead letter. Differs from the order id: of two claims with one order id, each may become a
    /// dead letter.
    DeadLetterId
);
id!(
    /// Id of a note.
    NoteId
);
id!(
    /// Id of a comment on a note.
    CommentId
);
id!(
    /// Id of a review.
    ReviewId
);
id!(
    /// Id of a claim gateway, never used twice.
    ClaimGatewayId
);
id!(
    /// Id of a cash session, never used twice.
    CashSessionId
);
id!(
    /// Id of a subscriber of events.
    SubscriberId
);
id!(
    /// Id of a task in the retry queue: ascending in order of submission, and never used twice.
    RetryTaskId
);
id!(
    /// Id of an order. See [`OrderId::compose`] for the meaning of its bits.
    OrderId
);

const SECONDS_PER_DAY: u64 = 86_400;
/// Number of partitions that sales are spread over by voucher id. Fixed for ever: order ids contain the
/// partition.
pub const PARTITIONS: u64 = 16;

impl OrderId {
    /// Origin of the seconds in an id: 2022-01-01T00:00:00Z.
    pub const EPOCH: Timestamp = Timestamp::from_millis(1_640_995_200_000);
    /// Largest sequence number beside the partition: 28 bits per day.
    pub const MAX_COUNT: u64 = (1 << 28) - 1;

    /// Composes an id: sign bit 0, 31 bits of seconds since 2022-01-01T00:00:00Z, 28 bits of `count`, 4 bits
    /// of the voucher's partition. `count` must be unique among the ids of one [`OrderId::day`]. To hide the
    /// count from buyers, the mall adds an [offset](Self::with_offset).
    ///
    /// `None` before 2022, after the 31 bits end (2090), or if `count` exceeds [`OrderId::MAX_COUNT`].
    #[must_use]
    pub fn compose(at: Timestamp, count: u64, voucher: VoucherId) -> Option<Self> {
        let seconds = Self::seconds(at)?;
        if count > Self::MAX_COUNT {
            return None;
        }
        Some(Self((seconds << 32) | (count << 4) | (voucher.get() % PARTITIONS)))
    }

    /// Returns the second in the id, since 2022-01-01T00:00:00Z.
    #[must_use]
    pub fn second(self) -> u64 {
        self.0 >> 32
    }

    /// Adds `offset` to the count in the id, modulo 2^28. Second and partition stay: ids of one second that
    /// differ still differ under one offset.
    #[must_use]
    pub fn with_offset(self, offset: u64) -> Self {
        let count = (self.0 >> 4).wrapping_add(offset) & Self::MAX_COUNT;
        Self(self.0 & !(Self::MAX_COUNT << 4) | (count << 4))
    }

    /// Subtracts `offset` from the count in the id: the inverse of [`with_offset`](Self::with_offset).
    #[must_use]
    pub fn without_offset(self, offset: u64) -> Self {
        self.with_offset(offset.wrapping_neg())
    }

    /// Returns the smallest possible id of an order made at `at`: ids are ordered by their seconds.
    #[must_use]
    pub fn floor(at: Timestamp) -> Self {
        Self(Self::seconds(at).unwrap_or(0) << 32)
    }

    /// Returns the day whose counter an id made at `at` uses, in days since 2022-01-01T00:00:00Z, independent
    /// of the mall's time zone.
    #[must_use]
    pub fn day(at: Timestamp) -> Option<u64> {
        Some(Self::seconds(at)? / SECONDS_PER_DAY)
    }

    fn seconds(at: Timestamp) -> Option<u64> {
        let seconds = u64::try_from(at.as_millis().checked_sub(Self::EPOCH.as_millis())?).ok()? / 1000;
        (seconds < 1 << 31).then_some(seconds)
    }
}

/// A phone number of mainland China: eleven digits, beginning with 1 and then 3 to 9.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Phone(String);

impl Phone {
    /// Parses a phone number; `None` for anything but 11 digits beginning with 13 to 19.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        let well_formed = digits.len() == 11
            && digits.iter().all(u8::is_ascii_digit)
            && digits[0] == b'1'
            && (b'3'..=b'9').contains(&digits[1]);
        well_formed.then(|| Self(text.to_owned()))
    }

    /// Returns the number of a deleted user: none, an empty text.
    #[must_use]
    pub const fn of_deleted_user() -> Self {
        Self(String::new())
    }

    /// Returns the eleven digits; an empty text for a deleted user.
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
    fn an_offset_moves_the_count_around_its_bits_and_nothing_else() {
        let voucher = VoucherId::new(35);
        for count in [0, 5, OrderId::MAX_COUNT] {
            let id = OrderId::compose(NOON, count, voucher).unwrap();
            for offset in [0, 1, 77_777_777, OrderId::MAX_COUNT, u64::MAX] {
                let moved = id.with_offset(offset);
                assert_eq!((moved.second(), moved.get() & 15), (id.second(), 3), "{count} {offset}");
                let expected = (count + (offset & OrderId::MAX_COUNT)) & OrderId::MAX_COUNT;
                assert_eq!(moved.get() >> 4 & OrderId::MAX_COUNT, expected, "{count} {offset}");
                assert_eq!(moved.without_offset(offset), id, "{count} {offset}");
            }
        }
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
