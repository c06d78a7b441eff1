//! Terms and stock of a sale in memory, changed together.

use std::sync::atomic::{AtomicU64, Ordering};

use mallbox_storage::{FencingToken, SaleUnits, Terms};

use crate::stock::Stock;
use crate::thread_shard::thread_shard;

/// Terms of a sale with its stock.
pub(super) struct TermsAndStock {
    pub(super) terms: Terms,
    /// Token under which the terms were put: the greatest so far.
    pub(super) token: FencingToken,
    /// Whether the sale is no longer in memory: nobody would find terms put here.
    pub(super) is_forgotten: bool,
    /// Units left; unused while the sale is unlimited.
    stock: Stock,
    /// Units taken, counted only while the sale is unlimited.
    taken: AtomicU64,
}

impl TermsAndStock {
    pub(super) fn new(terms: Terms, token: FencingToken, taken: u64) -> Self {
        let units = terms.units.map(|units| units.max(taken));
        Self {
            terms: Terms { units, ..terms },
            token,
            is_forgotten: false,
            stock: Stock::new(units.unwrap_or(0).saturating_sub(taken), cells()),
            taken: AtomicU64::new(taken),
        }
    }

    /// Returns whether a claim finds no unit: none is left, or units are for the waiting list.
    pub(super) fn is_sold_out(&self) -> bool {
        self.terms.waiting || self.terms.units.is_some() && self.stock.is_empty()
    }

    pub(super) fn take(&self) -> bool {
        match self.terms.units {
            Some(_) => self.stock.take(thread_shard()),
            None => {
                self.taken.fetch_add(1, Ordering::AcqRel);
                true
            }
        }
    }

    pub(super) fn give_back(&self) {
        match self.terms.units {
            Some(_) => self.stock.give(1, thread_shard()),
            None => drop(self.taken.fetch_sub(1, Ordering::AcqRel)),
        }
    }

    pub(super) fn units(&self) -> SaleUnits {
        let taken = match self.terms.units {
            Some(units) => units.saturating_sub(self.stock.left()),
            None => self.taken.load(Ordering::Acquire),
        };
        SaleUnits { units: self.terms.units, taken }
    }
}

/// Returns the number of stock cells: one per core. More cells would only lengthen the scan of a nearly
/// empty stock.
fn cells() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
