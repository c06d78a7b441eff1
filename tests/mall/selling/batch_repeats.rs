//! Repeats of batches: the same outcomes after lost responses, crashes in every step, and on every instance.

use std::collections::HashSet;
use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::mall::selling::batch_claims::{BatchClaims, BatchOutcome, GatewayClaim};
use mallbox::mall::{ClaimGatewayRefusal, Failure, FlashSales, Refusal};
use mallbox_storage::{ClaimGateway, ClaimGatewayId, OrderId, OrderStatus, VoucherId};
use tokio::task::JoinSet;

use super::batch_claims::{accepted, claim, decide, door, gateway, outcomes, users};
use super::world::{MINUTE, World, idle, refusal, until, world};

/// A day and a minute: outcomes are not kept any longer.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(24 * 60 * 60 + 60);

async fn repeated(w: &World, name: &str, claims: &[GatewayClaim]) -> Vec<BatchOutcome> {
    let decided = decide(w, name, claims).await.unwrap();
    assert!(decided.is_repeat);
    decided.outcomes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_returns_the_first_outcomes_whatever_happened_since() {
    let w = world().await;
    let (voucher, users) = (w.sale(2).await, users(&w, 4).await);
    let claims: Vec<GatewayClaim> = users.iter().map(|user| claim(*user, voucher)).collect();
    let first = outcomes(&w, "one", &claims).await;
    let orders = accepted(&first);
    assert_eq!(orders.len(), 2);
    assert_eq!(repeated(&w, "one", &claims).await, first);
    w.drain().await;
    w.advance(MINUTE * 16).await;
    assert_eq!(w.status(orders[0]).await, OrderStatus::Cancelled, "nobody paid in time");
    w.sale_admin.end(w.by(), voucher).await.unwrap();
    assert_eq!(repeated(&w, "one", &claims).await, first);

    let w = w.restart().await;
    assert_eq!(repeated(&w, "one", &claims).await, first);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_belongs_to_one_list_of_claims_of_one_gateway_for_a_day() {
    let w = world().await;
    let (voucher, users) = (w.sale(9).await, users(&w, 2).await);
    let [one, two] = [0, 1].map(|number| claim(users[number], voucher));
    let first = outcomes(&w, "one", std::slice::from_ref(&one)).await;
    for other in
        [vec![two.clone()], vec![one.clone(), two.clone()], vec![GatewayClaim { holding: 1, ..one.clone() }]]
    {
        let differs = Refusal::ClaimGateway(ClaimGatewayRefusal::ClaimsDiffer);
        assert_eq!(refusal(decide(&w, "one", &other).await), differs);
    }
    assert_eq!(w.left(voucher).await, 8);
    let other = ClaimGateway { id: ClaimGatewayId::new(2), ..gateway(&[voucher]) };
    let of_other = door(w.context.clone()).claim(other, "one".to_owned(), vec![two]).await.unwrap();
    assert!(!of_other.is_repeat);
    w.advance(FORGOTTEN_AFTER - MINUTE * 2).await;
    assert_eq!(repeated(&w, "one", std::slice::from_ref(&one)).await, first);
    w.advance(MINUTE * 2).await;
    let after = decide(&w, "one", &[one]).await.unwrap();
    assert!(!after.is_repeat);
    assert_eq!(after.outcomes, [BatchOutcome::Refused(Refusal::Ended)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_repeats_on_two_instances_decide_once() {
    let w = world().await;
    let (voucher, users) = (w.sale(30).await, users(&w, 40).await);
    let claims: Vec<GatewayClaim> = users.iter().map(|user| claim(*user, voucher)).collect();
    let doors = [door(w.context.clone()), door(w.context.clone())];
    for round in 0..3 {
        let mut repeating = JoinSet::new();
        for number in 0..8 {
            let (door, claims) = (doors[number % 2].clone(), claims.clone());
            let name = round.to_string();
            repeating.spawn(async move { door.claim(gateway(&[voucher]), name, claims).await.unwrap() });
        }
        let decided = repeating.join_all().await;
        assert_eq!(decided.iter().filter(|decided| !decided.is_repeat).count(), 1);
        assert!(decided.iter().all(|other| other.outcomes == decided[0].outcomes), "{decided:?}");
        assert_eq!(accepted(&decided[0].outcomes).len(), if round == 0 { 30 } else { 0 });
    }
    w.drain().await;
    w.assert_balanced().await;
}

/// What the storage has of a sale: the orders by user, each once.
async fn orders_in_database(w: &World, voucher: VoucherId, claims: &[GatewayClaim]) -> Vec<OrderId> {
    let mut orders = Vec::new();
    for claim in claims {
        let of_user = w.storage.selling.orders.holdings(voucher, claim.user).await.unwrap();
        assert!(of_user.len() <= 1, "{of_user:?}");
        orders.extend(of_user);
    }
    orders
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_cut_short_by_any_failing_call_is_completed_by_the_repeat() {
    let w = world().await;
    let users = users(&w, 12).await;
    let (context, faults) = w.faulty();
    let faulty = door(context);
    let at = Fault::at_port;
    let list = [
        at("claim_batches.get").error().times(1),
        at("claim_batches.put").error().times(1),
        at("claim_batches.put").lose_answer().times(1),
        at("users.those").error().times(1),
        at("sequences.next").error().times(1),
        at("sales.claim").error().times(3),
        at("sales.claim").lose_answer().times(3),
        at("sales.claim").lose_answer().times(12),
        at("locks.enter").error().times(1),
        at("locks.enter").lose_answer().times(1),
    ];
    for (number, fault) in list.into_iter().enumerate() {
        let voucher = w.sale(9).await;
        let claims: Vec<GatewayClaim> = users.iter().map(|user| claim(*user, voucher)).collect();
        let ask = || faulty.claim(gateway(&[voucher]), number.to_string(), claims.clone());
        faults.add(fault.clone()).unwrap();
        let cut_short = ask().await;
        faults.cancel_all();
        assert!(matches!(cut_short, Err(Failure::Store(_))), "{fault:?}: {cut_short:?}");
        let completed = ask().await.unwrap();
        let orders = accepted(&completed.outcomes);
        assert_eq!(orders.len(), 9, "{fault:?}: {completed:?}");
        let repeat = ask().await.unwrap();
        assert_eq!((repeat.is_repeat, &repeat.outcomes), (true, &completed.outcomes), "{fault:?}");
        w.drain().await;
        assert_eq!(orders_in_database(&w, voucher, &claims).await, orders, "{fault:?}");
        assert_eq!(w.left(voucher).await, 0);
    }
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_made_before_a_crash_keep_their_orders_even_if_those_were_cancelled_since() {
    let w = idle().await;
    let (voucher, users) = (w.sale(9).await, users(&w, 3).await);
    let claims: Vec<GatewayClaim> = users.iter().map(|user| claim(*user, voucher)).collect();
    let (context, faults) = w.faulty();
    let door = door(context);
    faults.add(Fault::at_port("sales.claim").lose_answer()).unwrap();
    let cut_short = door.claim(gateway(&[voucher]), "one".to_owned(), claims.clone()).await;
    assert!(matches!(cut_short, Err(Failure::Store(_))), "{cut_short:?}");
    faults.cancel_all();
    let mut made = Vec::new();
    for user in &users {
        made.push(w.storage.selling.sales.held(voucher, *user, 0).await.unwrap().unwrap());
    }
    drop(door);
    let mut w = w.restart().await;
    w.start_workers();
    w.drain().await;
    w.orders.cancel(users[0], made[0], w.now()).await.unwrap();
    w.sale_admin.end(w.by(), voucher).await.unwrap();
    let completed = outcomes(&w, "one", &claims).await;
    assert_eq!(accepted(&completed), made, "no claim is made twice, and none is forgotten");
    w.drain().await;
    assert_eq!(w.left(voucher).await, 7);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_that_could_not_be_stored_are_found_by_the_repeat() {
    let w = world().await;
    let (voucher, users) = (w.sale(2).await, users(&w, 4).await);
    let claims: Vec<GatewayClaim> = users.iter().map(|user| claim(*user, voucher)).collect();
    let (context, faults) = w.faulty();
    let door = BatchClaims::new(context.clone(), FlashSales::new(context));
    // The first version is stored before the claims, the second after them.
    faults.add(Fault::at_port("sales.claim").delay(Duration::from_millis(300))).unwrap();
    let running = {
        let (door, claims) = (door.clone(), claims.clone());
        tokio::spawn(async move { door.claim(gateway(&[voucher]), "one".to_owned(), claims).await })
    };
    let batches = &w.storage.selling.claim_batches;
    let is_begun = async || batches.get(ClaimGatewayId::new(1), "one").await.unwrap().is_some();
    until("the batch begins", is_begun).await;
    faults.add(Fault::at_port("claim_batches.put").error().times(1)).unwrap();
    let cut_short = running.await.unwrap();
    assert!(matches!(cut_short, Err(Failure::Store(_))), "{cut_short:?}");
    faults.cancel_all();
    w.drain().await;
    let in_database: HashSet<OrderId> = orders_in_database(&w, voucher, &claims).await.into_iter().collect();
    assert_eq!(in_database.len(), 2);
    let completed = outcomes(&w, "one", &claims).await;
    assert_eq!(accepted(&completed).into_iter().collect::<HashSet<_>>(), in_database);
    w.drain().await;
    w.assert_balanced().await;
}
