//! A number per thread, for sharding by thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads are numbered in the order of first use. The counter holds no state of a mall.
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SHARD: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Returns this thread's number: constant within a thread, distinct between threads.
pub(crate) fn thread_shard() -> usize {
    SHARD.with(|shard| {
        shard.get().unwrap_or_else(|| {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            shard.set(Some(number));
            number
        })
    })
}
