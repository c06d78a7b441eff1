//! `Locks`: one owner at a time while its lease lives, fenced afterwards.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use mallbox_storage::{FencingToken, LockEntry, LockOutcome, LockOwner, Locker};
use mallbox_test_patience as patience;
use parking_lot::Mutex;

use crate::world::World;

crate::cases! {
    a_lock_has_one_owner_until_it_leaves,
    an_owner_enters_again_and_leaves_as_often,
    entering_and_leaving_twice_is_as_once,
    only_the_owner_can_leave_or_renew,
    a_dead_holders_lock_is_free_when_its_lease_ends,
    a_holder_stopped_past_its_lease_is_refused_by_its_token,
    a_waiter_is_woken_and_does_not_wait_past_its_limit,
    a_hundred_waiters_hold_it_one_by_one,
    callers_of_a_process_hold_it_in_the_order_of_asking,
    a_caller_who_gives_up_delays_nobody,
    an_owner_enters_again_past_those_who_wait,
    a_lease_is_renewed_while_it_is_held_and_free_when_its_guard_is_dropped,
    an_inner_guard_does_not_shorten_the_outer_lease,
    tokens_rise_past_a_restart,
    tokens_rise_above_one_that_a_resource_has_seen,
}

const NAME: &str = "rebuild:7";
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(120);

fn entry(owner: u128, number: u64) -> LockEntry {
    LockEntry { owner: LockOwner::new(owner), number }
}

async fn enter(w: &World, entry: LockEntry, lease: Duration) -> LockOutcome {
    w.storage.base.locks.enter(NAME, entry, lease).await.unwrap()
}

async fn enter_for_long(w: &World, entry: LockEntry) -> Option<FencingToken> {
    match enter(w, entry, LONG).await {
        LockOutcome::Held(token) => Some(token),
        LockOutcome::Busy { left } => {
            assert!(left <= LONG);
            None
        }
    }
}

fn locker(w: &World) -> Locker {
    Locker::new(Arc::clone(&w.storage.base.locks))
}

async fn a_lock_has_one_owner_until_it_leaves(w: &World) {
    let first = enter_for_long(w, entry(1, 0)).await.unwrap();
    assert_eq!(enter_for_long(w, entry(2, 0)).await, None);
    assert!(matches!(
        w.storage.base.locks.enter("another", entry(2, 0), LONG).await.unwrap(),
        LockOutcome::Held(_)
    ));
    assert!(w.storage.base.locks.leave(NAME, entry(1, 0)).await.unwrap());
    let second = enter_for_long(w, entry(2, 0)).await.unwrap();
    assert!(second > first, "{second} after {first}");
}

async fn an_owner_enters_again_and_leaves_as_often(w: &World) {
    let token = enter_for_long(w, entry(1, 0)).await;
    assert_eq!(enter_for_long(w, entry(1, 1)).await, token, "the same token");
    assert!(w.storage.base.locks.leave(NAME, entry(1, 0)).await.unwrap());
    assert_eq!(enter_for_long(w, entry(2, 0)).await, None, "still in it once");
    assert!(w.storage.base.locks.leave(NAME, entry(1, 1)).await.unwrap());
    assert!(enter_for_long(w, entry(2, 0)).await > token);
}

async fn entering_and_leaving_twice_is_as_once(w: &World) {
    let token = enter_for_long(w, entry(1, 0)).await;
    assert_eq!(enter_for_long(w, entry(1, 0)).await, token);
    assert!(w.storage.base.locks.leave(NAME, entry(1, 0)).await.unwrap());
    assert!(enter_for_long(w, entry(2, 0)).await.is_some());
    assert!(!w.storage.base.locks.leave(NAME, entry(1, 0)).await.unwrap(), "it is another's by now");
    assert_eq!(enter_for_long(w, entry(1, 1)).await, None);
}

async fn only_the_owner_can_leave_or_renew(w: &World) {
    let locks = &w.storage.base.locks;
    assert!(enter_for_long(w, entry(1, 0)).await.is_some());
    assert!(!locks.leave(NAME, entry(2, 0)).await.unwrap());
    assert!(!locks.leave(NAME, entry(1, 9)).await.unwrap(), "an entry that there was not");
    assert!(!locks.renew(NAME, LockOwner::new(2), LONG).await.unwrap());
    assert_eq!(enter_for_long(w, entry(2, 0)).await, None);
    assert!(locks.renew(NAME, LockOwner::new(1), LONG).await.unwrap());
    assert!(!locks.leave("never taken", entry(1, 0)).await.unwrap());
}

async fn a_dead_holders_lock_is_free_when_its_lease_ends(w: &World) {
    // Before the lease: the response that grants the lease may be late.
    let began = Instant::now();
    assert!(matches!(enter(w, entry(1, 0), SHORT).await, LockOutcome::Held(_)));
    let held = locker(w).hold(NAME, LockOwner::new(2), LONG, LONG).await.unwrap();
    let waited = began.elapsed();
    assert!(held.is_some_and(|held| held.is_held()));
    assert!(waited >= SHORT / 2 && patience::is_within(waited, SHORT * 10), "{waited:?}");
    assert!(
        !w.storage.base.locks.renew(NAME, LockOwner::new(1), LONG).await.unwrap(),
        "the dead one is late"
    );
}

/// A resource behind a lock, which remembers the greatest fencing token seen.
#[derive(Default)]
struct Guarded(Mutex<(u64, &'static str)>);

impl Guarded {
    fn write(&self, token: FencingToken, text: &'static str) -> bool {
        let mut state = self.0.lock();
        let is_current = token.get() >= state.0;
        if is_current {
            *state = (token.get(), text);
        }
        is_current
    }
}

async fn a_holder_stopped_past_its_lease_is_refused_by_its_token(w: &World) {
    let guarded = Guarded::default();
    // Stopped: nobody renews the lease.
    let LockOutcome::Held(stopped) = enter(w, entry(1, 0), SHORT).await else { panic!("it is free") };
    assert!(guarded.write(stopped, "before"));
    let next = locker(w).hold(NAME, LockOwner::new(2), LONG, LONG).await.unwrap().unwrap();
    assert!(guarded.write(next.token(), "next"));
    assert!(!guarded.write(stopped, "late"), "it went on, and did not know");
    assert_eq!(guarded.0.lock().1, "next");
    assert!(guarded.write(next.token(), "again"));
}

async fn a_waiter_is_woken_and_does_not_wait_past_its_limit(w: &World) {
    let (holder, waiter) = (locker(w), locker(w));
    let held = holder.hold(NAME, LockOwner::new(1), LONG, Duration::ZERO).await.unwrap().unwrap();
    let began = Instant::now();
    assert!(waiter.hold(NAME, LockOwner::new(2), LONG, Duration::ZERO).await.unwrap().is_none());
    assert!(waiter.hold(NAME, LockOwner::new(2), LONG, SHORT).await.unwrap().is_none());
    assert!(
        began.elapsed() >= SHORT && patience::is_within(began.elapsed(), SHORT * 5),
        "{:?}",
        began.elapsed()
    );
    let waiting = tokio::spawn(async move {
        waiter.hold(NAME, LockOwner::new(2), LONG, LONG).await.unwrap().map(|held| (Instant::now(), held))
    });
    tokio::time::sleep(SHORT).await;
    let freed = Instant::now();
    assert!(held.leave().await.unwrap());
    let (got, _held) = waiting.await.unwrap().unwrap();
    // Without a notification, the waiter would retry after half a second.
    assert!(got - freed < Duration::from_millis(300), "{:?}", got - freed);
}

async fn a_hundred_waiters_hold_it_one_by_one(w: &World) {
    const WAITERS: u128 = 100;
    let locker = Arc::new(locker(w));
    let (inside, most, last) =
        (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut tasks = tokio::task::JoinSet::new();
    for owner in 0..WAITERS {
        let (locker, inside) = (Arc::clone(&locker), Arc::clone(&inside));
        let (most, last) = (Arc::clone(&most), Arc::clone(&last));
        tasks.spawn(async move {
            let held = locker.hold(NAME, LockOwner::new(owner), LONG, LONG).await.unwrap().unwrap();
            most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            assert!(last.swap(held.token().get(), Ordering::SeqCst) < held.token().get(), "tokens rise");
            tokio::task::yield_now().await;
            inside.fetch_sub(1, Ordering::SeqCst);
            assert!(held.leave().await.unwrap());
        });
    }
    let began = Instant::now();
    let mut held = 0;
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
        held += 1;
    }
    assert_eq!((held, most.load(Ordering::SeqCst)), (WAITERS, 1));
    // Without a notification, each waiter would retry only every half second.
    assert!(patience::is_within(began.elapsed(), Duration::from_secs(10)), "{:?}", began.elapsed());
}

/// Asks for a lock by the first poll. Returns whether the caller has to wait.
async fn waits<F: Future>(caller: &mut Pin<Box<F>>) -> bool {
    std::future::poll_fn(|context| Poll::Ready(caller.as_mut().poll(context).is_pending())).await
}

/// Each caller asks again as soon as its turn is over, and must not overtake those who wait.
async fn callers_of_a_process_hold_it_in_the_order_of_asking(w: &World) {
    const CALLERS: usize = 12;
    const ROUNDS: usize = 5;
    let first = locker(w).hold(NAME, LockOwner::new(99), LONG, Duration::ZERO).await.unwrap().unwrap();
    let holders = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = tokio::task::JoinSet::new();
    for caller in 0..CALLERS {
        let (locker, holders) = (locker(w), Arc::clone(&holders));
        let mut caller = Box::pin(async move {
            for _ in 0..ROUNDS {
                let held = locker.hold(NAME, LockOwner::random(), LONG, LONG).await.unwrap().unwrap();
                holders.lock().push(caller);
                assert!(held.leave().await.unwrap());
            }
        });
        // The first poll asks.
        assert!(waits(&mut caller).await);
        tasks.spawn(caller);
    }
    assert!(first.leave().await.unwrap());
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    let in_order: Vec<usize> = (0..ROUNDS).flat_map(|_| 0..CALLERS).collect();
    assert_eq!(*holders.lock(), in_order);
}

async fn a_caller_who_gives_up_delays_nobody(w: &World) {
    let held = locker(w).hold(NAME, LockOwner::new(1), LONG, Duration::ZERO).await.unwrap().unwrap();
    let (impatient, patient) = (locker(w), locker(w));
    let mut dropped = Box::pin(impatient.hold(NAME, LockOwner::new(2), LONG, LONG));
    assert!(waits(&mut dropped).await);
    assert!(impatient.hold(NAME, LockOwner::new(3), LONG, SHORT).await.unwrap().is_none());
    let mut waiting = Box::pin(patient.hold(NAME, LockOwner::new(4), LONG, LONG));
    assert!(waits(&mut waiting).await);
    drop(dropped);
    assert!(held.leave().await.unwrap());
    assert!(waiting.await.unwrap().unwrap().leave().await.unwrap());
}

async fn an_owner_enters_again_past_those_who_wait(w: &World) {
    let locker = locker(w);
    let outer = locker.hold(NAME, LockOwner::new(1), LONG, Duration::ZERO).await.unwrap().unwrap();
    let mut waiting = Box::pin(locker.hold(NAME, LockOwner::new(2), LONG, LONG));
    assert!(waits(&mut waiting).await);
    let inner = locker.hold(NAME, LockOwner::new(1), LONG, LONG).await.unwrap().unwrap();
    assert_eq!(inner.token(), outer.token());
    assert!(inner.leave().await.unwrap());
    assert_eq!(enter_for_long(w, entry(3, 0)).await, None, "the outer one still holds the lock");
    assert!(outer.leave().await.unwrap());
    let next = waiting.await.unwrap().unwrap();
    assert!(next.is_held() && next.leave().await.unwrap());
}

async fn a_lease_is_renewed_while_it_is_held_and_free_when_its_guard_is_dropped(w: &World) {
    let locker = locker(w);
    // Long enough for a machine busy with other tests.
    let lease = Duration::from_millis(900);
    let held = locker.hold(NAME, LockOwner::new(1), lease, Duration::ZERO).await.unwrap().unwrap();
    tokio::time::sleep(lease * 2).await;
    assert!(held.is_held());
    assert_eq!(enter_for_long(w, entry(2, 0)).await, None, "two leases later");
    drop(held);
    let began = Instant::now();
    assert!(locker.hold(NAME, LockOwner::new(2), LONG, LONG).await.unwrap().is_some());
    assert!(patience::is_within(began.elapsed(), Duration::from_secs(2)));
}

async fn an_inner_guard_does_not_shorten_the_outer_lease(w: &World) {
    let locker = locker(w);
    let owner = LockOwner::new(1);
    let outer = locker.hold(NAME, owner, LONG, Duration::ZERO).await.unwrap().unwrap();
    let inner = locker.hold(NAME, owner, SHORT, Duration::ZERO).await.unwrap().unwrap();
    assert_eq!(inner.token(), outer.token());
    tokio::time::sleep(SHORT).await;
    assert!(inner.leave().await.unwrap());
    tokio::time::sleep(SHORT * 2).await;
    assert_eq!(enter_for_long(w, entry(2, 0)).await, None);
    assert!(outer.is_held() && outer.leave().await.unwrap());
}

async fn tokens_rise_past_a_restart(w: &World) {
    let w = w.another().await;
    let before = enter_for_long(&w, entry(1, 0)).await.unwrap();
    assert!(w.storage.base.locks.leave(NAME, entry(1, 0)).await.unwrap());
    let w = w.reopen().await;
    let after = enter_for_long(&w, entry(1, 0)).await.unwrap();
    assert!(after > before, "{after} after {before}");
}

/// As after the loss of the last token, while the clock of the server is behind.
async fn tokens_rise_above_one_that_a_resource_has_seen(w: &World) {
    let locks = &w.storage.base.locks;
    let before = enter_for_long(w, entry(1, 0)).await.unwrap();
    let seen = FencingToken::new(before.get() + (1 << 40));
    for above in [seen, seen, FencingToken::new(1), FencingToken::new(0)] {
        locks.raise(NAME, above).await.unwrap();
    }
    assert_eq!(enter_for_long(w, entry(1, 1)).await, Some(before), "a held lock keeps its token");
    assert!(locks.leave(NAME, entry(1, 0)).await.unwrap() && locks.leave(NAME, entry(1, 1)).await.unwrap());
    let mut last = seen;
    for owner in 2..5 {
        let token = enter_for_long(w, entry(owner, 0)).await.unwrap();
        assert!(token > last, "{token} after {last}");
        assert!(locks.leave(NAME, entry(owner, 0)).await.unwrap());
        last = token;
    }
}
