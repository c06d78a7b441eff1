//! What is shown of a sale.

use mallbox_storage::{Closed, SaleRecord, Shop, Terms, Timestamp, Voucher, VoucherId};

/// Where a sale is, as a countdown page needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SaleState {
    /// Before its window.
    NotOpen,
    /// In its window, with units left.
    Open,
    /// Held by the operator.
    Paused,
    /// After its window.
    Ended,
    /// In its window, with none left. A cancelled order may bring one back.
    SoldOut,
}

impl SaleState {
    /// By its terms and what is left of it.
    pub(in crate::mall) fn of(terms: &Terms, left: Option<u64>, now: Timestamp) -> Self {
        match terms.closed(now) {
            Some(Closed::NotOpen) => Self::NotOpen,
            Some(Closed::Paused) => Self::Paused,
            Some(Closed::Ended) => Self::Ended,
            None if left == Some(0) => Self::SoldOut,
            None => Self::Open,
        }
    }

    /// The word of the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotOpen => "NOT_OPEN",
            Self::Open => "OPEN",
            Self::Paused => "PAUSED",
            Self::Ended => "ENDED",
            Self::SoldOut => "SOLD_OUT",
        }
    }
}

/// A sale at one instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiveSale {
    /// Which.
    pub voucher: VoucherId,
    /// Units left. `None` = unlimited.
    pub stock: Option<u64>,
    /// Units in all, those that somebody has too. `None` = unlimited.
    pub units: Option<u64>,
    /// Where it is.
    pub state: SaleState,
    /// When that was so, by the mall's clock.
    pub at: Timestamp,
    /// First instant at which a claim is taken.
    pub begin: Timestamp,
    /// First instant at which none is taken any more.
    pub end: Timestamp,
}

/// A sale that is on, as its operators watch it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunningSale {
    /// Its voucher's title.
    pub title: String,
    /// Where it is, and what is left.
    pub live: LiveSale,
    /// Units in somebody's hands when that was left.
    pub taken: u64,
}

/// What a sale's page tells, none of which changes from claim to claim.
#[derive(Clone, PartialEq, Debug)]
pub struct SalePage {
    /// The voucher.
    pub voucher: Voucher,
    /// Its sale.
    pub sale: SaleRecord,
    /// Its shop, if there still is one.
    pub shop: Option<Shop>,
}
