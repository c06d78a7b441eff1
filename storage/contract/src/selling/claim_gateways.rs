//! `ClaimGateways`: a token is valid until its end or its removal, and names are taken once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    AddGatewayOutcome, ClaimGateway, ClaimGatewayId, NewClaimGateway, TokenHash, UserId, VoucherId,
};
use tokio::task::JoinSet;

use crate::world::{HOUR, NOON, World};

crate::cases! {
    a_gateway_is_found_by_its_token_as_it_was_added,
    a_token_is_void_at_its_end,
    a_removed_gateway_is_gone_at_once,
    a_name_is_taken_once_and_the_number_is_limited,
    of_many_additions_of_a_name_one_succeeds,
    expired_gateways_are_pruned,
    gateways_outlive_a_reopening,
}

fn gateway(number: u8) -> NewClaimGateway {
    NewClaimGateway {
        name: format!("gateway {number}"),
        token: TokenHash([number; 32]),
        operator: UserId::new(u64::from(number)),
        sales: BTreeSet::from([VoucherId::new(7), VoucherId::new(u64::from(number))]),
        expires: NOON + HOUR,
    }
}

async fn add(w: &World, gateway: &NewClaimGateway) -> ClaimGatewayId {
    match w.storage.selling.claim_gateways.add(gateway, 9, NOON).await.unwrap() {
        AddGatewayOutcome::Added(id) => id,
        refused => panic!("{refused:?}"),
    }
}

fn added(id: ClaimGatewayId, new: NewClaimGateway) -> ClaimGateway {
    let NewClaimGateway { name, operator, sales, expires, .. } = new;
    ClaimGateway { id, name, operator, sales, created: NOON, expires }
}

async fn listed(w: &World) -> Vec<ClaimGateway> {
    w.storage.selling.claim_gateways.list().await.unwrap()
}

async fn a_gateway_is_found_by_its_token_as_it_was_added(w: &World) {
    let w = w.another().await;
    let name = "网".repeat(40);
    let sales: BTreeSet<VoucherId> = (1..=50).map(|number| VoucherId::new((1 << 60) + number)).collect();
    let first = NewClaimGateway { name, sales, ..gateway(1) };
    let gateways = [first, gateway(2)];
    let mut expected = Vec::new();
    for new in gateways {
        let token = new.token;
        let gateway = added(add(&w, &new).await, new);
        let found = w.storage.selling.claim_gateways.of_token(token, NOON).await.unwrap();
        assert_eq!(found.as_ref(), Some(&gateway));
        expected.push(gateway);
    }
    assert!(expected[0].id < expected[1].id);
    assert_eq!(listed(&w).await, expected);
    let none = w.storage.selling.claim_gateways.of_token(TokenHash([3; 32]), NOON).await.unwrap();
    assert_eq!(none, None);
}

async fn a_token_is_void_at_its_end(w: &World) {
    let w = w.another().await;
    let new = gateway(1);
    let id = add(&w, &new).await;
    let gateways = &w.storage.selling.claim_gateways;
    let last = NOON + (HOUR - Duration::from_millis(1));
    assert_eq!(gateways.of_token(new.token, last).await.unwrap().map(|found| found.id), Some(id));
    assert_eq!(gateways.of_token(new.token, NOON + HOUR).await.unwrap(), None);
    assert_eq!(listed(&w).await.len(), 1, "listed all the same");
}

async fn a_removed_gateway_is_gone_at_once(w: &World) {
    let w = w.another().await;
    let new = gateway(1);
    let id = add(&w, &new).await;
    let gateways = &w.storage.selling.claim_gateways;
    assert!(gateways.remove(id).await.unwrap());
    assert_eq!(gateways.of_token(new.token, NOON).await.unwrap(), None);
    assert!(!gateways.remove(id).await.unwrap());
    assert!(listed(&w).await.is_empty());
    assert!(add(&w, &new).await > id, "no id is given again, and name and token are free");
}

async fn a_name_is_taken_once_and_the_number_is_limited(w: &World) {
    let w = w.another().await;
    let gateways = &w.storage.selling.claim_gateways;
    let id = add(&w, &gateway(1)).await;
    let same_name = NewClaimGateway { name: gateway(1).name, ..gateway(2) };
    assert_eq!(gateways.add(&same_name, 9, NOON).await.unwrap(), AddGatewayOutcome::NameTaken);
    assert_eq!(gateways.add(&gateway(2), 1, NOON).await.unwrap(), AddGatewayOutcome::TooMany);
    assert_eq!(listed(&w).await, [added(id, gateway(1))], "a refusal changes nothing");
    let later = NewClaimGateway { expires: NOON + 3 * HOUR, ..gateway(2) };
    let outcome = gateways.add(&later, 1, NOON + HOUR).await.unwrap();
    assert!(matches!(outcome, AddGatewayOutcome::Added(_)), "an expired gateway does not count: {outcome:?}");
}

async fn of_many_additions_of_a_name_one_succeeds(w: &World) {
    let w = w.another().await;
    let mut adding = JoinSet::new();
    for number in 1..=8 {
        let gateways = Arc::clone(&w.storage.selling.claim_gateways);
        let new = NewClaimGateway { name: "one".to_owned(), ..gateway(number) };
        adding.spawn(async move { gateways.add(&new, 100, NOON).await.unwrap() });
    }
    let outcomes = adding.join_all().await;
    let taken = outcomes.iter().filter(|outcome| **outcome == AddGatewayOutcome::NameTaken).count();
    assert_eq!((taken, listed(&w).await.len()), (7, 1), "{outcomes:?}");
}

async fn expired_gateways_are_pruned(w: &World) {
    let w = w.another().await;
    add(&w, &gateway(1)).await;
    let lasting = NewClaimGateway { expires: NOON + 2 * HOUR, ..gateway(2) };
    let kept = add(&w, &lasting).await;
    let gateways = &w.storage.selling.claim_gateways;
    assert_eq!(gateways.prune(NOON + HOUR).await.unwrap(), 0, "expired at this instant, not before");
    assert_eq!(gateways.prune(NOON + 2 * HOUR).await.unwrap(), 1);
    assert_eq!(listed(&w).await, [added(kept, lasting)]);
}

async fn gateways_outlive_a_reopening(w: &World) {
    let w = w.another().await;
    let new = gateway(1);
    let id = add(&w, &new).await;
    let w = w.reopen().await;
    let found = w.storage.selling.claim_gateways.of_token(new.token, NOON).await.unwrap();
    assert_eq!(found, Some(added(id, new)));
}
