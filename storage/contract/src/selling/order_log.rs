//! `OrderLog`: each accepted claim is handed out until settled.

use std::time::Duration;

use mallbox_storage::{ClaimOutcome, LoggedClaim, OrderId, PendingClaims, UserId, VoucherId};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;

use crate::world::{NOON, WORKER, World, claim};

crate::cases! {
    an_empty_log_waits_and_then_says_so,
    claims_are_handed_out_once_in_their_order,
    what_is_put_back_comes_again_and_refusals_count,
    what_comes_back_takes_its_old_place,
    a_dead_workers_claims_are_handed_out_again,
    only_the_worker_that_has_a_claim_settles_it,
    claims_settled_in_any_order_leave_all_others_in_the_log,
    pending_claims_are_found_by_order_and_by_user,
}

async fn take(w: &World, worker: &str, max: usize) -> Vec<LoggedClaim> {
    w.storage.selling.order_log.take(worker, max, Duration::ZERO).await.unwrap()
}

fn durable(durable: u64) -> PendingClaims {
    PendingClaims { durable, in_doubt: 0 }
}

async fn fill(w: &World, claims: u64) {
    let voucher = w.sale(None).await;
    for number in 1..=claims {
        assert_eq!(
            w.storage.selling.sales.claim(claim(voucher, number, number)).await.unwrap(),
            ClaimOutcome::Accepted
        );
    }
}

fn users(claims: &[LoggedClaim]) -> Vec<u64> {
    claims.iter().map(|logged| logged.claim.user.get()).collect()
}

async fn an_empty_log_waits_and_then_says_so(w: &World) {
    let began = std::time::Instant::now();
    assert!(
        w.storage.selling.order_log.take(WORKER, 10, Duration::from_millis(60)).await.unwrap().is_empty()
    );
    assert!(began.elapsed() >= Duration::from_millis(60));
    let state = w.storage.selling.order_log.state().await;
    assert_eq!((state.pending, state.oldest, state.trouble), (0, None, None));
}

async fn claims_are_handed_out_once_in_their_order(w: &World) {
    fill(w, 5).await;
    assert_eq!(w.storage.selling.order_log.state().await.oldest, Some(NOON));
    assert_eq!(users(&take(w, "a", 2).await), [1, 2]);
    assert_eq!(users(&take(w, "b", 10).await), [3, 4, 5]);
    assert!(take(w, "a", 10).await.is_empty());
    assert_eq!(w.storage.selling.order_log.state().await.pending, 5, "nothing is settled yet");
}

async fn what_is_put_back_comes_again_and_refusals_count(w: &World) {
    fill(w, 3).await;
    let taken = take(w, WORKER, 10).await;
    w.storage.selling.order_log.put_back(WORKER, &taken[..1], true).await.unwrap();
    w.storage.selling.order_log.put_back(WORKER, &taken[1..], false).await.unwrap();
    let mut again = take(w, WORKER, 10).await;
    again.sort_by_key(|logged| logged.position);
    assert_eq!(again.iter().map(|logged| logged.attempts).collect::<Vec<_>>(), [1, 0, 0]);
    assert_eq!(users(&again), [1, 2, 3]);
}

async fn what_comes_back_takes_its_old_place(w: &World) {
    fill(w, 6).await;
    let (first, second) = (take(w, "a", 2).await, take(w, "b", 2).await);
    w.storage.selling.order_log.put_back("a", &first, false).await.unwrap();
    w.storage.selling.order_log.put_back("b", &second[1..], false).await.unwrap();
    w.storage.selling.order_log.put_back("b", &second[..1], true).await.unwrap();
    assert_eq!(users(&take(w, WORKER, usize::MAX).await), [1, 2, 3, 4, 5, 6]);
}

async fn a_dead_workers_claims_are_handed_out_again(w: &World) {
    fill(w, 3).await;
    take(w, "dead", 2).await;
    assert_eq!(w.storage.selling.order_log.reclaim("dead").await.unwrap(), 2);
    assert_eq!(w.storage.selling.order_log.reclaim("dead").await.unwrap(), 0);
    assert_eq!(w.storage.selling.order_log.reclaim("nobody").await.unwrap(), 0);
    assert_eq!(users(&take(w, WORKER, 10).await), [1, 2, 3]);
}

async fn only_the_worker_that_has_a_claim_settles_it(w: &World) {
    fill(w, 2).await;
    let taken = take(w, WORKER, 10).await;
    let orders: Vec<_> = taken.iter().map(|logged| logged.claim.order).collect();
    let mut refused = w.storage.selling.order_log.done("other", &taken).await.unwrap();
    refused.sort_unstable();
    assert_eq!(refused, orders);
    assert_eq!(w.storage.selling.order_log.state().await.pending, 2);
    for not_in_hand in [&[], &orders[..1]] {
        assert_eq!(w.storage.selling.order_log.done(WORKER, &taken[..1]).await.unwrap(), not_in_hand);
        assert_eq!(w.storage.selling.order_log.state().await.pending, 1, "settling again changes nothing");
    }
}

/// Two workers settle parts of what they have in hand, in random order, while others are not handed out yet.
async fn claims_settled_in_any_order_leave_all_others_in_the_log(w: &World) {
    const TAKEN: usize = 150;
    const UNTAKEN: usize = 60;
    let seed = rand::random();
    println!("seed {seed}");
    let mut dice = StdRng::seed_from_u64(seed);
    let log = &w.storage.selling.order_log;
    fill(w, (2 * TAKEN + UNTAKEN) as u64).await;
    let (mut parts, mut taken) = (Vec::new(), Vec::new());
    for worker in ["a", "b"] {
        let mut mine = take(w, worker, TAKEN).await;
        taken.extend(mine.iter().map(|logged| logged.claim.user.get()));
        mine.shuffle(&mut dice);
        parts.extend(mine.chunks(40).map(|part| (worker, part.to_vec())));
    }
    assert_eq!(taken.len(), 2 * TAKEN);
    parts.shuffle(&mut dice);
    let kept = parts.split_off(parts.len() / 2);
    let mut left = 2 * TAKEN + UNTAKEN;
    for (worker, part) in &parts {
        assert_eq!(log.done(worker, part).await.unwrap(), []);
        left -= part.len();
        assert_eq!(log.state().await.pending, left as u64);
    }
    for (_, part) in &kept {
        for logged in part {
            assert_eq!(log.find(logged.claim.order).await.unwrap(), Some(logged.claim));
        }
    }
    // The rest in hand goes to the other worker, after what nobody had.
    let mut rest: Vec<u64> = users(&take(w, WORKER, usize::MAX).await);
    assert!(rest.iter().all(|user| !taken.contains(user)), "handed out twice: {rest:?}");
    assert_eq!(rest.len(), UNTAKEN);
    for worker in ["a", "b"] {
        log.reclaim(worker).await.unwrap();
    }
    let again = take(w, WORKER, usize::MAX).await;
    rest.extend(users(&again));
    assert_eq!(rest.len(), left);
    let mut expected: Vec<u64> = kept.iter().flat_map(|(_, part)| users(part)).collect();
    let mut found = users(&again);
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(log.done(WORKER, &again).await.unwrap(), []);
    assert_eq!(log.state().await.pending, UNTAKEN as u64);
}

async fn pending_claims_are_found_by_order_and_by_user(w: &World) {
    let (first, second) = (w.sale(None).await, w.sale(None).await);
    let claims = [claim(first, 7, 1), claim(second, 7, 2), claim(first, 8, 3)];
    // The newest order's claim need not be the last accepted claim.
    for claim in [claims[1], claims[0], claims[2]] {
        assert_eq!(w.storage.selling.sales.claim(claim).await.unwrap(), ClaimOutcome::Accepted);
    }
    let log = &w.storage.selling.order_log;
    assert_eq!(log.of_user(UserId::new(7)).await.unwrap(), [claims[1], claims[0]], "newest first");
    assert_eq!(log.find(claims[2].order).await.unwrap(), Some(claims[2]));
    assert_eq!(log.find(OrderId::new(1)).await.unwrap(), None);
    for (voucher, pending) in [(first, 2), (second, 1), (VoucherId::new(99), 0)] {
        assert_eq!(log.count(voucher).await.unwrap(), durable(pending), "{voucher}");
    }
    let mut all = log.pending().await.unwrap();
    all.sort_by_key(|claim| claim.user);
    assert_eq!(all.iter().filter(|claim| claim.user == UserId::new(8)).collect::<Vec<_>>(), [&claims[2]]);
    assert_eq!(all.len(), 3, "of all sales");
    let taken = take(w, "a", 1).await;
    assert_eq!(log.pending().await.unwrap().len(), 3, "taken and not yet settled");
    log.put_back("a", &taken, false).await.unwrap();
    w.persist_all().await;
    assert_eq!(log.pending().await.unwrap(), []);
    assert!(log.of_user(UserId::new(7)).await.unwrap().is_empty());
    assert_eq!(log.count(first).await.unwrap(), durable(0));
}
