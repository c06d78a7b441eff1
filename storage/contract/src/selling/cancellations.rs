//! Many orders cancelled at once, and their units released.

use mallbox_storage::{
    Claim, ClaimOutcome, OrderId, OrderStatus, Transition, TransitionOutcome, UserId, VoucherId,
};

use crate::selling::orders::{persist, stock};
use crate::world::{NOON, World, claim};

crate::cases! {
    orders_cancelled_together_are_each_cancelled_as_alone,
    units_of_closed_orders_come_back_together_and_once,
    a_unit_bought_again_meanwhile_stays_with_its_new_order,
    a_rush_of_cancellations_gives_every_unit_back_once,
    a_unit_whose_claim_became_an_order_meanwhile_was_given_back,
}

/// Makes claims that are accepted and become orders.
async fn ordered(w: &World, voucher: VoucherId, users: std::ops::Range<u64>) -> Vec<Claim> {
    let claims: Vec<Claim> = users.map(|user| claim(voucher, user, user)).collect();
    for claim in &claims {
        assert_eq!(w.storage.selling.sales.claim(*claim).await.unwrap(), ClaimOutcome::Accepted);
    }
    w.persist_all().await;
    claims
}

fn ids(claims: &[Claim]) -> Vec<OrderId> {
    claims.iter().map(|claim| claim.order).collect()
}

fn units(claims: &[Claim]) -> Vec<(VoucherId, UserId, OrderId)> {
    claims.iter().map(|claim| (claim.voucher, claim.user, claim.order)).collect()
}

async fn left(w: &World, voucher: VoucherId) -> Option<u64> {
    w.storage.selling.sales.units(voucher).await.unwrap().unwrap().left()
}

async fn orders_cancelled_together_are_each_cancelled_as_alone(w: &World) {
    let (one, other) = (w.sale(Some(10)).await, w.sale(Some(10)).await);
    let first: Vec<Claim> = (1..4).map(|user| claim(one, user, user)).collect();
    let second: Vec<Claim> = (1..3).map(|user| claim(other, user, 10 + user)).collect();
    persist(w, &first).await;
    persist(w, &second).await;
    let before = w.storage.selling.orders.step(first[1].order, Transition::Cancel, NOON).await.unwrap();
    let unknown = claim(one, 99, 99).order;
    let asked = [first[0].order, unknown, first[1].order, second[1].order, first[0].order];
    let stepped = w.storage.selling.orders.cancel(&asked, NOON).await.unwrap();
    let TransitionOutcome::Done(alone) = before else { panic!("{before:?}") };
    let statuses: Vec<_> = stepped
        .iter()
        .map(|stepped| match stepped {
            TransitionOutcome::Done(order) => ("done", order.status),
            TransitionOutcome::Stands(order) => ("stands", order.status),
            TransitionOutcome::Unknown => ("unknown", OrderStatus::Pending),
        })
        .collect();
    let cancelled = OrderStatus::Cancelled;
    assert_eq!(
        statuses,
        [
            ("done", cancelled),
            ("unknown", OrderStatus::Pending),
            ("stands", cancelled),
            ("done", cancelled),
            ("stands", cancelled),
        ]
    );
    assert!(matches!(&stepped[2], TransitionOutcome::Stands(order) if *order == alone), "{stepped:?}");
    assert_eq!((stock(w, one).await, stock(w, other).await), (Some(9), Some(9)));
    assert_eq!(w.storage.selling.outbox.open(10).await.unwrap().len(), 3, "each unit is to be given back");
    let again = w.storage.selling.orders.cancel(&asked, NOON).await.unwrap();
    assert!(!again.iter().any(|stepped| matches!(stepped, TransitionOutcome::Done(_))), "{again:?}");
    assert_eq!((stock(w, one).await, stock(w, other).await), (Some(9), Some(9)));
    assert!(w.storage.selling.orders.cancel(&[], NOON).await.unwrap().is_empty());
    // A user with a cancelled order may buy again.
    assert_eq!(persist(w, &[claim(one, 1, 50)]).await.len(), 1);
    assert_eq!(stock(w, one).await, Some(8));
}

async fn units_of_closed_orders_come_back_together_and_once(w: &World) {
    let voucher = w.sale(Some(200)).await;
    // Enough claims for several in one shard of buyers.
    let claims = ordered(w, voucher, 1..151).await;
    assert_eq!(left(w, voucher).await, Some(50));
    let closed = &claims[..140];
    let _ = w.storage.selling.orders.cancel(&ids(closed), NOON).await.unwrap();
    w.storage.selling.sales.release_all(&units(closed)).await.unwrap();
    assert_eq!(left(w, voucher).await, Some(190));
    w.storage.selling.sales.release_all(&units(closed)).await.unwrap();
    assert_eq!(left(w, voucher).await, Some(190), "a repeat gives nothing back");
    w.storage.selling.sales.release_all(&units(&claims[140..])).await.unwrap();
    assert_eq!(left(w, voucher).await, Some(190), "nor does an order that is live");
    w.storage.selling.sales.release_all(&[]).await.unwrap();
    let again = claim(voucher, 1, 500);
    assert_eq!(w.storage.selling.sales.claim(again).await.unwrap(), ClaimOutcome::Accepted);
}

async fn a_unit_bought_again_meanwhile_stays_with_its_new_order(w: &World) {
    let voucher = w.sale(Some(10)).await;
    let claims = ordered(w, voucher, 1..4).await;
    let _ = w.storage.selling.orders.cancel(&ids(&claims), NOON).await.unwrap();
    // Another process released the first two, and both users bought again: one claim is an order by now, the
    // other is pending.
    w.storage.selling.sales.release_all(&units(&claims[..2])).await.unwrap();
    let first = claim(voucher, 1, 201);
    assert_eq!(w.storage.selling.sales.claim(first).await.unwrap(), ClaimOutcome::Accepted);
    w.persist_all().await;
    let second = claim(voucher, 2, 202);
    assert_eq!(w.storage.selling.sales.claim(second).await.unwrap(), ClaimOutcome::Accepted);
    assert_eq!(left(w, voucher).await, Some(7));
    w.storage.selling.sales.release_all(&units(&claims)).await.unwrap();
    assert_eq!(left(w, voucher).await, Some(8), "only the third one's came back");
    for claim in [first, second] {
        let repeat = Claim { order: OrderId::new(claim.order.get() + 4096), ..claim };
        let answer = w.storage.selling.sales.claim(repeat).await.unwrap();
        assert_eq!(answer, ClaimOutcome::AlreadyBought(claim.order));
    }
}

async fn a_rush_of_cancellations_gives_every_unit_back_once(w: &World) {
    let voucher = w.sale(Some(300)).await;
    let claims = ordered(w, voucher, 1..301).await;
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..4 {
        let (storage, claims) = (w.storage.clone(), claims.clone());
        tasks.spawn(async move {
            for some in claims.chunks(60) {
                let stepped = storage.selling.orders.cancel(&ids(some), NOON).await.unwrap();
                let mut closed = Vec::new();
                for stepped in stepped {
                    if let TransitionOutcome::Done(order) = stepped {
                        closed.push((order.voucher, order.user, order.id));
                    }
                }
                storage.selling.sales.release_all(&closed).await.unwrap();
                // As a background job over the outbox does.
                storage.selling.sales.release_all(&units(&some[worker..worker + 5])).await.unwrap();
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    assert_eq!((left(w, voucher).await, stock(w, voucher).await), (Some(300), Some(300)));
}

/// A repeated release of an old order's unit, while the user's next claim is being written.
async fn a_unit_whose_claim_became_an_order_meanwhile_was_given_back(w: &World) {
    const USERS: u64 = 40;
    let voucher = w.sale(None).await;
    let old = ordered(w, voucher, 1..USERS + 1).await;
    let _ = w.storage.selling.orders.cancel(&ids(&old), NOON).await.unwrap();
    w.storage.selling.sales.release_all(&units(&old)).await.unwrap();
    for (user, old) in (1..).zip(&old) {
        let next = claim(voucher, user, 1_000 + user);
        assert_eq!(w.storage.selling.sales.claim(next).await.unwrap(), ClaimOutcome::Accepted);
        let (sales, again) = (w.storage.selling.sales.clone(), units(&[*old]));
        let releasing = tokio::spawn(async move {
            loop {
                sales.release_all(&again).await.unwrap();
            }
        });
        w.persist_all().await;
        releasing.abort();
        let _ = releasing.await;
        let repeat = w.storage.selling.sales.claim(claim(voucher, user, 2_000 + user)).await.unwrap();
        assert_eq!(repeat, ClaimOutcome::AlreadyBought(next.order), "user {user}");
    }
    assert_eq!(w.storage.selling.sales.units(voucher).await.unwrap().unwrap().taken, USERS);
}
