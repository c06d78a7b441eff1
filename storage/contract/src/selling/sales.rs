//! `Sales`: one unit per user, and exactly the stock in total.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mallbox_storage::{
    Claim, ClaimOutcome, OrderId, ReleaseOutcome, SaleUnits, Terms, Transition, UserId, VoucherId,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::selling::orders::persist;
use crate::world::{HOUR, NOON, TOKEN, World, claim};

crate::cases! {
    unknown_sale_is_unknown,
    window_and_pause_are_decided_at_the_instant_of_the_claim,
    one_unit_a_user_and_the_order_is_named,
    already_bought_comes_before_any_other_refusal,
    a_repeat_with_the_same_order_is_accepted_and_takes_nothing,
    a_refused_claim_changes_nothing,
    units_go_up_and_down_but_never_below_what_is_taken,
    an_unlimited_sale_never_sells_out,
    a_released_unit_can_be_bought_again,
    a_release_of_another_order_does_nothing,
    a_claim_that_is_settled_and_still_in_the_log_holds_nothing,
    buyers_are_found_again_when_a_sale_is_loaded,
    a_unit_given_back_while_its_sale_is_loaded_is_not_lost,
    an_accepted_claim_is_in_the_log,
    a_rush_sells_exactly_the_units,
    random_steps_agree_with_a_plain_map,
}

async fn unknown_sale_is_unknown(w: &World) {
    let sales = &w.storage.selling.sales;
    let nowhere = VoucherId::new(404);
    assert_eq!(sales.claim(claim(nowhere, 1, 1)).await.unwrap(), ClaimOutcome::Unknown);
    assert_eq!(sales.units(nowhere).await.unwrap(), None);
    assert_eq!(
        sales.release(nowhere, UserId::new(1), OrderId::new(1)).await.unwrap(),
        ReleaseOutcome::NotHeld
    );
    sales.forget(nowhere).await.unwrap();
    let voucher = w.sale(Some(1)).await;
    sales.forget(voucher).await.unwrap();
    assert_eq!(sales.claim(claim(voucher, 1, 1)).await.unwrap(), ClaimOutcome::Unknown);
}

async fn window_and_pause_are_decided_at_the_instant_of_the_claim(w: &World) {
    let voucher = w.sale(Some(9)).await;
    let terms = w.terms(voucher).await;
    let ms = std::time::Duration::from_millis(1);
    let at = |now, number| Claim { at: now, ..claim(voucher, number, number) };
    for (number, now, expected) in [
        (1, terms.begin - ms, ClaimOutcome::NotOpen),
        (2, terms.begin, ClaimOutcome::Accepted),
        (3, terms.end - ms, ClaimOutcome::Accepted),
        (4, terms.end, ClaimOutcome::Ended),
    ] {
        assert_eq!(w.storage.selling.sales.claim(at(now, number)).await.unwrap(), expected, "claim {number}");
    }
    w.storage.selling.sales.put(Terms { paused: true, ..terms }, TOKEN).await.unwrap().done().unwrap();
    for (now, expected) in [
        (terms.begin - ms, ClaimOutcome::NotOpen),
        (terms.begin, ClaimOutcome::Paused),
        (terms.end, ClaimOutcome::Ended),
    ] {
        assert_eq!(w.storage.selling.sales.claim(at(now, 5)).await.unwrap(), expected, "paused, at {now:?}");
    }
    w.storage
        .selling
        .sales
        .put(Terms { end: terms.end + HOUR, ..terms }, TOKEN)
        .await
        .unwrap()
        .done()
        .unwrap();
    assert_eq!(w.storage.selling.sales.claim(at(terms.end, 6)).await.unwrap(), ClaimOutcome::Accepted);
}

async fn already_bought_comes_before_any_other_refusal(w: &World) {
    let voucher = w.sale(Some(9)).await;
    let (terms, sales) = (w.terms(voucher).await, &w.storage.selling.sales);
    let [holder, nobody] = [7, 8].map(UserId::new);
    assert_eq!(sales.held(voucher, holder, 0).await.unwrap(), None);
    let bought = claim(voucher, 7, 1);
    assert_eq!(sales.claim(bought).await.unwrap(), ClaimOutcome::Accepted);
    let refusals = [
        (Terms { paused: true, ..terms }, NOON, ClaimOutcome::Paused),
        (terms, terms.end, ClaimOutcome::Ended),
        (Terms { begin: NOON + HOUR / 2, ..terms }, NOON, ClaimOutcome::NotOpen),
    ];
    for is_recorded in [false, true] {
        for (terms, at, refusal) in refusals {
            sales.put(terms, TOKEN).await.unwrap().done().unwrap();
            let again = |user| Claim { at, ..claim(voucher, user, user + 10) };
            assert_eq!(sales.claim(again(7)).await.unwrap(), ClaimOutcome::AlreadyBought(bought.order));
            assert_eq!(sales.claim(again(8)).await.unwrap(), refusal);
            assert_eq!(sales.held(voucher, holder, 0).await.unwrap(), Some(bought.order), "{is_recorded}");
            assert_eq!(sales.held(voucher, nobody, 0).await.unwrap(), None);
        }
        w.persist_all().await;
    }
    assert_eq!(sales.units(voucher).await.unwrap(), Some(SaleUnits { units: Some(9), taken: 1 }));
    assert_eq!(sales.held(VoucherId::new(404), holder, 0).await.unwrap(), None);
}

async fn one_unit_a_user_and_the_order_is_named(w: &World) {
    let voucher = w.sale(Some(1)).await;
    let first = claim(voucher, 7, 1);
    assert_eq!(w.storage.selling.sales.claim(first).await.unwrap(), ClaimOutcome::Accepted);
    let held = ClaimOutcome::AlreadyBought(first.order);
    assert_eq!(
        w.storage.selling.sales.claim(claim(voucher, 7, 2)).await.unwrap(),
        held,
        "while it is pending, and sold out"
    );
    w.persist_all().await;
    assert_eq!(w.storage.selling.sales.claim(claim(voucher, 7, 3)).await.unwrap(), held, "from the record");
    assert_eq!(w.storage.selling.sales.claim(claim(voucher, 8, 4)).await.unwrap(), ClaimOutcome::SoldOut);
    let other = w.sale(Some(1)).await;
    assert_eq!(
        w.storage.selling.sales.claim(claim(other, 7, 5)).await.unwrap(),
        ClaimOutcome::Accepted,
        "one per sale"
    );
}

async fn a_repeat_with_the_same_order_is_accepted_and_takes_nothing(w: &World) {
    let voucher = w.sale(Some(2)).await;
    let attempt = claim(voucher, 7, 1);
    for _ in 0..2 {
        assert_eq!(w.storage.selling.sales.claim(attempt).await.unwrap(), ClaimOutcome::Accepted);
    }
    assert_eq!(w.persist_all().await.len(), 1);
    assert_eq!(w.storage.selling.sales.claim(attempt).await.unwrap(), ClaimOutcome::Accepted);
    assert_eq!(left(w, voucher).await, 1);
}

async fn a_refused_claim_changes_nothing(w: &World) {
    let voucher = w.sale(Some(2)).await;
    let terms = w.terms(voucher).await;
    assert_eq!(w.storage.selling.sales.claim(claim(voucher, 1, 1)).await.unwrap(), ClaimOutcome::Accepted);
    let _ = w.storage.selling.sales.claim(claim(voucher, 1, 2)).await.unwrap();
    let _ = w.storage.selling.sales.claim(Claim { at: terms.end, ..claim(voucher, 2, 3) }).await.unwrap();
    assert_eq!(
        w.storage.selling.sales.units(voucher).await.unwrap(),
        Some(SaleUnits { units: Some(2), taken: 1 })
    );
    assert_eq!(w.storage.selling.order_log.state().await.pending, 1);
    assert_eq!(w.storage.selling.sales.claim(claim(voucher, 2, 4)).await.unwrap(), ClaimOutcome::Accepted);
}

async fn units_go_up_and_down_but_never_below_what_is_taken(w: &World) {
    let voucher = w.sale(Some(3)).await;
    let terms = w.terms(voucher).await;
    let put = async |units| {
        w.storage.selling.sales.put(Terms { units, ..terms }, TOKEN).await.unwrap().done().unwrap()
    };
    for user in 1..=2 {
        assert_eq!(
            w.storage.selling.sales.claim(claim(voucher, user, user)).await.unwrap(),
            ClaimOutcome::Accepted
        );
    }
    for _ in 0..2 {
        assert_eq!(put(Some(5)).await, SaleUnits { units: Some(5), taken: 2 }, "a repeat changes nothing");
    }
    assert_eq!(put(Some(0)).await, SaleUnits { units: Some(2), taken: 2 });
    assert_eq!(w.storage.selling.sales.claim(claim(voucher, 3, 3)).await.unwrap(), ClaimOutcome::SoldOut);
    assert_eq!(put(None).await, SaleUnits { units: None, taken: 2 });
    assert_eq!(w.storage.selling.sales.claim(claim(voucher, 3, 3)).await.unwrap(), ClaimOutcome::Accepted);
    assert_eq!(put(Some(4)).await, SaleUnits { units: Some(4), taken: 3 });
    assert_eq!(left(w, voucher).await, 1);
}

async fn an_unlimited_sale_never_sells_out(w: &World) {
    let voucher = w.sale(None).await;
    for user in 1..=20 {
        assert_eq!(
            w.storage.selling.sales.claim(claim(voucher, user, user)).await.unwrap(),
            ClaimOutcome::Accepted
        );
    }
    let units = w.storage.selling.sales.units(voucher).await.unwrap().unwrap();
    assert_eq!((units, units.left()), (SaleUnits { units: None, taken: 20 }, None));
    assert_eq!(
        w.storage.selling.sales.claim(claim(voucher, 20, 21)).await.unwrap(),
        held_by(claim(voucher, 20, 20))
    );
}

async fn a_released_unit_can_be_bought_again(w: &World) {
    let voucher = w.sale(Some(1)).await;
    let first = claim(voucher, 1, 1);
    assert_eq!(w.storage.selling.sales.claim(first).await.unwrap(), ClaimOutcome::Accepted);
    w.persist_all().await;
    cancel_and_release(w, first, ReleaseOutcome::Released).await;
    assert_eq!(left(w, voucher).await, 1);
    let again = claim(voucher, 1, 2);
    assert_eq!(
        w.storage.selling.sales.claim(again).await.unwrap(),
        ClaimOutcome::Accepted,
        "the same user may buy again"
    );
    assert_eq!(
        w.storage.selling.sales.release(voucher, first.user, first.order).await.unwrap(),
        ReleaseOutcome::NotHeld
    );
    w.persist_all().await;
    assert_eq!(
        w.storage.selling.sales.release(voucher, first.user, first.order).await.unwrap(),
        ReleaseOutcome::NotHeld
    );
    assert_eq!(w.storage.selling.sales.claim(claim(voucher, 2, 3)).await.unwrap(), ClaimOutcome::SoldOut);
    cancel_and_release(w, again, ReleaseOutcome::Released).await;
    assert_eq!(
        w.storage.selling.sales.claim(claim(voucher, 2, 4)).await.unwrap(),
        ClaimOutcome::Accepted,
        "so may another"
    );
}

async fn a_release_of_another_order_does_nothing(w: &World) {
    let voucher = w.sale(Some(2)).await;
    let mine = claim(voucher, 1, 1);
    assert_eq!(w.storage.selling.sales.claim(mine).await.unwrap(), ClaimOutcome::Accepted);
    for (user, order) in [(1, 99), (2, 99)] {
        let release =
            w.storage.selling.sales.release(voucher, UserId::new(user), OrderId::new(order)).await.unwrap();
        assert_eq!(release, ReleaseOutcome::NotHeld);
    }
    w.persist_all().await;
    let release = w.storage.selling.sales.release(voucher, mine.user, mine.order).await.unwrap();
    assert_eq!(release, ReleaseOutcome::NotHeld, "its order is live");
    assert_eq!(left(w, voucher).await, 1);
}

/// The worker died between its two steps. Its claim must not keep another unit of the user's from being
/// released.
async fn a_claim_that_is_settled_and_still_in_the_log_holds_nothing(w: &World) {
    let voucher = w.sale(Some(5)).await;
    let (first, second) = (claim(voucher, 7, 1), claim(voucher, 7, 2));
    assert_eq!(w.storage.selling.sales.claim(first).await.unwrap(), ClaimOutcome::Accepted);
    persist(w, &[first]).await;
    cancel_and_release(w, first, ReleaseOutcome::Released).await;
    persist(w, &[second]).await;
    w.storage.selling.sales.forget(voucher).await.unwrap();
    assert_eq!(
        w.storage.selling.sales.put(w.terms(voucher).await, TOKEN).await.unwrap().done().unwrap().taken,
        1
    );
    cancel_and_release(w, second, ReleaseOutcome::Released).await;
    assert_eq!(left(w, voucher).await, 5);
}

async fn buyers_are_found_again_when_a_sale_is_loaded(w: &World) {
    let voucher = w.sale(Some(5)).await;
    let (recorded, pending, cancelled) = (claim(voucher, 1, 1), claim(voucher, 2, 2), claim(voucher, 3, 3));
    for attempt in [recorded, cancelled] {
        assert_eq!(w.storage.selling.sales.claim(attempt).await.unwrap(), ClaimOutcome::Accepted);
    }
    w.persist_all().await;
    cancel_and_release(w, cancelled, ReleaseOutcome::Released).await;
    assert_eq!(w.storage.selling.sales.claim(pending).await.unwrap(), ClaimOutcome::Accepted);
    // In the database and still in the log, as between a worker's two steps.
    let between = claim(voucher, 4, 4);
    assert_eq!(w.storage.selling.sales.claim(between).await.unwrap(), ClaimOutcome::Accepted);
    let taken = w.storage.selling.order_log.take("other", 10, std::time::Duration::ZERO).await.unwrap();
    w.storage.selling.orders.persist(&taken[1..], NOON).await.unwrap();

    w.storage.selling.sales.forget(voucher).await.unwrap();
    let units = w.storage.selling.sales.put(w.terms(voucher).await, TOKEN).await.unwrap().done().unwrap();
    assert_eq!(units, SaleUnits { units: Some(5), taken: 3 });
    for attempt in [recorded, pending, between] {
        let again = Claim { order: claim(voucher, 9, 9).order, ..attempt };
        assert_eq!(w.storage.selling.sales.claim(again).await.unwrap(), held_by(attempt));
    }
    assert_eq!(w.storage.selling.sales.claim(claim(voucher, 3, 5)).await.unwrap(), ClaimOutcome::Accepted);
}

async fn a_unit_given_back_while_its_sale_is_loaded_is_not_lost(w: &World) {
    const ORDERS: u64 = 3_000;
    const RELEASED: usize = 300;
    let voucher = w.sale(Some(ORDERS)).await;
    let attempts: Vec<Claim> = (1..=ORDERS).map(|user| claim(voucher, user, user)).collect();
    let mut claims = tokio::task::JoinSet::new();
    for some in attempts.chunks(100) {
        let (sales, some) = (Arc::clone(&w.storage.selling.sales), some.to_vec());
        claims.spawn(async move {
            for attempt in some {
                assert_eq!(sales.claim(attempt).await.unwrap(), ClaimOutcome::Accepted);
            }
        });
    }
    claims.join_all().await;
    w.persist_all().await;
    let terms = w.terms(voucher).await;
    let storage = w.storage.clone();
    let closing = tokio::spawn(async move {
        for attempt in attempts.iter().take(RELEASED) {
            let stepped = storage.selling.orders.step(attempt.order, Transition::Cancel, NOON).await.unwrap();
            assert!(matches!(stepped, mallbox_storage::TransitionOutcome::Done(_)), "{stepped:?}");
            // Where the sale is not in memory there is nothing to release: the next load reads a cancelled
            // order.
            let _ =
                storage.selling.sales.release(attempt.voucher, attempt.user, attempt.order).await.unwrap();
        }
    });
    while !closing.is_finished() {
        w.storage.selling.sales.forget(voucher).await.unwrap();
        w.storage.selling.sales.put(terms, TOKEN).await.unwrap().done().unwrap();
    }
    closing.await.unwrap();
    let held = w.storage.selling.sales.units(voucher).await.unwrap().unwrap().taken;
    assert_eq!(held, ORDERS - RELEASED as u64);
}

async fn an_accepted_claim_is_in_the_log(w: &World) {
    let voucher = w.sale(Some(5)).await;
    let mine = claim(voucher, 1, 1);
    assert_eq!(w.storage.selling.sales.claim(mine).await.unwrap(), ClaimOutcome::Accepted);
    assert_eq!(w.storage.selling.order_log.find(mine.order).await.unwrap(), Some(mine));
    assert_eq!(w.storage.selling.order_log.of_user(mine.user).await.unwrap(), [mine]);
    let logged = w.persist_all().await;
    assert_eq!(logged.iter().map(|logged| logged.claim).collect::<Vec<_>>(), [mine]);
    assert_eq!(w.storage.selling.order_log.find(mine.order).await.unwrap(), None);
}

/// Eight threads, each with more users than units, start at one barrier; every fifth winner releases the
/// unit.
async fn a_rush_sells_exactly_the_units(w: &World) {
    const THREADS: usize = 8;
    const USERS: u64 = 400;
    const UNITS: u64 = 1000;
    let voucher = w.sale(Some(UNITS)).await;
    let start = Arc::new(std::sync::Barrier::new(THREADS));
    let threads: Vec<_> = (0..THREADS as u64)
        .map(|thread| {
            let (sales, start) = (Arc::clone(&w.storage.selling.sales), Arc::clone(&start));
            tokio::task::spawn_blocking(move || {
                start.wait();
                let runtime = tokio::runtime::Handle::current();
                // Neighbouring threads share half of their users.
                let users = (0..USERS).map(|n| thread * USERS / 2 + n);
                let won = |user| {
                    let attempt = claim(voucher, user, thread * USERS + user);
                    runtime.block_on(sales.claim(attempt)).unwrap() == ClaimOutcome::Accepted
                };
                users.filter(|user| won(*user)).collect::<Vec<_>>()
            })
        })
        .collect();
    let mut winners: HashMap<u64, u64> = HashMap::new();
    for thread in threads {
        for user in thread.await.unwrap() {
            *winners.entry(user).or_default() += 1;
        }
    }
    assert!(winners.values().all(|wins| *wins == 1), "one unit a user");
    assert_eq!(winners.len() as u64, UNITS.min(THREADS as u64 * USERS / 2 + USERS / 2));
    assert_eq!(left(w, voucher).await, UNITS - winners.len() as u64);
    assert_eq!(w.storage.selling.order_log.state().await.pending, winners.len() as u64);
}

async fn random_steps_agree_with_a_plain_map(w: &World) {
    let seed = rand::random();
    println!("seed {seed}");
    let mut dice = StdRng::seed_from_u64(seed);
    // The database has more units than are ever put; a database with fewer is another case.
    let voucher = w.sale(Some(12)).await;
    let terms = w.terms(voucher).await;
    w.storage.selling.sales.put(Terms { units: Some(6), ..terms }, TOKEN).await.unwrap().done().unwrap();
    let (mut units, mut holders) = (6_u64, BTreeMap::<u64, Claim>::new());
    for number in 1..400 {
        let user = dice.random_range(1..=10);
        match dice.random_range(0..10) {
            0..=5 => {
                let attempt = claim(voucher, user, number);
                let expected = match holders.get(&user) {
                    Some(held) => held_by(*held),
                    None if holders.len() as u64 >= units => ClaimOutcome::SoldOut,
                    None => ClaimOutcome::Accepted,
                };
                assert_eq!(w.storage.selling.sales.claim(attempt).await.unwrap(), expected, "step {number}");
                if expected == ClaimOutcome::Accepted {
                    holders.insert(user, attempt);
                }
            }
            6..=7 => {
                if let Some(held) = holders.remove(&user) {
                    w.persist_all().await;
                    cancel_and_release(w, held, ReleaseOutcome::Released).await;
                }
            }
            8 => {
                let wanted = dice.random_range(0..12);
                units = wanted.max(holders.len() as u64);
                let put = w
                    .storage
                    .selling
                    .sales
                    .put(Terms { units: Some(wanted), ..terms }, TOKEN)
                    .await
                    .unwrap()
                    .done()
                    .unwrap();
                assert_eq!(
                    put,
                    SaleUnits { units: Some(units), taken: holders.len() as u64 },
                    "step {number}"
                );
            }
            _ => {
                w.storage.selling.sales.forget(voucher).await.unwrap();
                w.storage
                    .selling
                    .sales
                    .put(Terms { units: Some(units), ..terms }, TOKEN)
                    .await
                    .unwrap()
                    .done()
                    .unwrap();
            }
        }
        assert_eq!(left(w, voucher).await, units - holders.len() as u64, "step {number}");
    }
}

async fn left(w: &World, voucher: VoucherId) -> u64 {
    w.storage.selling.sales.units(voucher).await.unwrap().unwrap().left().unwrap()
}

fn held_by(claim: Claim) -> ClaimOutcome {
    ClaimOutcome::AlreadyBought(claim.order)
}

pub(super) async fn cancel_and_release(w: &World, claim: Claim, expected: ReleaseOutcome) {
    let stepped = w.storage.selling.orders.step(claim.order, Transition::Cancel, NOON).await.unwrap();
    assert!(matches!(stepped, mallbox_storage::TransitionOutcome::Done(_)), "{stepped:?}");
    let release = w.storage.selling.sales.release(claim.voucher, claim.user, claim.order).await.unwrap();
    assert_eq!(release, expected);
}
