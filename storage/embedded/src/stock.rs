//! Units of one sale, counted in cells to avoid contention between threads.
//!
//! A single compare-and-set counter would be contended by every core. With several cells, a claim takes
//! from its own thread's cell, and scans the other cells only when the own cell is empty.
//!
//! Reasons and figures: `storage/decisions/0006-atomic-claim.md`.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam::utils::CachePadded;

/// The atomic behind a cell. Shuttle's atomics replace the real ones for model checking.
pub(crate) trait Cell: Send + Sync {
    fn holding(units: u64) -> Self;
    fn load(&self) -> u64;
    fn add(&self, units: u64);
    /// Compare-and-set. Returns `false` if the cell no longer holds `current`.
    fn replace(&self, current: u64, new: u64) -> bool;
}

impl Cell for AtomicU64 {
    fn holding(units: u64) -> Self {
        Self::new(units)
    }

    fn load(&self) -> u64 {
        self.load(Ordering::SeqCst)
    }

    fn add(&self, units: u64) {
        self.fetch_add(units, Ordering::SeqCst);
    }

    fn replace(&self, current: u64, new: u64) -> bool {
        self.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

/// Units left in a sale.
///
/// - A unit is taken once.
/// - [`take`](Stock::take) returns `false` only if at some instant of the call no unit was left.
#[derive(Debug)]
pub(crate) struct Stock<C = AtomicU64> {
    cells: Box<[CachePadded<C>]>,
    /// Number of returned batches of units begun, and number finished. While the two differ, a unit may be
    /// on its way into a cell already scanned.
    giving: CachePadded<C>,
    given: CachePadded<C>,
}

impl<C: Cell> Stock<C> {
    /// Spreads `units` evenly over `cells` (at least one).
    pub(crate) fn new(units: u64, cells: usize) -> Self {
        let count = cells.max(1) as u64;
        let cell = |index| units / count + u64::from(index < units % count);
        Self {
            cells: (0..count).map(|index| CachePadded::new(C::holding(cell(index)))).collect(),
            giving: CachePadded::new(C::holding(0)),
            given: CachePadded::new(C::holding(0)),
        }
    }

    /// Takes one unit, from `shard`'s cell first. Returns false if none was left.
    pub(crate) fn take(&self, shard: usize) -> bool {
        self.take_up_to(1, shard) == 1
    }

    /// Takes up to `units` units and returns the number taken. Fewer than `units` means that at some
    /// instant of the call none was left.
    pub(crate) fn take_up_to(&self, units: u64, shard: usize) -> u64 {
        let mut taken = 0;
        loop {
            // Read before the scan: every return counted here was in its cell before the scan began.
            let given = self.given.load();
            for step in 0..self.cells.len() {
                taken += self.take_from((shard + step) % self.cells.len(), units - taken);
                if taken == units {
                    return taken;
                }
            }
            // If no return was unfinished when the scan began and none has begun since, cells only fell
            // during the scan. Each cell was seen empty, so all are empty now. Otherwise a unit may have
            // gone into a cell behind the scan: scan again.
            if self.giving.load() == given {
                return taken;
            }
            std::hint::spin_loop();
        }
    }

    /// Returns whether at some instant of the call no unit was left. Changes nothing.
    pub(crate) fn is_empty(&self) -> bool {
        loop {
            // Correct for the same reason as the scan in `take_up_to`.
            let given = self.given.load();
            if self.cells.iter().any(|cell| cell.load() > 0) {
                return false;
            }
            if self.giving.load() == given {
                return true;
            }
            std::hint::spin_loop();
        }
    }

    fn take_from(&self, index: usize, wanted: u64) -> u64 {
        loop {
            let held = self.cells[index].load();
            let taking = held.min(wanted);
            if taking == 0 || self.cells[index].replace(held, held - taking) {
                return taking;
            }
        }
    }

    /// Returns units to the stock, or adds new ones.
    pub(crate) fn give(&self, units: u64, shard: usize) {
        self.giving.add(1);
        self.cells[shard % self.cells.len()].add(units);
        self.given.add(1);
    }

    /// Returns the units left. Exact without concurrent calls; otherwise each unit is counted at some
    /// instant of the call.
    pub(crate) fn left(&self) -> u64 {
        self.cells.iter().map(|cell| cell.load()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};

    use super::*;

    impl Cell for shuttle::sync::atomic::AtomicU64 {
        fn holding(units: u64) -> Self {
            Self::new(units)
        }

        fn load(&self) -> u64 {
            self.load(Ordering::SeqCst)
        }

        fn add(&self, units: u64) {
            self.fetch_add(units, Ordering::SeqCst);
        }

        fn replace(&self, current: u64, new: u64) -> bool {
            self.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        }
    }

    type Modelled = Stock<shuttle::sync::atomic::AtomicU64>;

    /// Moves two units so that at least one is always present: every taker must get a unit.
    fn unit_given_back_during_the_scan() {
        use shuttle::thread;

        let stock = Arc::new(Modelled::new(0, 3));
        stock.give(1, 2);
        let mover = {
            let stock = Arc::clone(&stock);
            thread::spawn(move || {
                stock.give(1, 0);
                assert!(stock.take(2), "there were two");
                stock.give(1, 1);
                assert!(stock.take(0), "there were two");
            })
        };
        assert!(!stock.is_empty() && stock.take(0), "at no instant was there none");
        mover.join().unwrap();
        assert_eq!(stock.left(), 0);
    }

    #[test]
    fn a_unit_given_back_during_the_scan_is_not_missed() {
        shuttle::check_random(unit_given_back_during_the_scan, 20_000);
    }

    #[test]
    fn two_who_take_the_last_unit_are_one() {
        shuttle::check_dfs(
            || {
                let stock = Arc::new(Modelled::new(1, 2));
                let other = {
                    let stock = Arc::clone(&stock);
                    shuttle::thread::spawn(move || u64::from(stock.take(1)))
                };
                let mine = u64::from(stock.take(0));
                assert_eq!(mine + other.join().unwrap(), 1);
            },
            None,
        );
    }

    #[test]
    fn eight_threads_take_exactly_what_is_there() {
        const UNITS: u64 = 32_000;
        const CALLS: u64 = 12_000;
        let stock = Arc::new(Stock::<AtomicU64>::new(UNITS, 4));
        let start = Arc::new(Barrier::new(8));
        let threads: Vec<_> = (0..8)
            .map(|shard| {
                let (stock, start) = (Arc::clone(&stock), Arc::clone(&start));
                std::thread::spawn(move || {
                    start.wait();
                    let mut kept = 0_u64;
                    for call in 0..CALLS {
                        if stock.take(shard) {
                            kept += 1;
                            if call % 5 == 0 {
                                stock.give(1, shard + 1);
                                kept -= 1;
                            }
                        }
                    }
                    kept
                })
            })
            .collect();
        let kept: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(kept + stock.left(), UNITS);
        assert_eq!(stock.left(), 0, "eight times twelve thousand calls want more than there is");
    }

    #[test]
    fn lowering_takes_what_is_left_and_no_more() {
        let stock = Stock::<AtomicU64>::new(10, 4);
        assert_eq!(stock.take_up_to(7, 3), 7);
        assert_eq!(stock.take_up_to(7, 0), 3);
        assert!(!stock.take(1));
    }
}
