//! `Sales::claim_with_pass`: a pass buys once, and only a unit spends it.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{Claim, ClaimOutcome, Pass, ReleaseOutcome, SaleUnits, Terms, VoucherId};

use crate::selling::sales::cancel_and_release;
use crate::world::{HOUR, NOON, TOKEN, World, claim};

crate::cases! {
    a_claim_that_takes_a_unit_spends_its_pass_for_ever,
    a_pass_is_spent_after_a_restart,
    a_refused_claim_spends_no_pass,
    every_other_refusal_comes_before_that_of_a_pass,
    an_expired_pass_and_one_of_another_epoch_are_refused_and_cost_nothing,
    a_repeat_with_the_same_order_and_pass_is_accepted,
    a_pass_of_one_sale_leaves_a_number_of_another_alone,
    of_many_claims_with_one_pass_one_is_accepted,
    an_epoch_stays_while_its_sale_comes_and_goes,
}

/// Returns a fresh pass for a sale, valid for a minute from noon.
async fn pass(w: &World, voucher: VoucherId, nonce: u64) -> Pass {
    let epoch = w.storage.selling.sales.pass_epoch(voucher).await.unwrap();
    Pass { nonce, epoch, expires: NOON + Duration::from_secs(60) }
}

async fn outcome(w: &World, claim: Claim, pass: Pass) -> ClaimOutcome {
    w.storage.selling.sales.claim_with_pass(claim, pass).await.unwrap()
}

async fn a_claim_that_takes_a_unit_spends_its_pass_for_ever(w: &World) {
    let voucher = w.sale(Some(9)).await;
    let (spent, fresh) = (pass(w, voucher, 1).await, pass(w, voucher, 2).await);
    let first = claim(voucher, 7, 1);
    assert_eq!(outcome(w, first, spent).await, ClaimOutcome::Accepted);
    assert_eq!(outcome(w, claim(voucher, 7, 2), spent).await, ClaimOutcome::AlreadyBought(first.order));
    w.persist_all().await;
    cancel_and_release(w, first, ReleaseOutcome::Released).await;
    let again = claim(voucher, 7, 3);
    for reloaded in [false, true] {
        assert_eq!(outcome(w, again, spent).await, ClaimOutcome::PassRefused, "{reloaded}");
        // Evicted and loaded again: the pass is not a part of the sale in memory.
        let terms = w.terms(voucher).await;
        w.storage.selling.sales.forget(voucher).await.unwrap();
        let _ = w.storage.selling.sales.put(terms, TOKEN).await.unwrap().done().unwrap();
    }
    assert_eq!(outcome(w, again, fresh).await, ClaimOutcome::Accepted);
    assert_eq!(w.persist_all().await.len(), 1);
}

async fn a_pass_is_spent_after_a_restart(w: &World) {
    let w = w.another().await;
    let voucher = w.sale(Some(9)).await;
    let (spent, held) = (pass(&w, voucher, 1).await, claim(voucher, 7, 1));
    let waiting = claim(voucher, 8, 2);
    assert_eq!(outcome(&w, held, spent).await, ClaimOutcome::Accepted);
    w.persist_all().await;
    let other = pass(&w, voucher, 2).await;
    assert_eq!(outcome(&w, waiting, other).await, ClaimOutcome::Accepted);
    let w = w.reopen().await;
    let terms = w.terms(voucher).await;
    let _ = w.storage.selling.sales.put(terms, TOKEN).await.unwrap().done().unwrap();
    let twice = claim(voucher, 8, 3);
    assert_eq!(outcome(&w, twice, other).await, ClaimOutcome::AlreadyBought(waiting.order), "in the log");
    cancel_and_release(&w, held, ReleaseOutcome::Released).await;
    assert_eq!(outcome(&w, claim(voucher, 7, 4), spent).await, ClaimOutcome::PassRefused);
    let fresh = pass(&w, voucher, 3).await;
    assert_eq!(outcome(&w, claim(voucher, 7, 4), fresh).await, ClaimOutcome::Accepted);
}

async fn a_refused_claim_spends_no_pass(w: &World) {
    let voucher = w.sale(Some(1)).await;
    let terms = w.terms(voucher).await;
    let sales = &w.storage.selling.sales;
    let mine = pass(w, voucher, 1).await;
    let attempt = |number| claim(voucher, 7, number);
    let _ = sales.put(Terms { paused: true, ..terms }, TOKEN).await.unwrap().done().unwrap();
    assert_eq!(outcome(w, attempt(1), mine).await, ClaimOutcome::Paused);
    let _ = sales.put(terms, TOKEN).await.unwrap().done().unwrap();
    let rival = claim(voucher, 8, 2);
    assert_eq!(outcome(w, rival, pass(w, voucher, 2).await).await, ClaimOutcome::Accepted);
    assert_eq!(outcome(w, attempt(3), mine).await, ClaimOutcome::SoldOut);
    w.persist_all().await;
    cancel_and_release(w, rival, ReleaseOutcome::Released).await;
    assert_eq!(outcome(w, attempt(4), mine).await, ClaimOutcome::Accepted);
}

async fn every_other_refusal_comes_before_that_of_a_pass(w: &World) {
    let voucher = w.sale(Some(1)).await;
    let terms = w.terms(voucher).await;
    let sales = &w.storage.selling.sales;
    let void = Pass { expires: NOON, ..pass(w, voucher, 1).await };
    assert_eq!(outcome(w, claim(VoucherId::new(404), 7, 1), void).await, ClaimOutcome::Unknown);
    assert_eq!(outcome(w, claim(voucher, 7, 1), void).await, ClaimOutcome::PassRefused);
    for (changed, at, expected) in [
        (Terms { paused: true, ..terms }, NOON, ClaimOutcome::Paused),
        (Terms { begin: NOON + HOUR / 2, ..terms }, NOON, ClaimOutcome::NotOpen),
        (terms, terms.end, ClaimOutcome::Ended),
    ] {
        let _ = sales.put(changed, TOKEN).await.unwrap().done().unwrap();
        assert_eq!(outcome(w, Claim { at, ..claim(voucher, 7, 1) }, void).await, expected);
    }
    let held = claim(voucher, 8, 2);
    assert_eq!(sales.claim(held).await.unwrap(), ClaimOutcome::Accepted);
    assert_eq!(outcome(w, claim(voucher, 8, 3), void).await, ClaimOutcome::AlreadyBought(held.order));
    assert_eq!(outcome(w, claim(voucher, 7, 4), void).await, ClaimOutcome::SoldOut);
}

async fn an_expired_pass_and_one_of_another_epoch_are_refused_and_cost_nothing(w: &World) {
    let voucher = w.sale(Some(2)).await;
    let good = pass(w, voucher, 1).await;
    let attempt = claim(voucher, 7, 1);
    for void in [
        Pass { expires: NOON, ..good },
        Pass { expires: NOON - HOUR, ..good },
        Pass { epoch: good.epoch ^ 1, ..good },
    ] {
        assert_eq!(outcome(w, attempt, void).await, ClaimOutcome::PassRefused, "{void:?}");
    }
    let units = w.storage.selling.sales.units(voucher).await.unwrap();
    assert_eq!(units, Some(SaleUnits { units: Some(2), taken: 0 }));
    assert_eq!(w.storage.selling.order_log.state().await.pending, 0);
    let last = Pass { expires: NOON + Duration::from_millis(1), ..good };
    assert_eq!(outcome(w, attempt, last).await, ClaimOutcome::Accepted);
}

async fn a_repeat_with_the_same_order_and_pass_is_accepted(w: &World) {
    let voucher = w.sale(Some(2)).await;
    let (mine, attempt) = (pass(w, voucher, 1).await, claim(voucher, 7, 1));
    for _ in 0..2 {
        assert_eq!(outcome(w, attempt, mine).await, ClaimOutcome::Accepted);
    }
    assert_eq!(w.persist_all().await.len(), 1);
    assert_eq!(outcome(w, attempt, mine).await, ClaimOutcome::Accepted);
    let units = w.storage.selling.sales.units(voucher).await.unwrap().unwrap();
    assert_eq!(units.taken, 1);
}

async fn a_pass_of_one_sale_leaves_a_number_of_another_alone(w: &World) {
    let (one, other) = (w.sale(Some(1)).await, w.sale(Some(1)).await);
    for voucher in [one, other] {
        let same_number = pass(w, voucher, 5).await;
        assert_eq!(outcome(w, claim(voucher, 7, 1), same_number).await, ClaimOutcome::Accepted);
    }
}

async fn of_many_claims_with_one_pass_one_is_accepted(w: &World) {
    let voucher = w.sale(Some(1_000)).await;
    let mine = pass(w, voucher, 1).await;
    let claims: Vec<_> = (1..=64)
        .map(|number| {
            let sales = Arc::clone(&w.storage.selling.sales);
            tokio::spawn(async move { sales.claim_with_pass(claim(voucher, 7, number), mine).await.unwrap() })
        })
        .collect();
    let mut accepted = 0;
    for claim in claims {
        match claim.await.unwrap() {
            ClaimOutcome::Accepted => accepted += 1,
            ClaimOutcome::AlreadyBought(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((accepted, w.persist_all().await.len()), (1, 1));
}

async fn an_epoch_stays_while_its_sale_comes_and_goes(w: &World) {
    let unknown = VoucherId::new(404);
    let sales = &w.storage.selling.sales;
    assert_eq!(sales.pass_epoch(unknown).await.unwrap(), sales.pass_epoch(unknown).await.unwrap());
    let voucher = w.sale(Some(1)).await;
    let before = sales.pass_epoch(voucher).await.unwrap();
    sales.forget(voucher).await.unwrap();
    assert_eq!(sales.pass_epoch(voucher).await.unwrap(), before);
}
