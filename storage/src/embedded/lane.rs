//! A number for each thread, for what is spread so that threads do not meet.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads are numbered as they come. It names nothing and remembers nothing of a mall.
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static LANE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// This thread's number: the same at every call, another for every thread.
pub(crate) fn lane() -> usize {
    LANE.with(|lane| {
        lane.get().unwrap_or_else(|| {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            lane.set(Some(number));
            number
        })
    })
}
