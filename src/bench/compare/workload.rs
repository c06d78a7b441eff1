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
    /// The page of a shop alone.
    Shop,
    /// Shops nearby alone.
    Nearby,
    /// The most liked notes alone.
    HotNotes,
    /// The page of a sale alone.
    SalePage,
    /// The notes of followed authors.
    Feed,
    /// Every user signs in and looks at the streak.
    SignIns,
    /// Shops, notes, feeds, sign-ins and claims, in the proportions of a day.
    MixedDay,
}

impl Workload {
    /// All workloads, in the order of a round.
    pub const ALL: [Self; 10] = [
        Self::Browse,
        Self::Shop,
        Self::Nearby,
        Self::HotNotes,
        Self::SalePage,
        Self::Feed,
        Self::SignIns,
        Self::MixedDay,
        Self::FlashSale,
        Self::SoldOut,
    ];

    /// Returns whether the workload is a single call that only reads. Runs only if asked for.
    #[must_use]
    pub const fn is_single_read(self) -> bool {
        matches!(self, Self::Shop | Self::Nearby | Self::HotNotes | Self::SalePage)
    }

    /// Returns whether a bare handler is measured before and after.
    pub(super) const fn has_ceiling(self) -> bool {
        matches!(self, Self::FlashSale) || self.is_single_read()
    }

    /// Returns the name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FlashSale => "flash sale",
            Self::SoldOut => SOLD_OUT,
            Self::Browse => "browse",
            Self::Shop => "shop",
            Self::Nearby => "shops nearby",
            Self::HotNotes => "hot notes",
            Self::SalePage => "sale page",
            Self::Feed => "feed",
            Self::SignIns => "sign-in morning",
            Self::MixedDay => "mixed day",
        }
    }
}
