//! The workloads of a comparison.

use crate::bench::result::SOLD_OUT;

/// A workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Workload {
    /// Claims on sales with units enough, one of each user and sale.
    FlashSale,
    /// A rush on few units, every user clicking several times.
    SoldOut,
    /// Shops, shops nearby, and the most liked notes.
    Browse,
    /// The notes of followed authors.
    Feed,
    /// Every user signs in and looks at the streak.
    SignIns,
    /// Shops, notes, feeds, sign-ins and claims, in the proportions of a day.
    MixedDay,
}

impl Workload {
    /// All workloads, in the order of a round.
    pub const ALL: [Self; 6] =
        [Self::Browse, Self::Feed, Self::SignIns, Self::MixedDay, Self::FlashSale, Self::SoldOut];

    /// Returns the name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FlashSale => "flash sale",
            Self::SoldOut => SOLD_OUT,
            Self::Browse => "browse",
            Self::Feed => "feed",
            Self::SignIns => "sign-in morning",
            Self::MixedDay => "mixed day",
        }
    }
}
