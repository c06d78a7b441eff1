//! `Sequences`: no number twice, whatever happens.

use std::collections::HashSet;
use std::sync::{Arc, Barrier};

use mallbox_storage::CLOSED_COUNTER;
use tokio::runtime::Handle;

use crate::world::World;

crate::cases! {
    numbers_rise_from_zero,
    each_name_and_day_counts_alone,
    the_high_water_mark_is_never_below_a_number_given,
    a_rush_gives_each_number_once,
    no_number_comes_again_after_a_restart,
    a_closed_counter_has_no_small_number_again,
    a_counter_with_numbers_stays_open,
    a_counter_is_either_closed_or_used_whoever_comes_first,
}

async fn numbers_rise_from_zero(w: &World) {
    for expected in 0..20_000 {
        assert_eq!(w.storage.base.sequences.next("order", 1).await.unwrap(), expected);
    }
}

async fn each_name_and_day_counts_alone(w: &World) {
    let sequences = &w.storage.base.sequences;
    for expected in 0..3 {
        for (name, day) in [("order", 7), ("order", 8), ("other", 7), ("order", u64::from(u32::MAX))] {
            assert_eq!(sequences.next(name, day).await.unwrap(), expected, "{name} {day}");
        }
    }
    // An earlier day, and back.
    assert_eq!(sequences.next("order", 6).await.unwrap(), 0);
    assert_eq!(sequences.next("order", 7).await.unwrap(), 3);
}

async fn the_high_water_mark_is_never_below_a_number_given(w: &World) {
    let sequences = &w.storage.base.sequences;
    assert_eq!(sequences.high_water("order", 1).await.unwrap(), None);
    for _ in 0..5000 {
        let number = sequences.next("order", 1).await.unwrap();
        assert!(sequences.high_water("order", 1).await.unwrap() >= Some(number));
    }
    assert_eq!(sequences.high_water("order", 2).await.unwrap(), None);
    assert_eq!(sequences.high_water("other", 1).await.unwrap(), None);
}

async fn a_rush_gives_each_number_once(w: &World) {
    const THREADS: usize = 8;
    const EACH: usize = 12_000;
    let barrier = Arc::new(Barrier::new(THREADS));
    let rush: Vec<_> = (0..THREADS)
        .map(|_| {
            let (sequences, barrier) = (Arc::clone(&w.storage.base.sequences), Arc::clone(&barrier));
            let runtime = Handle::current();
            tokio::task::spawn_blocking(move || {
                barrier.wait();
                let next = |_| runtime.block_on(sequences.next("order", 1)).unwrap();
                (0..EACH).map(next).collect::<Vec<_>>()
            })
        })
        .collect();
    let mut given = HashSet::new();
    for thread in rush {
        let numbers = thread.await.unwrap();
        assert!(numbers.is_sorted());
        given.extend(numbers);
    }
    assert_eq!(given.len(), THREADS * EACH);
}

async fn no_number_comes_again_after_a_restart(w: &World) {
    let mut w = w.another().await;
    let mut last = None;
    for calls in [1, 5000, 0, 3] {
        for _ in 0..calls {
            let number = Some(w.storage.base.sequences.next("order", 1).await.unwrap());
            assert!(number > last, "{number:?} after {last:?}");
            last = number;
        }
        w = w.reopen().await;
        assert!(w.storage.base.sequences.high_water("order", 1).await.unwrap() >= last);
    }
}

async fn a_closed_counter_has_no_small_number_again(w: &World) {
    let w = w.another().await;
    let sequences = &w.storage.base.sequences;
    assert!(sequences.close("order", 1).await.unwrap());
    assert!(sequences.close("order", 1).await.unwrap(), "a repeat says the same");
    assert!(sequences.high_water("order", 1).await.unwrap() >= Some(CLOSED_COUNTER - 1));
    let first = sequences.next("order", 1).await.unwrap();
    assert!(first >= CLOSED_COUNTER, "{first}");
    assert!(sequences.next("order", 1).await.unwrap() > first);
    assert!(sequences.close("order", 1).await.unwrap(), "large numbers do not open a counter");
    // Other days and names are not closed.
    for (name, day) in [("order", 0), ("order", 2), ("other", 1)] {
        assert_eq!(sequences.next(name, day).await.unwrap(), 0, "{name} {day}");
    }
    let w = w.reopen().await;
    let sequences = &w.storage.base.sequences;
    assert!(sequences.next("order", 1).await.unwrap() > first);
    assert!(sequences.close("order", 1).await.unwrap());
}

async fn a_counter_with_numbers_stays_open(w: &World) {
    let w = w.another().await;
    assert_eq!(w.storage.base.sequences.next("order", 1).await.unwrap(), 0);
    assert!(!w.storage.base.sequences.close("order", 1).await.unwrap());
    assert_eq!(w.storage.base.sequences.next("order", 1).await.unwrap(), 1);
    let w = w.reopen().await;
    assert!(!w.storage.base.sequences.close("order", 1).await.unwrap());
    let next = w.storage.base.sequences.next("order", 1).await.unwrap();
    assert!((2..CLOSED_COUNTER).contains(&next), "{next}");
}

async fn a_counter_is_either_closed_or_used_whoever_comes_first(w: &World) {
    const DAYS: u64 = 40;
    const THREADS: usize = 8;
    let barrier = Arc::new(Barrier::new(THREADS));
    let rush: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (sequences, barrier) = (Arc::clone(&w.storage.base.sequences), Arc::clone(&barrier));
            let runtime = Handle::current();
            tokio::task::spawn_blocking(move || {
                let draw = |day| {
                    barrier.wait();
                    if thread % 2 == 0 {
                        runtime.block_on(sequences.close("order", day)).unwrap()
                    } else {
                        runtime.block_on(sequences.next("order", day)).unwrap() >= CLOSED_COUNTER
                    }
                };
                (0..DAYS).map(draw).collect::<Vec<_>>()
            })
        })
        .collect();
    let mut seen = Vec::new();
    for thread in rush {
        seen.push(thread.await.unwrap());
    }
    for of_thread in &seen[1..] {
        assert_eq!(of_thread, &seen[0], "a counter was closed for some and open for others");
    }
}
