//! `Sales::claim_further`: several units per user, each claimed by its number.

use std::collections::BTreeMap;
use std::num::NonZeroU8;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    Claim, ClaimOutcome, DeadReason, OrderStatus, Page, Pass, PersistOutcome, ReleaseOutcome, ReserveOutcome,
    SaleUnits, Terms, UserId, VoucherId,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::selling::orders::persist;
use crate::selling::sales::cancel_and_release;
use crate::world::{NOON, TOKEN, World, claim, letters};

crate::cases! {
    each_claim_takes_one_unit_up_to_the_limit,
    a_repeat_with_the_same_order_is_accepted_for_every_unit,
    a_claim_repeated_under_another_order_takes_nothing,
    a_returned_unit_can_be_claimed_again,
    the_database_allows_the_largest_limit_ever_set_and_no_more,
    a_lowered_limit_takes_nothing_from_anybody,
    buyers_of_several_units_are_found_again_when_a_sale_is_loaded,
    every_further_unit_needs_a_pass_of_its_own,
    a_unit_is_reserved_beside_others,
    of_many_claims_at_once_no_user_gets_more_than_the_limit,
    random_steps_with_several_units_agree_with_a_plain_map,
}

fn number(units: u8) -> NonZeroU8 {
    NonZeroU8::new(units).unwrap()
}

/// Creates a sale whose users may hold `per_user` units.
pub(super) async fn sale(w: &World, units: Option<u64>, per_user: u8) -> VoucherId {
    let voucher = w.sale(units).await;
    limit(w, voucher, per_user).await;
    voucher
}

async fn limit(w: &World, voucher: VoucherId, per_user: u8) {
    let stored = w.storage.catalogue.vouchers.put_per_user(voucher, number(per_user), NOON).await.unwrap();
    let _ = w.storage.selling.sales.put(stored.unwrap().terms, TOKEN).await.unwrap().done().unwrap();
}

async fn further(w: &World, claim: Claim, holding: u8) -> ClaimOutcome {
    w.storage.selling.sales.claim_further(claim, holding, None).await.unwrap()
}

async fn taken(w: &World, voucher: VoucherId) -> u64 {
    w.storage.selling.sales.units(voucher).await.unwrap().unwrap().taken
}

async fn accept(w: &World, claims: &[Claim]) {
    for (claim, holding) in claims.iter().zip(0..) {
        assert_eq!(further(w, *claim, holding).await, ClaimOutcome::Accepted, "{claim:?}");
    }
}

async fn each_claim_takes_one_unit_up_to_the_limit(w: &World) {
    let voucher = sale(w, Some(5), 3).await;
    let (sales, user) = (&w.storage.selling.sales, UserId::new(7));
    let mine = [1, 2, 3].map(|number| claim(voucher, 7, number));
    for (index, holding) in (0..3_u8).enumerate() {
        assert_eq!(sales.held(voucher, user, holding).await.unwrap(), None);
        assert_eq!(further(w, mine[index], holding).await, ClaimOutcome::Accepted);
        assert_eq!(sales.held(voucher, user, holding).await.unwrap(), Some(mine[index].order));
    }
    for is_recorded in [false, true] {
        for holding in [0, 1, 2, 3, u8::MAX] {
            let outcome = further(w, claim(voucher, 7, 9), holding).await;
            assert_eq!(outcome, ClaimOutcome::AlreadyBought(mine[2].order), "{holding} {is_recorded}");
            assert_eq!(sales.held(voucher, user, holding).await.unwrap(), Some(mine[2].order));
        }
        let again = sales.claim(claim(voucher, 7, 9)).await.unwrap();
        assert_eq!(again, ClaimOutcome::AlreadyBought(mine[2].order));
        w.persist_all().await;
    }
    assert_eq!(taken(w, voucher).await, 3);
    accept(w, &[claim(voucher, 8, 4), claim(voucher, 8, 5)]).await;
    assert_eq!(further(w, claim(voucher, 8, 6), 2).await, ClaimOutcome::SoldOut);
}

async fn a_repeat_with_the_same_order_is_accepted_for_every_unit(w: &World) {
    let voucher = sale(w, Some(9), 3).await;
    let mine = [1, 2].map(|number| claim(voucher, 7, number));
    accept(w, &mine).await;
    for is_recorded in [false, true] {
        for (attempt, own) in mine.iter().zip(0..) {
            for holding in [own, 0, 1, 2] {
                let outcome = further(w, *attempt, holding).await;
                assert_eq!(outcome, ClaimOutcome::Accepted, "{own} {holding} {is_recorded}");
            }
        }
        assert_eq!(taken(w, voucher).await, 2);
        w.persist_all().await;
    }
    let of_user = w.storage.selling.orders.of_user(UserId::new(7), Page::new(1, 9)).await.unwrap();
    assert_eq!(of_user.len(), 2);
}

async fn a_claim_repeated_under_another_order_takes_nothing(w: &World) {
    let voucher = sale(w, None, 3).await;
    let [first, second] = [1, 2].map(|number| claim(voucher, 7, number));
    accept(w, &[first, second]).await;
    for again in [3, 4] {
        let outcome = further(w, claim(voucher, 7, again), 1).await;
        assert_eq!(outcome, ClaimOutcome::AlreadyBought(second.order));
        w.persist_all().await;
    }
    assert_eq!(taken(w, voucher).await, 2);
}

async fn a_returned_unit_can_be_claimed_again(w: &World) {
    let voucher = sale(w, Some(3), 3).await;
    let mine = [1, 2, 3].map(|number| claim(voucher, 7, number));
    accept(w, &mine).await;
    w.persist_all().await;
    for (returned, next) in [(mine[1], 4), (mine[0], 5), (claim(voucher, 7, 4), 6)] {
        cancel_and_release(w, returned, ReleaseOutcome::Released).await;
        let sales = &w.storage.selling.sales;
        let repeated = sales.release(voucher, returned.user, returned.order).await.unwrap();
        assert_eq!((repeated, taken(w, voucher).await), (ReleaseOutcome::NotHeld, 2));
        assert_eq!(further(w, claim(voucher, 7, next), 2).await, ClaimOutcome::Accepted, "{next}");
        w.persist_all().await;
    }
    assert_eq!(letters(w).await.len(), 0);
    let closed = [mine[2], claim(voucher, 7, 5), claim(voucher, 7, 6)];
    for returned in closed {
        cancel_and_release(w, returned, ReleaseOutcome::Released).await;
    }
    assert_eq!(taken(w, voucher).await, 0);
}

async fn the_database_allows_the_largest_limit_ever_set_and_no_more(w: &World) {
    let w = &w.another().await;
    let voucher = sale(w, Some(20), 3).await;
    limit(w, voucher, 2).await;
    let claims: Vec<Claim> = (1..=5).map(|number| claim(voucher, 7, number)).collect();
    let double = PersistOutcome::DeadLetter(DeadReason::Double);
    let is_written = |outcome: &PersistOutcome| matches!(outcome, PersistOutcome::Written { .. });
    // Of one batch, and beside orders of earlier batches.
    let first = persist(w, &claims[..1]).await;
    assert!(first.iter().all(is_written), "{first:?}");
    let rest = persist(w, &claims[1..]).await;
    assert!(rest[..2].iter().all(is_written), "{rest:?}");
    assert!(rest[2..].iter().all(|outcome| *outcome == double), "{rest:?}");
    let repeats = persist(w, &claims[..3]).await;
    assert_eq!(repeats, [const { PersistOutcome::Repeat }; 3]);
    let orders = &w.storage.selling.orders;
    let counts = orders.count(voucher).await.unwrap();
    assert_eq!((counts.unpaid, counts.doubles), (3, 0));
    let mut held = orders.holdings(voucher, UserId::new(7)).await.unwrap();
    held.sort_unstable();
    assert_eq!(held, claims[..3].iter().map(|claim| claim.order).collect::<Vec<_>>());
    assert_eq!(orders.holding(voucher, UserId::new(7)).await.unwrap(), Some(claims[2].order));
    // A second order of a user of another sale is one too many.
    let single = w.sale(Some(9)).await;
    let pair = [claim(single, 7, 6), claim(single, 7, 7)];
    let outcomes = persist(w, &pair).await;
    assert!(is_written(&outcomes[0]) && outcomes[1] == double, "{outcomes:?}");
    let page = w.storage.operator.ledger.orders(None, 100).await.unwrap();
    assert_eq!(page.orders.len(), 4);
    assert!(page.orders.iter().all(|order| order.slot_fits), "{page:?}");
}

async fn a_lowered_limit_takes_nothing_from_anybody(w: &World) {
    let voucher = sale(w, Some(9), 2).await;
    let mine = [1, 2].map(|number| claim(voucher, 7, number));
    accept(w, &mine).await;
    // The claims are in the log, and no orders yet.
    limit(w, voucher, 1).await;
    w.persist_all().await;
    assert_eq!(letters(w).await.iter().filter(|letter| letter.voucher == voucher).count(), 0);
    assert_eq!(taken(w, voucher).await, 2);
    for (returned, left) in [(mine[0], 1), (mine[1], 0)] {
        let outcome = further(w, claim(voucher, 7, 3), 2).await;
        let named = mine.iter().find(|claim| outcome == ClaimOutcome::AlreadyBought(claim.order));
        assert!(named.is_some(), "{left}: {outcome:?}");
        cancel_and_release(w, returned, ReleaseOutcome::Released).await;
        assert_eq!(taken(w, voucher).await, left);
    }
    assert_eq!(further(w, claim(voucher, 7, 4), 0).await, ClaimOutcome::Accepted);
}

async fn buyers_of_several_units_are_found_again_when_a_sale_is_loaded(w: &World) {
    let voucher = sale(w, Some(9), 3).await;
    let (recorded, waiting) = ([1, 2].map(|n| claim(voucher, 7, n)), claim(voucher, 7, 3));
    accept(w, &recorded).await;
    w.persist_all().await;
    assert_eq!(further(w, waiting, 2).await, ClaimOutcome::Accepted);
    accept(w, &[claim(voucher, 8, 4)]).await;
    let sales = &w.storage.selling.sales;
    sales.forget(voucher).await.unwrap();
    let units = sales.put(w.terms(voucher).await, TOKEN).await.unwrap().done().unwrap();
    assert_eq!(units, SaleUnits { units: Some(9), taken: 4 });
    assert_eq!(further(w, claim(voucher, 7, 5), 3).await, ClaimOutcome::AlreadyBought(waiting.order));
    assert_eq!(further(w, recorded[0], 0).await, ClaimOutcome::Accepted, "a repeat");
    assert_eq!(further(w, claim(voucher, 8, 6), 1).await, ClaimOutcome::Accepted);
    w.persist_all().await;
    assert_eq!(taken(w, voucher).await, 5);
}

async fn every_further_unit_needs_a_pass_of_its_own(w: &World) {
    let voucher = sale(w, Some(9), 3).await;
    let sales = &w.storage.selling.sales;
    let epoch = sales.pass_epoch(voucher).await.unwrap();
    let pass = |nonce| Some(Pass { nonce, epoch, expires: NOON + Duration::from_secs(60) });
    let outcome = async |number, holding, pass| {
        sales.claim_further(claim(voucher, 7, number), holding, pass).await.unwrap()
    };
    assert_eq!(outcome(1, 0, pass(1)).await, ClaimOutcome::Accepted);
    assert_eq!(outcome(2, 1, pass(1)).await, ClaimOutcome::PassRefused);
    assert_eq!(outcome(3, 1, pass(2)).await, ClaimOutcome::Accepted);
    assert_eq!(outcome(3, 1, pass(2)).await, ClaimOutcome::Accepted, "a repeat");
    let newest = claim(voucher, 7, 3).order;
    assert_eq!(outcome(4, 1, pass(3)).await, ClaimOutcome::AlreadyBought(newest));
    assert_eq!(outcome(5, 2, pass(3)).await, ClaimOutcome::Accepted, "a refusal spends no pass");
    assert_eq!(taken(w, voucher).await, 3);
}

async fn a_unit_is_reserved_beside_others(w: &World) {
    let voucher = sale(w, Some(4), 3).await;
    let (sales, user) = (&w.storage.selling.sales, UserId::new(7));
    accept(w, &[claim(voucher, 7, 1), claim(voucher, 7, 2)]).await;
    w.persist_all().await;
    let order = claim(voucher, 7, 3).order;
    assert_eq!(sales.reserve(voucher, user, order).await.unwrap(), ReserveOutcome::Taken);
    assert_eq!(sales.reserve(voucher, user, order).await.unwrap(), ReserveOutcome::Held);
    assert_eq!(taken(w, voucher).await, 3);
    assert_eq!(sales.release(voucher, user, order).await.unwrap(), ReleaseOutcome::Released);
    assert_eq!(taken(w, voucher).await, 2);
    assert_eq!(further(w, claim(voucher, 7, 4), 2).await, ClaimOutcome::Accepted);
}

/// Each of many users sends every claim several times at once, under several orders.
async fn of_many_claims_at_once_no_user_gets_more_than_the_limit(w: &World) {
    const USERS: u64 = 40;
    const PER_USER: u8 = 3;
    const REPEATS: u64 = 4;
    let voucher = sale(w, Some(100), PER_USER).await;
    let mut users = tokio::task::JoinSet::new();
    for user in 1..=USERS {
        let sales = Arc::clone(&w.storage.selling.sales);
        users.spawn(async move {
            let mut won = 0;
            for holding in 0..=PER_USER {
                let mut claims = tokio::task::JoinSet::new();
                for repeat in 0..REPEATS {
                    let number = (user * 8 + u64::from(holding)) * REPEATS + repeat;
                    let (sales, claim) = (Arc::clone(&sales), claim(voucher, user, number));
                    claims.spawn(async move { sales.claim_further(claim, holding, None).await.unwrap() });
                }
                let outcomes = claims.join_all().await;
                let accepted = outcomes.iter().filter(|one| **one == ClaimOutcome::Accepted).count();
                assert!(accepted <= 1, "unit {holding} of user {user}: {outcomes:?}");
                if accepted == 0 {
                    let is_refusal = |one: &ClaimOutcome| {
                        matches!(one, ClaimOutcome::SoldOut | ClaimOutcome::AlreadyBought(_))
                    };
                    assert!(outcomes.iter().all(is_refusal), "{outcomes:?}");
                    break;
                }
                won += 1;
            }
            won
        });
    }
    let won: Vec<u8> = users.join_all().await;
    assert!(won.iter().all(|units| *units <= PER_USER), "{won:?}");
    assert_eq!(won.iter().map(|units| u64::from(*units)).sum::<u64>(), 100);
    assert_eq!(w.persist_all().await.len(), 100);
    let counts = w.storage.selling.orders.count(voucher).await.unwrap();
    assert_eq!((counts.unpaid, counts.dead_letters, counts.doubles), (100, 0, 0));
}

async fn random_steps_with_several_units_agree_with_a_plain_map(w: &World) {
    let seed = rand::random();
    println!("seed {seed}");
    let mut dice = StdRng::seed_from_u64(seed);
    let voucher = sale(w, Some(24), 5).await;
    let mut terms = Terms { per_user: number(2), ..w.terms(voucher).await };
    let sales = &w.storage.selling.sales;
    let _ = sales.put(terms, TOKEN).await.unwrap().done().unwrap();
    let mut holders = BTreeMap::<u64, Vec<Claim>>::new();
    for step in 1..300 {
        let user = dice.random_range(1..=8);
        let full = taken(w, voucher).await >= 24;
        let own = holders.entry(user).or_default();
        match dice.random_range(0..10) {
            0..=5 => {
                let (attempt, holding) = (claim(voucher, user, step), dice.random_range(0..6_u8));
                let units = own.len() as u64;
                let outcome = further(w, attempt, holding).await;
                let expected = if terms.is_enough(units, holding) {
                    // Any of them in a sale of one unit per user.
                    let newest = own.last().unwrap();
                    let is_named = |claim: &&Claim| outcome == ClaimOutcome::AlreadyBought(claim.order);
                    let named = own.iter().find(is_named).filter(|_| terms.per_user == NonZeroU8::MIN);
                    ClaimOutcome::AlreadyBought(named.unwrap_or(newest).order)
                } else if full {
                    ClaimOutcome::SoldOut
                } else {
                    own.push(attempt);
                    ClaimOutcome::Accepted
                };
                assert_eq!(outcome, expected, "step {step}, {holding} of {units}");
            }
            6 if !own.is_empty() => {
                let returned = own.remove(dice.random_range(0..own.len()));
                w.persist_all().await;
                cancel_and_release(w, returned, ReleaseOutcome::Released).await;
            }
            7 => {
                terms.per_user = number(dice.random_range(1..=5));
                let _ = sales.put(terms, TOKEN).await.unwrap().done().unwrap();
            }
            8 => {
                sales.forget(voucher).await.unwrap();
                let _ = sales.put(terms, TOKEN).await.unwrap().done().unwrap();
            }
            _ => drop(w.persist_all().await),
        }
        let held: usize = holders.values().map(Vec::len).sum();
        assert_eq!(taken(w, voucher).await, held as u64, "step {step}");
    }
    w.persist_all().await;
    assert_eq!(letters(w).await.iter().filter(|letter| letter.voucher == voucher).count(), 0);
    for claim in holders.values().flatten() {
        let order = w.storage.selling.orders.get(claim.order).await.unwrap().unwrap();
        assert_eq!(order.status, OrderStatus::Unpaid);
    }
}
