//! Public views of a sale.

use mallbox_storage::{ClosedReason, SaleRecord, Shop, Terms, Timestamp, Voucher, VoucherId, Wave};

use crate::mall::selling::timetables::PageWave;

/// State of a sale, for countdown pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SaleState {
    /// Before the window.
    NotOpen,
    /// Inside the window, with units left.
    Open,
    /// Paused by the operator.
    Paused,
    /// After the window.
    Ended,
    /// Inside the window, with no units left. A cancelled order may return a unit.
    SoldOut,
}

impl SaleState {
    /// Derives the state from the terms and the units left.
    pub(in crate::mall) fn of(terms: &Terms, left: Option<u64>, now: Timestamp) -> Self {
        match terms.closed(now) {
            Some(ClosedReason::NotOpen) => Self::NotOpen,
            Some(ClosedReason::Paused) => Self::Paused,
            Some(ClosedReason::Ended) => Self::Ended,
            None if left == Some(0) => Self::SoldOut,
            None => Self::Open,
        }
    }

    /// Returns the API's name of the state.
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

/// State of a sale at one instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiveSale {
    /// Voucher id of the sale.
    pub voucher: VoucherId,
    /// Units left. `None` = unlimited.
    pub stock: Option<u64>,
    /// Total units, taken units included. `None` = unlimited.
    pub units: Option<u64>,
    /// State at the instant `at`.
    pub state: SaleState,
    /// Instant of this state, by the mall's clock.
    pub at: Timestamp,
    /// First instant at which claims are accepted.
    pub begin: Timestamp,
    /// First instant at which claims are no longer accepted.
    pub end: Timestamp,
    /// The next release of units before the end.
    pub next_wave: Option<Wave>,
    /// Whether a claim needs a pass.
    pub is_guarded: bool,
    /// Whether users can wait for units after the last is taken.
    pub has_waiting_list: bool,
    /// Whether a claim needs an admission from the waiting room.
    pub has_room: bool,
}

/// A running sale, for the operators' live view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunningSale {
    /// Title of the voucher.
    pub title: String,
    /// State and units left.
    pub live: LiveSale,
    /// Units taken, from the same read as `live`.
    pub taken: u64,
}

/// Content of a sale's page. No field changes from claim to claim.
#[derive(Clone, PartialEq, Debug)]
pub struct SalePage {
    /// Voucher on sale.
    pub voucher: Voucher,
    /// Terms of the sale.
    pub sale: SaleRecord,
    /// The voucher's shop; `None` if deleted.
    pub shop: Option<Shop>,
    /// Timetable of the sale; empty once no wave is to come.
    pub waves: Vec<PageWave>,
}
